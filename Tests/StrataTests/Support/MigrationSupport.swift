import CoreData
import Foundation
import Testing

/// A store in a directory of its own, opened with one model after the other.
final class MigratedStore {
    let directory: URL
    let type: String
    let configuration: String?
    var url: URL { directory.appendingPathComponent("store") }

    init(_ type: String = NSSQLiteStoreType, configuration: String? = nil) throws {
        self.type = type
        self.configuration = configuration
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("migration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    static var automatic: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    /// Opens the store with a model, hands a context out, and closes the store.
    @discardableResult
    func with<R>(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = MigratedStore.automatic,
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: configuration, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let result = context.performAndWait { Result { try body(context) } }
        context.performAndWait { context.reset() }
        try coordinator.remove(store)
        return try result.get()
    }

    /// The code that opening fails with, and what the error says.
    func failure(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = MigratedStore.automatic
    ) -> (code: Int, text: String)? {
        do {
            try with(model, options) { _ in }
            return nil
        } catch {
            let error = error as NSError
            return (error.code, "\(error.userInfo[NSLocalizedDescriptionKey] ?? "")")
        }
    }
}

extension NSManagedObjectContext {
    func insert(_ entity: String, _ values: [String: Any?]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func all(_ entity: String, _ format: String? = nil, sortedBy key: String? = nil) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let format { request.predicate = NSPredicate(format: format) }
        if let key { request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)] }
        return try fetch(request)
    }
}

extension NSManagedObject {
    func uri() -> String { objectID.uriRepresentation().absoluteString }
    func targets(_ key: String) -> Set<String> {
        let members = value(forKey: key)
        if let ordered = members as? NSOrderedSet {
            return Set(ordered.array.compactMap { ($0 as? NSManagedObject)?.uri() })
        }
        return Set((members as? Set<NSManagedObject> ?? []).map { $0.uri() })
    }
}

/// A model of entities without a class.
func makeModel(_ entities: [NSEntityDescription]) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
}

extension NSPropertyDescription {
    /// The same property under another name.
    func renamed(from name: String) -> Self {
        renamingIdentifier = name
        return self
    }
}
