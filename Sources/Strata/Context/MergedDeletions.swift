import StrataLog

/// Finds what others' deletions have changed besides: objects that refer to what was deleted, and those that went with it
/// by the cascade rule.
///
/// The notification of a save names them, since the delete rules have changed them. The IDs that a program takes from
/// the result of a batch request do not.
struct MergedDeletions {
    private let context: NSManagedObjectContext
    private var deleted: Set<ID> = []
    private var shapes: [EntityShape] = []

    private struct ID: Hashable {
        var storeIndex: UInt16
        var ref: ObjectRef
    }

    init(_ ids: [NSManagedObjectID], in context: NSManagedObjectContext) {
        self.context = context
        for id in ids {
            guard let identity = id.identity, let storeIndex = context.storeIndex(of: identity) else { continue }
            deleted.insert(ID(storeIndex: storeIndex, ref: id.ref))
            if !shapes.contains(where: { $0 === id.shape }) { shapes.append(id.shape) }
        }
    }

    /// The objects in memory that went with the deleted ones by the cascade rule: those that it can have reached and
    /// that have no row any more. They count as deleted from now on.
    ///
    /// - Complexity: O(registered objects), and a row is looked up for those that the rule can have reached.
    mutating func takeCascaded() -> [NSManagedObject] {
        let reached = reachedByCascade()
        if reached.isEmpty { return [] }
        var cascaded: [NSManagedObject] = []
        for object in context.registry.all where object.storeIndex != 0 && reached[object.shape.index] {
            if object.isMarkedDeleted || object.flags.contains(.gone) || isDeleted(object) || isStored(object) != false
            {
                continue
            }
            cascaded.append(object)
        }
        for object in cascaded {
            deleted.insert(ID(storeIndex: object.storeIndex, ref: object.ref))
            if !shapes.contains(where: { $0 === object.shape }) { shapes.append(object.shape) }
        }
        return cascaded
    }

    /// By the index of an entity, whether the cascade rule leads from a deleted object to objects of it; empty if it
    /// leads nowhere.
    private func reachedByCascade() -> [Bool] {
        guard let model = shapes.first?.model else { return [] }
        var reached: [Bool] = []
        var rest = shapes
        while let shape = rest.popLast() {
            for relationship in shape.relationships where relationship.deleteRule == .cascadeDeleteRule {
                if reached.isEmpty { reached = Array(repeating: false, count: model.shapes.count) }
                for target in relationship.destination.family where !reached[target.index] {
                    reached[target.index] = true
                    rest.append(target)
                }
            }
        }
        return reached
    }

    /// Refreshes the objects in memory that refer to the deleted ones, so that they read what the store has now. What
    /// the context has changed itself stays.
    ///
    /// - Complexity: O(registered objects, and members of their relationships that are in memory), if something was
    ///   deleted.
    func refreshReferrers() {
        if deleted.isEmpty { return }
        /// The relationships of each shape that may lead to a deleted object.
        var relationships: [ObjectIdentifier: [RelationshipShape]] = [:]
        for object in context.registry.all where object.storeIndex != 0 && !object.isMarkedDeleted {
            if object.flags.contains(.gone) || object.isFault && object.toMany.isEmpty { continue }
            let shape = object.shape
            let candidates = relationships[ObjectIdentifier(shape)] ?? self.relationships(of: shape)
            relationships[ObjectIdentifier(shape)] = candidates
            if candidates.contains(where: { refers(object, $0) }), !isDeleted(object), isStored(object) == true {
                context.refresh(object, mergeChanges: true)
            }
        }
    }

    /// Whether an object has a row; nil if that cannot be told. An error does not matter here: reading the object says
    /// what is wrong.
    private func isStored(_ object: NSManagedObject) -> Bool? {
        if let link = context.link {
            let shared = context.sharedRef(of: object)
            let isFound = try? context.withParent(link) { try $0.rowForChild(shared) != nil }
            return isFound == false && shared.handle?.custom != nil ? nil : isFound
        }
        // A custom store's deletions come with what has changed by them.
        guard let handle = context.registry.handle(object.storeIndex), handle.custom == nil,
            let snapshot = context.snapshot(of: handle)
        else { return nil }
        return try? !snapshot.locate(object.ref).isAbsent
    }

    private func relationships(of shape: EntityShape) -> [RelationshipShape] {
        shape.relationships.filter { relationship in
            shapes.contains { $0.isKind(of: relationship.destination) }
        }
    }

    private func isDeleted(_ object: NSManagedObject) -> Bool {
        deleted.contains(ID(storeIndex: object.storeIndex, ref: object.ref))
    }

    private func refers(_ object: NSManagedObject, _ relationship: RelationshipShape) -> Bool {
        if relationship.isToMany {
            guard let state = object.existingState(relationship), state.isLoaded else { return false }
            return state.members.contains { isDeleted($0) && !state.added.contains($0) }
        }
        guard !object.isFault, relationship.slot < object.shape.persistentSlotCount else { return false }
        // Of a reference that the context has changed, the row counts: it has been written anew.
        if let overlay = object.overlay, overlay.isPresent(relationship.slot), !overlay.isDirty(relationship.slot) {
            return !overlay.isNull(relationship.slot)
                && isDeleted(overlay.object(at: object.shape.slots[relationship.slot].offset))
        }
        return deleted.contains(ID(storeIndex: object.storeIndex, ref: object.storedReference(relationship.slot)))
    }
}
