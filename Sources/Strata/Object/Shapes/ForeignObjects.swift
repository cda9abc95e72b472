import StrataSupport
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

    /// Stops a program that reads a relationship to such an object by an accessor that promises another class.
    @inline(__always)
    static func check<Target: NSManagedObject>(_ object: NSManagedObject, is type: Target.Type) {
        if exist { compare(object, type) }
    }

    /// The same for all members of a relationship.
    @inline(__always)
    static func check<Target: NSManagedObject>(_ objects: Set<NSManagedObject>, are type: Target.Type) {
        if exist { for object in objects { compare(object, type) } }
    }

    @inline(never)
    private static func compare<Target: NSManagedObject>(_ object: NSManagedObject, _ type: Target.Type) {
        guard !(object is Target) else { return }
        programmerError(
            object.shape.name, "an object of the entity was made as \(Swift.type(of: object)) and is read as \(type)",
            "Make it with \(type)(context:) or NSEntityDescription.insertNewObject(forEntityName:into:)")
    }
}
