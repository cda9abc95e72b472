import StrataLog

/// Finds what others' deletions have changed besides: objects that refer to what was deleted, and those that went with
/// it by the cascade rule.
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
        catchUp()
        let candidates = context.registry.all.filter { object in
            object.storeIndex != 0 && reached.contains(ObjectIdentifier(object.shape))
                && !object.flags.contains(.gone) && !object.flags.contains(.inserted) && !isDeleted(object)
        }
        if candidates.isEmpty { return [] }
        let refs = candidates.map(context.sharedRef)
        let cascaded = zip(candidates, context.areGone(refs)).filter(\.1).map(\.0)
        for object in cascaded {
            deleted.insert(ID(storeIndex: object.storeIndex, ref: object.ref))
            if !shapes.contains(where: { $0 === object.shape }) { shapes.append(object.shape) }
        }
        return cascaded
    }

    /// Another process may have deleted them.
    private func catchUp() {
        guard context.generation == nil else { return }
        for storeIndex in Set(deleted.map(\.storeIndex)) {
            // A store that cannot be read says so when an object is.
            try? context.registry.handle(storeIndex)?.catchUp()
        }
    }

    /// The entities, as the context knows them, that the cascade rule can lead to from a deleted object.
    private func reachedByCascade() -> Set<ObjectIdentifier> {
        guard let model = context.modelShapes else { return [] }
        var reached: Set<ObjectIdentifier> = []
        // IDs may come from a coordinator that has another model of the store.
        var rest = shapes.compactMap { model.byName[$0.name] }
        while let shape = rest.popLast() {
            for relationship in shape.relationships where relationship.deleteRule == .cascadeDeleteRule {
                rest += relationship.destination.family.filter { reached.insert(ObjectIdentifier($0)).inserted }
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
            if object.flags.contains(.gone) || object.isUnread && object.toMany.isEmpty { continue }
            let shape = object.shape
            let candidates = relationships[ObjectIdentifier(shape)] ?? self.relationships(of: shape)
            relationships[ObjectIdentifier(shape)] = candidates
            if candidates.contains(where: { refers(object, $0) }), !isDeleted(object), hasRow(object) {
                context.refresh(object, mergeChanges: true)
            }
        }
    }

    /// Whether a refreshed object would find its row. An error does not matter here: reading the object says what is
    /// wrong.
    private func hasRow(_ object: NSManagedObject) -> Bool {
        if let link = context.link {
            let shared = context.sharedRef(of: object)
            return (try? context.withParent(link) { try $0.rowForChild(shared) != nil }) ?? false
        }
        // A custom store's deletions come with what has changed by them.
        guard let handle = context.registry.handle(object.storeIndex), handle.custom == nil,
            let snapshot = context.snapshot(of: handle)
        else { return false }
        return (try? !snapshot.locate(object.ref).isAbsent) ?? false
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
        guard !object.isUnread, relationship.slot < object.shape.persistentSlotCount else { return false }
        // Of a reference that the context has changed, the row counts: it has been written anew.
        if let overlay = object.overlay, overlay.isPresent(relationship.slot), !overlay.isDirty(relationship.slot) {
            return !overlay.isNull(relationship.slot)
                && isDeleted(overlay.object(at: object.shape.slots[relationship.slot].offset))
        }
        return deleted.contains(ID(storeIndex: object.storeIndex, ref: object.storedReference(relationship.slot)))
    }
}

extension NSManagedObjectContext {
    /// Of each object, whether its row is known to have been deleted in its store. What a parent has inserted or
    /// deleted and not saved does not count; nor does what a custom store holds, which tells of all that changes.
    fileprivate final func areGone(_ refs: [SharedRef]) -> [Bool] {
        if let link { return (try? withParent(link) { $0.areGoneForChild(refs) }) ?? refs.map { _ in false } }
        return refs.map { shared in
            guard let handle = shared.handle, handle.custom == nil, let snapshot = snapshot(of: handle) else {
                return false
            }
            return (try? snapshot.locate(shared.ref).isAbsent) ?? false
        }
    }

    private final func areGoneForChild(_ refs: [SharedRef]) -> [Bool] {
        let isStated = refs.map { registeredObject($0)?.flags.contains(.gone) }
        return zip(isStated, areGone(refs)).map { $0 ?? $1 }
    }
}
