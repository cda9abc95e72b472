import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// Deletes the objects that a relationship with the cascade rule leads to. Their faults are fired in one go.
    final func delete(cascading objects: [NSManagedObject]) {
        let objects = ContiguousArray(objects)
        realize(objects)
        objects.forEachUnretained { deleteObject($0) }
    }

    /// Fires the faults among the objects. The rows of those that are deleted together mostly lie beside each other.
    private func realize(_ objects: ContiguousArray<NSManagedObject>) {
        var storeIndex: UInt16 = 0
        var handle: StoreHandle?
        var snapshot: Snapshot?
        var block: Block?
        objects.forEachUnretained { object in
            guard object.isUnread else { return }
            if handle == nil || object.storeIndex != storeIndex {
                storeIndex = object.storeIndex
                handle = link == nil ? registry.handle(storeIndex) : nil
                snapshot = handle.flatMap { self.snapshot(of: $0) }
                block = nil
            }
            guard !checksQueue, let handle, let snapshot, handle.custom == nil, !handle.isDetached,
                let location = try? snapshot.locate(object.ref), !location.isAbsent
            else { return fulfill(object, in: snapshot) }
            if block?.location != location.block { block = try? faults.block(at: location, of: handle, in: snapshot) }
            guard let block else { return fulfill(object, in: snapshot) }
            faults.countFired()
            object.attach(taking: .passRetained(block), location)
            if object.overrides.contains(.awakeFromFetch) { awake(object) }
        }
    }

    /// The members of a to-many relationship that nobody has looked at, without remembering them: the owner goes, too.
    /// Nil if that is not the case, or the store cannot be read.
    ///
    /// - Complexity: O(n).
    final func membersToDelete(_ relationship: RelationshipShape, of owner: NSManagedObject) -> [NSManagedObject]? {
        guard relationship.isToMany, !relationship.isOrdered, link == nil,
            let handle = registry.handle(owner.storeIndex), !handle.isDetached, handle.custom?.keepsAllRows ?? true,
            let snapshot = snapshot(of: handle)
        else { return nil }
        let state = owner.existingState(relationship)
        if state?.isLoaded == true { return nil }
        let reader = RelationshipReader(handle: handle, snapshot: snapshot)
        guard let members = try? reader.members(relationship, of: owner.ref) else { return nil }
        let stored = objects(members.map(\.ref), owner.storeIndex, handle)
        guard let state, state.isChanged else { return stored }
        return stored.filter { !state.removed.contains($0) && !state.added.contains($0) } + state.added.objects
    }
}
