import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// Deletes the objects that a relationship with the cascade rule leads to. Their faults are fired in one go.
    final func delete(cascading objects: [NSManagedObject]) {
        var snapshot: Snapshot?
        var storeIndex: UInt16 = 0
        for object in objects where object.isFault {
            if snapshot == nil || object.storeIndex != storeIndex {
                storeIndex = object.storeIndex
                snapshot = link == nil ? registry.handle(storeIndex).flatMap { self.snapshot(of: $0) } : nil
            }
            fulfill(object, in: snapshot)
        }
        for object in objects { deleteObject(object) }
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

    /// Which objects have been reported by notifications no longer counts.
    final func forgetReports() {
        reportedInserts = nil
        reportedInsertOrder = nil
        insertReports = 0
        reportedDeletes = nil
        deleteReports = 0
    }
}
