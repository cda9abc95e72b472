import Foundation

extension NSEntityDescription {
    /// The entity of this name in a context's model; nil if there is none.
    ///
    /// - Precondition: the context has a coordinator.
    public class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        guard let coordinator = context.persistentStoreCoordinator else {
            preconditionFailure(
                "+entityForEntityName: nil is not a legal NSPersistentStoreCoordinator for searching for entity name "
                    + "'\(entityName)'")
        }
        return coordinator.managedObjectModel.entitiesByName[entityName]
    }

    /// Creates an object of the entity's class and inserts it.
    ///
    /// - Precondition: the context's model has an entity of this name, which is not abstract.
    public class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            preconditionFailure(
                "+entityForEntityName: could not locate an entity named '\(entityName)' in this model.")
        }
        return EntityShape.of(entity).objectClass.init(entity: entity, insertInto: context)
    }
}
