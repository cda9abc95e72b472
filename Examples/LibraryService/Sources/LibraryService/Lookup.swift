import CoreData
import StrataService

/// Finds objects by the texts that clients have of them.
enum Lookup {
    /// The object of a URL.
    ///
    /// - Throws: a ``Problem`` with 404.
    static func object<Object: Record>(_ text: String, _ context: NSManagedObjectContext) throws -> Object {
        guard let id = id(text, context),
            // Of another entity, or deleted.
            let object = try? context.existingObject(with: id) as? Object
        else { throw Problem(.notFound, "there is no \(Object.entityName) \(text)") }
        return object
    }

    /// The object that another refers to.
    ///
    /// - Throws: a ``Problem`` with 400, which names the property.
    static func related<Object: Record>(
        _ text: String, _ context: NSManagedObjectContext?, _ property: String
    ) throws -> Object {
        guard let context, let object: Object = try? object(text, context) else {
            throw Problem(.badRequest, "there is no \(Object.entityName) \(text)", property: property)
        }
        return object
    }

    static func id(_ text: String, _ context: NSManagedObjectContext) -> NSManagedObjectID? {
        context.persistentStoreCoordinator.flatMap { StrataObjectReference(text)?.objectID(in: $0) }
    }
}
