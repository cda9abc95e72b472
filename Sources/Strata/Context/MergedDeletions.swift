import StrataLog

/// Brings objects up to date that refer to what others have deleted.
///
/// The notification of a save names them as updated, since the delete rules have changed them. The IDs that a program
/// takes from the result of a batch request do not.
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

    /// Refreshes the objects in memory that refer to the deleted ones, so that they read what the store has now. What
    /// the context has changed itself stays, and so does what has no row any more: a batch delete does not name what
    /// went with it by a cascade.
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
        guard !object.isFault, relationship.slot < object.shape.persistentSlotCount else { return false }
        // Of a reference that the context has changed, the row counts: it has been written anew.
        if let overlay = object.overlay, overlay.isPresent(relationship.slot), !overlay.isDirty(relationship.slot) {
            return !overlay.isNull(relationship.slot)
                && isDeleted(overlay.object(at: object.shape.slots[relationship.slot].offset))
        }
        return deleted.contains(ID(storeIndex: object.storeIndex, ref: object.storedReference(relationship.slot)))
    }
}
