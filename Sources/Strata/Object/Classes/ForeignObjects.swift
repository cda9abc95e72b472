import StrataRuntime
import StrataSupport
import Synchronization

/// Whether any object is of another class than its entity's, as one that `NSManagedObject(entity:insertInto:)` made for
/// an entity with a class is. Typed results are checked one by one from then on, instead of taken at their word.
enum ForeignObjects {
    private static let haveBeenInserted = Atomic(false)

    static var exist: Bool { haveBeenInserted.load(ordering: .relaxed) }

    /// Looks at an object that is inserted. Whoever fetches it has it from the same context, or from a child's parent.
    static func record(_ object: NSManagedObject) {
        guard ObjectIdentifier(type(of: object)) != object.summary.pointee.objectClass else { return }
        haveBeenInserted.store(true, ordering: .relaxed)
    }

    /// Stops a program that reads a relationship to such an object by an accessor that promises another class.
    ///
    /// - Parameter isNarrow: whether objects of the entity are not all of that class in any case.
    @inline(__always)
    static func check<Target: NSManagedObject>(_ object: NSManagedObject, is type: Target.Type, isNarrow: Bool) {
        if isNarrow || exist { compare(object, type) }
    }

    /// The same for all members of a relationship.
    @inline(__always)
    static func check<Target: NSManagedObject>(_ objects: Set<NSManagedObject>, are type: Target.Type, isNarrow: Bool) {
        if isNarrow || exist { for object in objects { compare(object, type) } }
    }

    /// The same for the members of an ordered relationship.
    @inline(__always)
    static func checked<Target: NSManagedObject>(
        _ objects: [NSManagedObject], are type: Target.Type, isNarrow: Bool
    ) -> [Target] {
        if isNarrow || exist { for object in objects { compare(object, type) } }
        // SAFETY: every object is of the class Target or of a subclass; arrays of class references have one layout.
        return CollectionLayout.cast(objects, to: [Target].self)
    }

    @inline(never)
    private static func compare<Target: NSManagedObject>(_ object: NSManagedObject, _ type: Target.Type) {
        if ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(type) || object is Target { return }
        programmerError(
            object.shape.name, "an object of the entity was made as \(Swift.type(of: object)) and is read as \(type)",
            "Let the accessor declare a class that all objects of the relationship have, and make objects with"
                + " init(context:) or NSEntityDescription.insertNewObject(forEntityName:into:)")
    }
}
