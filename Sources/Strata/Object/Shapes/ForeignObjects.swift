import Synchronization

/// Whether any object is of another class than its entity's, as one that `NSManagedObject(entity:insertInto:)` made for
/// an entity with a class is. Typed results are checked one by one from then on, instead of taken at their word.
enum ForeignObjects {
    private static let haveBeenInserted = Atomic(false)

    static var exist: Bool { haveBeenInserted.load(ordering: .relaxed) }

    /// Looks at an object that is inserted. Whoever fetches it has it from the same context, or from a child's parent.
    static func note(_ object: NSManagedObject) {
        guard ObjectIdentifier(type(of: object)) != object.summary.pointee.objectClass else { return }
        haveBeenInserted.store(true, ordering: .relaxed)
    }
}
