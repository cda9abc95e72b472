import CoreData
import Foundation
import Testing

/// Statements of Core Data's reference on coordinators and the history: a second reading, where the first left no test.
@Suite final class StoreStatementTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "strata-statements-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false) }
    deinit { try? FileManager.default.removeItem(at: directory) }

    private func url(_ name: String) -> URL { directory.appendingPathComponent(name) }

    private func names(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { () throws in
            try fetchAll(Probe.self, "Probe", context, sort: "name").compactMap(\.name)
        }
    }

    private func insert(_ name: String, _ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            Probe(context: context).name = name
            try context.save()
        }
    }

    private func history(
        _ request: NSPersistentHistoryChangeRequest, _ type: NSPersistentHistoryResultType? = nil,
        _ context: NSManagedObjectContext
    ) throws -> Any? {
        if let type { request.resultType = type }
        return (try context.execute(request) as? NSPersistentHistoryResult)?.result
    }

    @Test(arguments: [NSPersistentStore.StoreType.sqlite, .binary, .xml])
    func replacingCopiesAndDestroyingEmpties(type: NSPersistentStore.StoreType) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Probe.model())
        #expect(coordinator.name == nil && coordinator.persistentStores.isEmpty)
        #expect(coordinator.persistentStore(for: url("source")) == nil)
        let source = try coordinator.addPersistentStore(type: type, at: url("source"))
        try insert("kept", coordinator)
        try coordinator.remove(source)
        #expect(throws: (any Error).self) { try coordinator.remove(source) }
        try coordinator.replacePersistentStore(at: url("copy"), withPersistentStoreFrom: url("source"), type: type)
        #expect(coordinator.persistentStores.isEmpty)
        for name in ["copy", "source"] {
            let store = try coordinator.addPersistentStore(type: type, at: url(name))
            #expect(try names(coordinator) == ["kept"] && coordinator.url(for: store).path == url(name).path)
            #expect(coordinator.persistentStore(for: url(name)) === store)
            try coordinator.remove(store)
        }
        try coordinator.destroyPersistentStore(at: url("source"), type: type)
        try coordinator.destroyPersistentStore(at: url("never"), type: type)
        let again = try coordinator.addPersistentStore(type: type, at: url("source"))
        #expect(try names(coordinator) == [])
        try coordinator.remove(again)
    }

    /// What cannot be added is nowhere, and nobody is told.
    @Test func aStoreThatCannotBeAddedIsNotTold() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Probe.model())
        nonisolated(unsafe) var told = 0
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
        ) { _ in told += 1 }
        defer { NotificationCenter.default.removeObserver(token) }
        let nowhere = url("nowhere/deeper/store")
        for (type, place) in [(NSSQLiteStoreType, nil), (NSSQLiteStoreType, nowhere), ("NoSuchType", url("a"))] {
            #expect(throws: CocoaError.self, "\(type)") {
                try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: place)
            }
        }
        #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                type: .sqlite, at: self.url("missing"), options: [NSReadOnlyPersistentStoreOption: true])
        }
        #expect(told == 0 && coordinator.persistentStores.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    @Test(arguments: StoreKind.allCases) func idsComeBackFromTheirText(_ kind: StoreKind) throws {
        let (store, other) = (try TestStore(kind, Probe.model()), try TestStore(.memory, Probe.model()))
        let context = store.context()
        let id = try context.performAndWait { () throws in
            let probe = Probe(context: context)
            try context.save()
            return probe.objectID
        }
        let text = id.uriRepresentation().absoluteString
        #expect(store.coordinator.managedObjectID(for: text) == id)
        #expect(store.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        #expect(other.coordinator.managedObjectID(for: text) == nil)
        let unknown = text.replacingOccurrences(of: "/Probe/", with: "/Nobody/")
        #expect(store.coordinator.managedObjectID(for: unknown) == nil)
        #expect(store.coordinator.managedObjectID(for: "x-coredata:") == nil)
    }

    @Test func coordinatorsRunBlocks() async throws {
        let store = try TestStore(.memory, Probe.model())
        let coordinator = store.coordinator
        coordinator.name = "stores"
        #expect(coordinator.name == "stores")
        #expect(await coordinator.perform { 7 } == 7)
        await #expect(throws: CocoaError.self) { try await coordinator.perform { throw CocoaError(.fileNoSuchFile) } }
        #expect(coordinator.performAndWait { coordinator.performAndWait { 8 } } == 8)
        try coordinator.finishDeferredLightweightMigration()
        try coordinator.finishDeferredLightweightMigrationTask()
    }

    /// A combined token is of the stores that are asked for; without stores there is none.
    @Test(arguments: StoreKind.allCases) func tokensNeedAStore(_ kind: StoreKind) throws {
        let empty = NSPersistentStoreCoordinator(managedObjectModel: Probe.model())
        #expect(empty.currentPersistentHistoryToken(fromStores: nil) == nil)
        let store = try TestStore(kind, Probe.model())
        try insert("a", store.coordinator)
        let all = try #require(store.coordinator.currentPersistentHistoryToken(fromStores: nil))
        #expect(store.coordinator.currentPersistentHistoryToken(fromStores: []) == all)
        #expect(store.coordinator.currentPersistentHistoryToken(fromStores: [store.store]) == all)
        #expect(all.copy() as? NSPersistentHistoryToken == all)
    }

    @Test(arguments: StoreKind.allCases) func resultTypesSayWhatTheyAreCalled(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        try insert("a", store.coordinator)
        let token = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try insert("b", store.coordinator)
        let context = store.context()
        try context.performAndWait { () throws in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            #expect(request.resultType == .transactionsAndChanges && request.token == token)
            let whole = try #require(try history(request, nil, context) as? [NSPersistentHistoryTransaction])
            #expect(whole.count == 1 && whole[0].changes?.count == 1)
            #expect(whole[0].changes?[0].updatedProperties == nil && whole[0].changes?[0].tombstone == nil)
            let bare = try history(request, .transactionsOnly, context) as? [NSPersistentHistoryTransaction]
            #expect(bare?.count == 1 && bare?[0].changes == nil)
            let changes = try history(request, .changesOnly, context) as? [NSPersistentHistoryChange]
            #expect(changes?.map(\.changeType) == [.insert] && changes?[0].transaction?.token == whole[0].token)
            #expect(try history(request, .count, context) as? Int == 1)
            let ids = try history(request, .objectIDs, context) as? [NSManagedObjectID]
            #expect(ids == changes?.map(\.changedObjectID))
            #expect(try history(request, .statusOnly, context) as? Bool == true)
        }
    }

    /// A request for the history takes a fetch of its own entities, in one store's context.
    @Test(arguments: StoreKind.allCases) func onlyTheHistorysEntitiesAreFetched(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Probe.model())
        try insert("a", store.coordinator)
        let context = store.context()
        try context.performAndWait { () throws in
            let foreign = NSFetchRequest<any NSFetchRequestResult>(entityName: "Probe")
            let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: foreign)
            #expect(throws: (any Error).self) { _ = try context.execute(request) }
            let entity = try #require(NSPersistentHistoryTransaction.entityDescription(with: context))
            #expect(entity.attributesByName["author"] != nil && entity.attributesByName["token"] != nil)
            let changes = try #require(NSPersistentHistoryChange.entityDescription(with: context))
            #expect(changes.attributesByName["changedObjectID"] != nil && changes.attributesByName["changeType"] != nil)
        }
    }
}
