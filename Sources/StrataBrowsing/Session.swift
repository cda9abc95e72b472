import Foundation
import Strata

/// A store that is open for reading with the model that it carries.
package final class Session: Sendable {
    package let coordinator: NSPersistentStoreCoordinator
    package let context: NSManagedObjectContext
    package var model: NSManagedObjectModel { coordinator.managedObjectModel }

    package init(_ url: URL, _ point: Point?) throws {
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
        context = Self.makeContext(coordinator)
    }

    /// The store that another session has open, as it was after a transaction, by the model of then.
    package init(_ newest: Session, atTransaction number: Int64) throws {
        // What another process has written since counts, too.
        _ = newest.newestTransaction()
        let generation = try newest.coordinator.queryGeneration(atTransaction: number)
        coordinator = try newest.coordinator.past(generation, preparing: Self.simplify)
        context = Self.makeContext(coordinator)
    }

    private static func makeContext(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        return context
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
    package func entity(_ name: String) throws -> NSEntityDescription { try model.entity(named: name) }
}

extension Session {
    /// The number of the newest transaction; 0 if there is none.
    package func newestTransaction() -> Int64 {
        let store = coordinator.persistentStores[0]
        return coordinator.currentPersistentHistoryToken(fromStores: nil)?.transactionNumber(of: store) ?? 0
    }

    /// The number of the last transaction that a context shows; nil while it has read nothing.
    package func transaction(of context: NSManagedObjectContext) -> Int64? {
        context.queryGenerationToken?.transactionNumber(of: coordinator.persistentStores[0])
    }

    /// The number of the last transaction up to which none was committed after a time.
    ///
    /// - Throws: `CocoaError` 134070 when the store does not retain its history from there on; its error when it cannot
    ///   be read.
    package func transaction(at date: Date) throws -> Int64 {
        // What another process has written since counts, too.
        let newest = newestTransaction()
        return try coordinator.queryGeneration(at: date).transactionNumber(of: coordinator.persistentStores[0])
            ?? newest
    }

    /// The token after a transaction of the store.
    package func token(_ number: Int64) throws -> NSPersistentHistoryToken {
        let newest = coordinator.currentPersistentHistoryToken(fromStores: nil)
        guard let token = newest?.at(transaction: number, of: coordinator.persistentStores[0]) else {
            throw CommandError("there is no transaction \(number) yet; the newest is \(newestTransaction())")
        }
        return token
    }
}
