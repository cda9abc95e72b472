import Foundation

/// Lets `init(context:)` and `init(entity:insertInto:)` be called for a class that is not known before the program runs,
/// as in `T(context: context)` with a generic `T`. Only `NSManagedObject` is meant to conform.
///
/// Swift allows that for required initialisers of a class and for those of a protocol's extension. Were they required,
/// subclasses that declare or override them would have to write `required` as well. So subclasses inherit the two of this
/// protocol, whose names nobody declares, and the extension has those that are called. Where the class is known, the
/// class's own initialiser is meant, if it has one.
public protocol ManagedObjectFactory {
    /// Not API: makes an object by the class's `init(entity:insertInto:)`.
    init(_made entity: NSEntityDescription, insertInto context: NSManagedObjectContext?)
    /// Not API: makes an object of the entity that the class stands for.
    init(_madeIn context: NSManagedObjectContext)
}

extension NSManagedObject: ManagedObjectFactory {}

extension ManagedObjectFactory {
    /// Creates an object of the entity that the class stands for in the context's model, and inserts it.
    ///
    /// Thread rule: on the context's queue.
    /// - Precondition: exactly one entity of the model has this class.
    public init(context: NSManagedObjectContext) {
        self.init(_madeIn: context)
    }

    /// Creates an object of an entity and inserts it into a context, if one is given.
    ///
    /// Thread rule: on the context's queue.
    /// - Precondition: the entity is in a model and not abstract.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        self.init(_made: entity, insertInto: context)
    }
}
