internal import StrataRuntime
internal import StrataSupport

/// An ID as the member of a set in which no object has two: equal and hashed as the ID is, but quicker; see
/// ``ObjectMember``.
package struct IDMember: Hashable {
    package let id: NSManagedObjectID

    @inline(__always)
    package init(_ id: NSManagedObjectID) { self.id = id }

    @inline(__always)
    package static func == (left: IDMember, right: IDMember) -> Bool { left.id === right.id }

    @inline(__always)
    package func hash(into hasher: inout Hasher) { hasher.combine(id.refHash) }
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
