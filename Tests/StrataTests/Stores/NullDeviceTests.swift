import CoreData
import Foundation
import Testing

/// Stores at /dev/null and at every path below it are stores in memory.
@Suite struct NullDeviceTests {
    static let paths = [
        "/dev/null", "/dev/null/", "/dev/null/named.sqlite", "/dev/null/a/b c/d.sqlite", "//dev/./null/x/../named",
    ]

    private func makeContext(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func addDepartment(_ title: String, _ coordinator: NSPersistentStoreCoordinator) throws {
        let context = makeContext(coordinator)
        try context.performAndWait {
            Department(context: context).title = title
            try context.save()
        }
    }

    private func titles(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let context = makeContext(coordinator)
        return try context.performAndWait {
            try fetchAll(Department.self, "Department", context).compactMap(\.title).sorted()
        }
    }

    private func newCoordinator() -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
    }

    @Test(arguments: paths)
    func everyPathBelowItIsAStoreInMemory(path: String) throws {
        let url = URL(fileURLWithPath: path)
        let coordinator = newCoordinator()
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(store.url == url && store.type == NSSQLiteStoreType && coordinator.url(for: store) == url)
        #expect(coordinator.persistentStore(for: url) === store)
        try addDepartment("one", coordinator)
        #expect(try titles(coordinator) == ["one"])
        let context = makeContext(coordinator)
        let history = try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            return (try context.execute(request) as? NSPersistentHistoryResult)?.result
        }
        #expect((history as? [NSPersistentHistoryTransaction])?.count == 1)
        // Gone with its coordinator, and with its removal.
        try coordinator.remove(store)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(try titles(coordinator) == [])
    }

    @Test func storesAtSuchURLsAreEachTheirOwn() throws {
        let coordinators = (0..<4).map { _ in newCoordinator() }
        for (index, name) in ["a", "b", "b", ""].enumerated() {
            let url = URL(fileURLWithPath: "/dev/null/\(name)")
            try coordinators[index].addPersistentStore(type: .sqlite, at: url)
            try addDepartment("\(index)", coordinators[index])
        }
        for (index, coordinator) in coordinators.enumerated() { #expect(try titles(coordinator) == ["\(index)"]) }
        let stores = coordinators.flatMap(\.persistentStores)
        #expect(Set(stores.map(\.identifier)).count == 4)
        // One coordinator may have several of them, and finds each at its URL.
        let one = newCoordinator()
        let names = ["a", "b", "a/b"]
        let added = try names.map {
            try one.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: "/dev/null/\($0)"))
        }
        for (name, store) in zip(names, added) {
            #expect(one.persistentStore(for: URL(fileURLWithPath: "/dev/null/\(name)")) === store)
        }
        #expect(one.persistentStore(for: URL(fileURLWithPath: "/dev/null/c")) == nil)
        #expect(one.persistentStore(for: URL(fileURLWithPath: "/dev/null")) == nil)
    }

    @Test(arguments: paths.dropLast())
    func containersLoadThem(path: String) throws {
        let url = URL(fileURLWithPath: path)
        let container = NSPersistentContainer(name: "Null", managedObjectModel: GraphModel.company())
        let description = NSPersistentStoreDescription(url: url)
        container.persistentStoreDescriptions = [description]
        var failures: [any Error] = []
        for _ in 0..<2 { container.loadPersistentStores { failures += [$1].compactMap(\.self) } }
        #expect(failures.isEmpty && container.persistentStoreCoordinator.persistentStores.map(\.url) == [url])
        #expect(description.isEqual(NSPersistentStoreDescription(url: URL(fileURLWithPath: path))))
        #expect(!description.isEqual(NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null/other"))))
    }

    @Test func whatIsNextToItIsAFile() throws {
        for path in ["/dev/nullable", "/dev/null/../strata-\(UUID().uuidString)/store"] {
            let error = #expect(throws: CocoaError.self, "\(path)") {
                try newCoordinator().addPersistentStore(
                    type: .sqlite, at: URL(fileURLWithPath: path), options: [NSReadOnlyPersistentStoreOption: true])
            }
            #expect(error?.code == .fileReadNoSuchFile)
        }
    }

    @Test func storesOfFilesCannotBeThere() throws {
        for type in [NSPersistentStore.StoreType.binary, .xml] {
            let error = #expect(throws: CocoaError.self) {
                try newCoordinator().addPersistentStore(type: type, at: URL(fileURLWithPath: "/dev/null/file"))
            }
            #expect(error?.code == .persistentStoreOpen)
        }
    }

    @Test func whatWantsAStoreOnDiskSaysThatThereIsNone() throws {
        let url = URL(fileURLWithPath: "/dev/null/named.sqlite")
        let store = try TestStore(.log)
        do {
            let error = #expect(throws: CocoaError.self) {
                try store.coordinator.replacePersistentStore(at: store.url, withPersistentStoreFrom: url, type: .sqlite)
            }
            #expect(error?.code == .fileReadNoSuchFile)
        }
        let refused = #expect(throws: CocoaError.self) {
            try store.coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: store.url, type: .sqlite)
        }
        #expect(refused?.code == .persistentStoreInvalidType)
        let unknown = #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        }
        #expect(unknown?.code == .fileReadNoSuchFile)
        #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.setMetadata(["a": "b"], type: .sqlite, at: url)
        }
    }

    @Test func storesMoveThereAndBack() throws {
        let store = try TestStore(.log)
        let path = store.url.path
        let back = store.url.appendingPathExtension("back")
        defer { removeStore(at: back) }
        try addDepartment("kept", store.coordinator)
        for name in ["one", "two"] {
            let url = URL(fileURLWithPath: "/dev/null/\(name)")
            let moved = try store.coordinator.migratePersistentStore(store.store, to: url, type: .sqlite)
            #expect(moved.url == url && store.coordinator.persistentStores == [moved])
            #expect(try titles(store.coordinator) == ["kept"])
        }
        try addDepartment("more", store.coordinator)
        try store.coordinator.migratePersistentStore(store.store, to: back, type: .sqlite)
        #expect(try titles(store.coordinator) == ["kept", "more"])
        #expect(FileManager.default.fileExists(atPath: path))
    }
}
