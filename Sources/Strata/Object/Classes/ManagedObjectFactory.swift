import Foundation
import StrataSupport

/// Lets `init(context:)` and `init(entity:insertInto:)` be called for a class that is not known before the program
/// runs, as in `T(context: context)` with a generic `T`. Only `NSManagedObject` is meant to conform.
///
/// Swift allows that for required initialisers of a class and for those of a protocol's extension. Were they required,
/// subclasses that declare or override them would have to write `required` as well. Where the class is known, the
/// class's own initialiser is meant, if it has one. `DynamicInitialization` says how these find the class that they are
/// called for.
public protocol ManagedObjectFactory {}

extension NSManagedObject: ManagedObjectFactory {}

extension NSManagedObject {
    /// Makes an object of the entity that this class stands for in the context's model.
    static func made(in context: NSManagedObjectContext) -> Self {
        guard let entity = context.entity(ofClass: self) else {
            programmerError(
                "\(self)", "no entity, or more than one, of the context's model has the class",
                "Name the class in one entity of the model, or use init(entity:insertInto:)")
        }
        // What the context names lives as long as the process.
        return made(entity.takeUnretainedValue(), insertInto: context)
    }
}
