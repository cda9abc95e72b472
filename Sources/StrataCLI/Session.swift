import ArgumentParser
import Foundation
import Strata
import StrataIO
import StrataLog
import SystemPackage

/// The store that a command is about.
struct StoreArgument: ParsableArguments {
    @Argument(help: "The store's directory.", completion: .directory)
    var store: String

    var url: URL { URL(fileURLWithPath: store, isDirectory: true).resolvingSymlinksInPath() }

    /// The engine's view of the store.
    func openLog() throws -> LogStore {
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        return try LogStore.open(FilePath(url.path), in: PosixFileSystem(), options: options, schema: nil)
    }

    func session(at point: Point? = nil) throws -> Session { try Session(url, point) }
}

/// A store that is open for reading with the model that it carries.
final class Session {
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    var model: NSManagedObjectModel { coordinator.managedObjectModel }

    init(_ url: URL, _ point: Point?) throws {
        let model = try NSManagedObjectModel(storedAt: url)
        Self.simplify(model)
        let newest = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try newest.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true])
        if let point {
            // By the model of then.
            coordinator = try newest.past(point.generation(newest), preparing: Self.simplify)
            try newest.remove(store)
        } else {
            coordinator = newest
        }
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

    /// The program's classes and transformers are not here.
    private static func simplify(_ model: NSManagedObjectModel) {
        for entity in model.entities {
            entity.managedObjectClassName = "NSManagedObject"
            for case let attribute as NSAttributeDescription in entity.properties
            where attribute.attributeType == .transformableAttributeType {
                attribute.valueTransformerName = nil
            }
        }
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }

    /// The entity of a name, which may be written with other capitals.
    func entity(_ name: String) throws -> NSEntityDescription { try model.entity(named: name) }
}
