import Foundation

/// Lets `init(context:)` be called for a class that is not known before the program runs, as in `T(context: context)`
/// with a generic `T`. Only `NSManagedObject` is meant to conform.
///
/// Swift allows that for required initialisers of a class and for those of a protocol's extension. A required one would
/// oblige subclasses that have an `init(context:)` of their own to write `required` as well.
public protocol ManagedObjectFactory {}

extension NSManagedObject: ManagedObjectFactory {}

extension ManagedObjectFactory {
    /// Creates an object of the entity that the class stands for in the context's model, and inserts it.
    ///
    /// Thread rule: on the context's queue.
    /// - Precondition: exactly one entity of the model has this class.
    public init(context: NSManagedObjectContext) {
        // SAFETY: NSManagedObject and its subclasses are all that conforms, so Self is a class of managed objects, and
        // what is made has exactly that class.
        let type = unsafeBitCast(Self.self, to: NSManagedObject.Type.self)
        guard let entity = context.entity(ofClass: type) else {
            preconditionFailure("no entity, or more than one, of the context's model has the class \(type)")
        }
        // SAFETY: what the context names lives as long as the process.
        let object = entity._withUnsafeGuaranteedRef { type.init(entity: $0, insertInto: context) }
        self = unsafeBitCast(object, to: Self.self)
    }
}
