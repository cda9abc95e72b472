import CoreData
import Foundation
import Synchronization
import Testing

@Suite struct ContainerTests {
    private func temporaryURL() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("strata-container-\(UUID().uuidString)")
    }

    @Test func descriptionsHaveCoreDatasDefaults() {
        let description = NSPersistentStoreDescription()
        #expect(description.type == NSSQLiteStoreType && description.url == URL(fileURLWithPath: "/dev/null"))
        #expect(description.configuration == nil && !description.isReadOnly && description.timeout == 240)
        #expect(!description.shouldAddStoreAsynchronously && description.shouldMigrateStoreAutomatically)
        #expect(description.shouldInferMappingModelAutomatically && description.sqlitePragmas.isEmpty)
        #expect(description.options[NSMigratePersistentStoresAutomaticallyOption] == NSNumber(value: true))
        #expect(description.options[NSInferMappingModelAutomaticallyOption] == NSNumber(value: true))
        #expect(description.options.count == 2)
    }

    @Test func propertiesOfDescriptionsAreOptions() throws {
        let description = NSPersistentStoreDescription(url: temporaryURL())
        description.isReadOnly = true
        description.timeout = 3
        description.shouldMigrateStoreAutomatically = false
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setValue("WAL" as NSString, forPragmaNamed: "journal_mode")
        #expect(description.options[NSReadOnlyPersistentStoreOption] == NSNumber(value: true))
        #expect(description.options[NSPersistentStoreTimeoutOption] == NSNumber(value: 3))
        #expect(description.options[NSMigratePersistentStoresAutomaticallyOption] == NSNumber(value: false))
        #expect(description.sqlitePragmas["journal_mode"] == "WAL" as NSString)
        #expect(description.options[NSSQLitePragmasOption] != nil)
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy == description && copy.isReadOnly && copy.timeout == 3)
        copy.setOption(nil, forKey: NSReadOnlyPersistentStoreOption)
        #expect(!copy.isReadOnly && copy != description)
        description.setValue(nil, forPragmaNamed: "journal_mode")
        #expect(description.options[NSSQLitePragmasOption] == nil)
    }

    @Test func severalStoresAreLoaded() throws {
        let directory = temporaryURL()
        defer { try? FileManager.default.removeItem(at: directory) }
        let container = NSPersistentContainer(name: "Company", managedObjectModel: GraphModel.company())
        #expect(container.persistentStoreDescriptions.count == 1)
        #expect(
            container.persistentStoreDescriptions[0].url
                == NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Company.sqlite"))
        let bad = NSPersistentStoreDescription(url: directory.appendingPathComponent("bad"))
        bad.type = "Nonsense"
        let memory = NSPersistentStoreDescription()
        memory.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: directory.appendingPathComponent("deep/store")), bad, memory,
        ]
        var outcomes: [String: Int] = [:]
        container.loadPersistentStores { description, error in
            outcomes[description.type] = (error as NSError?)?.code ?? 0
        }
        #expect(
            outcomes == [NSSQLiteStoreType: 0, "Nonsense": NSPersistentStoreInvalidTypeError, NSInMemoryStoreType: 0])
        #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
    }

    @Test func storesAreAddedAsynchronouslyIfAsked() async throws {
        let container = NSPersistentContainer(name: "Company", managedObjectModel: GraphModel.company())
        let description = NSPersistentStoreDescription()
        description.shouldAddStoreAsynchronously = true
        container.persistentStoreDescriptions = [description]
        let isMain = await withCheckedContinuation { continuation in
            container.loadPersistentStores { _, error in
                #expect(error == nil)
                continuation.resume(returning: Thread.isMainThread)
            }
        }
        #expect(!isMain && container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func backgroundTasksInBothForms() async throws {
        let container = NSPersistentContainer(name: "Company", managedObjectModel: GraphModel.company())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription()]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        await withCheckedContinuation { continuation in
            container.performBackgroundTask { context in
                #expect(context.concurrencyType == .privateQueueConcurrencyType)
                Employee(context: context).name = "Ada"
                try? context.save()
                continuation.resume()
            }
        }
        let names = try await container.performBackgroundTask { context in
            try context.fetch(NSFetchRequest<Employee>(entityName: "Employee")).map(\.name)
        }
        #expect(names == ["Ada"])
        await #expect(throws: CocoaError.self) {
            try await container.performBackgroundTask { _ in throw CocoaError(.coderInvalidValue) }
        }
        #expect(container.newBackgroundContext() !== container.newBackgroundContext())
    }

    @Test func theDefaultDirectoryInBothSpellings() {
        let url: URL = NSPersistentContainer.defaultDirectoryURL
        #expect(url == NSPersistentContainer.defaultDirectoryURL())
    }
}
