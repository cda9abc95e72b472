import StrataRuntime
import StrataSupport

/// An ID as the member of a set in which no object has two: equal and hashed as the ID is, but quicker; see
/// ``ObjectMember``.
@frozen
@usableFromInline
package struct IDMember: Hashable {
    @usableFromInline package let id: NSManagedObjectID

    @inlinable @inline(__always)
    package init(_ id: NSManagedObjectID) { self.id = id }

    @inlinable @inline(__always)
    package static func == (left: IDMember, right: IDMember) -> Bool { left.id === right.id }

    @inlinable @inline(__always)
    package func hash(into hasher: inout Hasher) { hasher.combine(id.refHash) }

    /// The same in one step, as for a number.
    @inlinable @inline(__always)
    package func _rawHashValue(seed: Int) -> Int { id.refHash._rawHashValue(seed: seed) }
}

extension Set where Element == IDMember {
    /// The same set as one of IDs.
    ///
    /// - Precondition: no two IDs name the same object.
    package consuming func asIDs() -> Set<NSManagedObjectID> {
        // As for sets of ``ObjectMember``.
        CollectionLayout.cast(self, to: Set<NSManagedObjectID>.self)
    }
}
