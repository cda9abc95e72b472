import CoreData
import Foundation
import Testing

/// What Core Data's reference says of coordinators, containers and store descriptions, where no other suite says it.
@Suite final class StoreReferenceTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "strata-reference-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false) }
    deinit { try? FileManager.default.removeItem(at: directory) }

    private func url(_ name: String) -> URL { directory.appendingPathComponent(name) }

    /// "Setting the metadata for a store does not change the information on disk until the store is actually saved."
    @Test(arguments: [NSPersistentStore.StoreType.sqlite, .binary, .xml])
    func metadataIsWrittenWithTheNextSave(type: NSPersistentStore.StoreType) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Probe.model())
        let store = try coordinator.addPersistentStore(type: type, at: url("store"))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.check { () throws in
            _ = Probe(context: context)
            try context.save()
        }
        var metadata = coordinator.metadata(for: store)
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier)
        #expect(metadata[NSStoreTypeKey] as? String == store.type)
        metadata["mine"] = "new"
        coordinator.setMetadata(metadata, for: store)
        #expect(coordinator.metadata(for: store)["mine"] as? String == "new")
        func onDisk() throws -> Any? {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url("store"))["mine"]
        }
        #expect(try onDisk() == nil)
        try context.check { () throws in
            _ = Probe(context: context)
            try context.save()
        }
        #expect(try onDisk() as? String == "new")
        try coordinator.remove(store)
        try NSPersistentStoreCoordinator.setMetadata(["mine": "closed"], type: type, at: url("store"))
        #expect(try onDisk() as? String == "closed")
    }

    @Test func storesAndIDsAreFound() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Probe.model())
        coordinator.name = "coordinator"
        #expect(coordinator.name == "coordinator" && coordinator.persistentStores.isEmpty)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url("store"))
        #expect(coordinator.persistentStore(for: url("store")) === store)
        #expect(coordinator.url(for: store).path == url("store").path)
        #expect(coordinator.persistentStore(for: url("other")) == nil)
        #expect(store.persistentStoreCoordinator === coordinator && !store.isReadOnly)
        let foreign = try #require(URL(string: "x-coredata://\(UUID().uuidString)/Probe/p1"))
        #expect(coordinator.managedObjectID(forURIRepresentation: foreign) == nil)
        #expect(coordinator.managedObjectID(forURIRepresentation: url("store")) == nil)
        let unknown = try #require(URL(string: "x-coredata://\(store.identifier ?? "")/Nobody/p1"))
        #expect(coordinator.managedObjectID(forURIRepresentation: unknown) == nil)
        try coordinator.remove(store)
        #expect(coordinator.persistentStores.isEmpty && store.persistentStoreCoordinator == nil)
    }

    @Test func aStoreIsNotAddedTwice() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Probe.model())
        try coordinator.addPersistentStore(type: .sqlite, at: url("store"))
        #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: url("store")) }
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test func containersLoadWhatTheirDescriptionsSay() throws {
        let container = NSPersistentContainer(name: "Probes", managedObjectModel: Probe.model())
        #expect(container.name == "Probes" && container.persistentStoreDescriptions.count == 1)
        let standard = try #require(container.persistentStoreDescriptions.first)
        #expect(standard.url?.lastPathComponent == "Probes.sqlite" && standard.type == NSSQLiteStoreType)
        #expect(!standard.shouldAddStoreAsynchronously && standard.shouldMigrateStoreAutomatically)
        #expect(standard.shouldInferMappingModelAutomatically && !standard.isReadOnly && standard.configuration == nil)
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(container.viewContext.parent == nil && !container.viewContext.automaticallyMergesChangesFromParent)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)

        let good = NSPersistentStoreDescription(url: url("good"))
        let bad = NSPersistentStoreDescription(url: url("bad"))
        bad.type = "NoSuchType"
        container.persistentStoreDescriptions = [bad, good]
        nonisolated(unsafe) var told: [(String, Bool)] = []
        container.loadPersistentStores { description, error in
            told.append((description.url?.lastPathComponent ?? "", error == nil))
        }
        #expect(told.map(\.0) == ["bad", "good"] && told.map(\.1) == [false, true])
        #expect(container.persistentStoreCoordinator.persistentStores.map { $0.url?.path } == [url("good").path])
        let background = container.newBackgroundContext()
        #expect(background.concurrencyType == .privateQueueConcurrencyType && background.parent == nil)
        #expect(background.persistentStoreCoordinator === container.persistentStoreCoordinator)
        #expect(!background.automaticallyMergesChangesFromParent)
    }

    /// Loaded are "stores that have not already been successfully added to the container".
    @Test func loadingAgainLoadsWhatIsMissing() throws {
        let container = NSPersistentContainer(name: "Probes", managedObjectModel: Probe.model())
        let first = NSPersistentStoreDescription(url: url("first"))
        container.persistentStoreDescriptions = [first]
        nonisolated(unsafe) var told: [(String, Bool)] = []
        func load() {
            told = []
            container.loadPersistentStores { description, error in
                told.append((description.url?.lastPathComponent ?? "", error == nil))
            }
        }
        load()
        #expect(told.map(\.0) == ["first"] && told.map(\.1) == [true])
        load()
        #expect(told.isEmpty)
        container.persistentStoreDescriptions.append(NSPersistentStoreDescription(url: url("second")))
        load()
        #expect(told.map(\.0) == ["second"] && told.map(\.1) == [true])
        #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
        // Stores in memory are told apart by their descriptions; one that was removed is loaded again.
        container.persistentStoreDescriptions = (0..<2).map { _ in
            let description = NSPersistentStoreDescription()
            description.type = NSInMemoryStoreType
            return description
        }
        load()
        #expect(told.count == 2 && container.persistentStoreCoordinator.persistentStores.count == 4)
        load()
        #expect(told.isEmpty)
        container.persistentStoreDescriptions = [first]
        try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
        load()
        #expect(told.map(\.0) == ["first"] && told.map(\.1) == [true])
    }

    /// "If stores is nil or an empty array, the token will be constructed with all of the persistent stores."
    @Test func tokensAreOfAllStoresOrOfSome() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Probe.model())
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        let stores = try ["first", "second"].map { try coordinator.addPersistentStore(type: .sqlite, at: url($0)) }
        let all = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(coordinator.currentPersistentHistoryToken(fromStores: []) == all)
        #expect(coordinator.currentPersistentHistoryToken(fromStores: stores) == all)
        #expect(coordinator.currentPersistentHistoryToken(fromStores: [stores[0]]) != all)
    }

    @Test func subclassesOfContainersHaveTheirOwnDirectory() throws {
        final class Container: NSPersistentContainer, @unchecked Sendable {
            override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/tmp/strata-elsewhere") }
        }
        let container = Container(name: "Probes", managedObjectModel: Probe.model())
        #expect(container.persistentStoreDescriptions.first?.url?.path == "/tmp/strata-elsewhere/Probes.sqlite")
    }

    @Test func descriptionsAreCopiedAndCompared() throws {
        let description = NSPersistentStoreDescription(url: url("store"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy !== description && copy == description && copy.hash == description.hash)
        #expect(copy.options[NSPersistentHistoryTrackingKey] as? Bool == true)
        #expect(copy.sqlitePragmas["journal_mode"] as? String == "DELETE")
        copy.isReadOnly = true
        #expect(!description.isReadOnly && copy != description)
        description.setOption(nil, forKey: NSPersistentHistoryTrackingKey)
        #expect(description.options[NSPersistentHistoryTrackingKey] == nil)
    }
}
