import Foundation
import StrataSupport

extension NSEntityDescription {
    /// The entity of this name in the model that a context works with; nil if there is none.
    ///
    /// - Precondition: the context has a coordinator.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        guard let shapes = context.modelShapes else {
            programmerError(
                "NSEntityDescription.entity(forEntityName: \"\(entityName)\", in:)",
                "+entityForEntityName: nil is not a legal NSPersistentStoreCoordinator for searching for entity"
                    + " name '\(entityName)'; the context has none",
                "Give the context a coordinator or a parent first")
        }
        return shapes.shape(named: entityName)?.entity
    }

    /// Creates an object of the entity's class and inserts it.
    ///
    /// - Precondition: the context has a coordinator, whose model has an entity of this name that is not abstract.
    @discardableResult
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            programmerError(
                "NSEntityDescription.insertNewObject(forEntityName:into:)",
                "could not locate an entity named '\(entityName)' in this"
                    + " model\(Suggestion.text(for: entityName, among: context.modelShapes?.byName.keys))",
                "Name an entity of the model")
        }
        return EntityShape.of(entity).objectClass.made(entity, insertInto: context)
    }
}
