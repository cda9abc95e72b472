import Foundation
import StrataLog
import StrataRuntime

extension NSManagedObjectContext {
    /// Reads the members of a plain to-many relationship: one without order that is kept by its inverse, that has no
    /// changes, and whose store is a log. False for another one, and when it cannot be read.
    ///
    /// The set is what everybody reads the members from, so the batch of their faults has them in its order.
    final func loadSet(_ state: ToManyState, _ relationship: RelationshipShape, of owner: NSManagedObject) -> Bool {
        guard link == nil, !relationship.isOrdered, case .inverse(let slot) = relationship.storage, !state.isChanged,
            let handle = registry.handle(owner.storeIndex), !handle.isDetached, handle.custom == nil, !isRetaining,
            let snapshot = snapshot(of: handle),
            let refs = try? snapshot.referrers(
                postings: handle.map.postings(relationship.destination, slot), to: owner.ref)
        else { return false }
        state.order = []
        state.members = refs.isEmpty ? [] : members(refs, owner.storeIndex, handle)
        return true
    }

    private func members(
        _ refs: [ObjectRef], _ storeIndex: UInt16, _ handle: StoreHandle
    ) -> Set<NSManagedObject> {
        let places = UnsafeMutablePointer<Unmanaged<NSManagedObject>?>.allocate(capacity: refs.count)
        defer { places.deallocate() }
        let count = refs.withUnsafeBufferPointer { registry.fill(places, $0, storeIndex, handle) }
        var isPlain = true
        for index in 0..<count {
            places[index]?.withBorrowed { if $0.overrides.contains(.equality) { isPlain = false } }
        }
        guard isPlain else {
            var members = Set<NSManagedObject>(minimumCapacity: count)
            for index in 0..<count {
                if let object = places[index]?.takeRetainedValue() { members.insert(object) }
            }
            faults.expect(members: refs, storeIndex)
            return members
        }
        var members = Set<ObjectMember>(minimumCapacity: count)
        for index in 0..<count {
            // The set takes the reference over.
            if let object = places[index]?.takeRetainedValue() { members.update(with: ObjectMember(object)) }
        }
        var ordered: [ObjectRef] = []
        ordered.reserveCapacity(count)
        // SAFETY: only looked through, as a set of the pointers that lie there: each member's reference would be
        // counted.
        for member in CollectionLayout.cast(members, to: Set<Unretained>.self) {
            member.object.withBorrowed { object in
                // Where the batch finds it.
                if object.isUnread { object.row = UInt32(truncatingIfNeeded: ordered.count) }
                ordered.append(object.ref)
            }
        }
        faults.expect(members: ordered, storeIndex)
        return members.asObjects()
    }
}

/// A member as it lies in the memory of a set.
private struct Unretained: Hashable {
    let object: Unmanaged<NSManagedObject>

    static func == (left: Unretained, right: Unretained) -> Bool { left.object.toOpaque() == right.object.toOpaque() }

    func hash(into hasher: inout Hasher) { hasher.combine(object.toOpaque()) }
}
