import StrataRuntime
import StrataSupport

/// An ID as the member of a set in which no object has two: equal and hashed as the ID is, but quicker; see
/// ``ObjectMember``.
struct IDMember: Hashable {
    let id: NSManagedObjectID

    @inline(__always)
    init(_ id: NSManagedObjectID) { self.id = id }

    @inline(__always)
    static func == (left: IDMember, right: IDMember) -> Bool { left.id === right.id }

    @inline(__always)
    func hash(into hasher: inout Hasher) { hasher.combine(id.refHash) }
}

extension Set where Element == IDMember {
    /// The same set as one of IDs.
    ///
    /// - Precondition: no two IDs name the same object.
    consuming func asIDs() -> Set<NSManagedObjectID> {
        // As for sets of ``ObjectMember``.
        CollectionLayout.cast(self, to: Set<NSManagedObjectID>.self)
    }
}
