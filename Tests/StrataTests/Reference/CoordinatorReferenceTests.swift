import CoreData
import Foundation
import Testing

/// What Core Data's reference says of coordinators and of the stores in them, where no other suite says it.
@Suite final class CoordinatorReferenceTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "strata-reference-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false) }
    deinit { try? FileManager.default.removeItem(at: directory) }

    private func url(_ name: String) -> URL { directory.appendingPathComponent(name) }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test func storesKnowHowTheyWereOpened() throws {
        let model = Probe.model()
        model.setEntities(model.entities, forConfigurationName: "Main")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true as NSNumber, "mine": "too"]
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "Main", at: url("main"), options: options)
        #expect(store.configurationName == "Main" && store.type == NSSQLiteStoreType && !store.isReadOnly)
        #expect(store.options?["mine"] as? String == "too")
        #expect(store.options?[NSPersistentHistoryTrackingKey] as? Bool == true)
        #expect(store.url?.path == url("main").path && store.identifier.isEmpty == false)
        #expect(UUID(uuidString: store.identifier) != nil)
        let second = try coordinator.addPersistentStore(
            type: .inMemory, configuration: nil, at: URL(fileURLWithPath: "/dev/null"))
        #expect(second.configurationName == "PF_DEFAULT_CONFIGURATION_NAME" && second.identifier != store.identifier)
        #expect(coordinator.persistentStores.count == 2)
        for store in coordinator.persistentStores {
            let name = store.configurationName
            #expect(model.configurations.contains(name) && model.entities(forConfigurationName: name) != nil)
            #expect(model.isConfiguration(withName: name, compatibleWithStoreMetadata: store.metadata))
        }
        #expect(throws: (any Error).self) {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: "NoSuch", at: self.url("other"), options: nil)
        }
        #expect(coordinator.persistentStores.count == 2)
    }

    /// The metadata tells which model a store needs.
    @Test(arguments: [NSPersistentStore.StoreType.sqlite, .binary, .xml])
    func metadataNamesTheModelsVersions(type: NSPersistentStore.StoreType) throws {
        let model = Probe.model()
        model.versionIdentifiers = ["1.0"]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: type, at: url("store"))
        let probes = context(coordinator)
        try probes.check { () throws in
            _ = Probe(context: probes)
            try probes.save()
        }
        try coordinator.remove(store)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url("store"))
        #expect(metadata[NSStoreTypeKey] as? String == type.rawValue)
        let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        #expect(hashes == model.entityVersionHashesByName)
        #expect(metadata[NSStoreModelVersionIdentifiersKey] as? [String] == ["1.0"])
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!GraphModel.company().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: self.url("nothing"))
        }
    }

    /// "The store is removed from the coordinator; it is thus no longer a useful reference" after a migration.
    @Test func aMigratedStoreIsNoLongerTheCoordinators() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Probe.model())
        let memory = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let probes = context(coordinator)
        try probes.check { () throws in
            let probe = Probe(context: probes)
            probe.name = "kept"
            probe.children = [Probe(context: probes)]
            try probes.save()
        }
        nonisolated(unsafe) var infos: [[AnyHashable: Any]] = []
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
        ) { infos.append($0.userInfo ?? [:]) }
        defer { NotificationCenter.default.removeObserver(token) }
        let store = try coordinator.migratePersistentStore(memory, to: url("saved"), type: .sqlite)
        #expect(coordinator.persistentStores == [store] && memory.persistentStoreCoordinator == nil)
        #expect(store.type == NSSQLiteStoreType && store.url?.path == url("saved").path)
        let changed = infos.compactMap { $0[NSUUIDChangedPersistentStoresKey] as? [Any] }
        #expect(changed.count == 1 && changed.first?.count ?? 0 >= 2)
        #expect(changed.first?[0] as? NSPersistentStore === memory && changed.first?[1] as? NSPersistentStore === store)
        let other = context(coordinator)
        try other.check { () throws in
            let found = try fetchAll(Probe.self, "Probe", other, NSPredicate(format: "name == 'kept'"))
            #expect(found.map(\.children.count) == [1])
        }
    }

    /// A save request gives an empty array, a fetch request its results.
    @Test(arguments: StoreKind.allCases) func requestsAreExecutedByTheCoordinator(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        let probes = store.context()
        try probes.check { () throws in
            let probe = Probe(context: probes)
            probe.name = "saved"
            try probes.save()
            let request = NSFetchRequest<Probe>(entityName: "Probe")
            let objects = try store.coordinator.execute(request, with: probes) as? [Probe]
            #expect(objects == [probe])
            let count = NSFetchRequest<NSNumber>(entityName: "Probe")
            count.resultType = .countResultType
            #expect(try store.coordinator.execute(count, with: probes) as? [Int] == [1])
            let update = NSBatchUpdateRequest(entityName: "Probe")
            update.propertiesToUpdate = ["name": "batch"]
            update.resultType = .updatedObjectsCountResultType
            let result = try store.coordinator.execute(update, with: probes) as? NSBatchUpdateResult
            #expect(result?.result as? Int == 1)
        }
    }

    @Test func builtInTypesAreRegistered() {
        let types = NSPersistentStoreCoordinator.registeredStoreTypes
        for type in [NSSQLiteStoreType, NSBinaryStoreType, NSInMemoryStoreType] { #expect(types[type] != nil) }
    }

    @Test func unknownTypesAndFilesOfOthersAreErrors() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Probe.model())
        let unknown = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                ofType: "NoSuchType", configurationName: nil, at: self.url("a"), options: nil)
        }
        #expect(unknown?.errorCode == NSPersistentStoreInvalidTypeError)
        try Data("not a store".utf8).write(to: url("text"))
        for type in [NSSQLiteStoreType, NSBinaryStoreType] {
            #expect(throws: (any Error).self) {
                try coordinator.addPersistentStore(
                    ofType: type, configurationName: nil, at: self.url("text"), options: nil)
            }
        }
        #expect(coordinator.persistentStores.isEmpty)
        let missing = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: self.url("missing"),
                options: [NSReadOnlyPersistentStoreOption: true])
        }
        #expect(missing?.code == .fileReadNoSuchFile)
    }

    /// Objects of a removed store that are not in memory are gone; adding it again brings them back under their IDs.
    @Test func aStoreComesBackUnderItsIDs() throws {
        let model = Probe.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let first = try coordinator.addPersistentStore(type: .sqlite, at: url("store"))
        let probes = context(coordinator)
        let uri = try probes.performAndWait {
            let probe = Probe(context: probes)
            probe.name = "there"
            try probes.save()
            return probe.objectID.uriRepresentation()
        }
        nonisolated(unsafe) var removed: [ObjectIdentifier] = []
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: nil, queue: nil
        ) { note in
            if let object = note.object as AnyObject? { removed.append(ObjectIdentifier(object)) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try coordinator.remove(first)
        #expect(removed.contains(ObjectIdentifier(first)))
        #expect(coordinator.managedObjectID(forURIRepresentation: uri) == nil)
        try coordinator.addPersistentStore(type: .sqlite, at: url("store"))
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(id.uriRepresentation() == uri && !id.isTemporaryID && id.entity.name == "Probe")
        let fresh = context(coordinator)
        try fresh.check { () throws in
            #expect((try fresh.existingObject(with: id) as? Probe)?.name == "there")
        }
        #expect(coordinator.managedObjectID(for: uri.absoluteString) == id)
        #expect(coordinator.managedObjectID(for: "nonsense") == nil)
    }
}
