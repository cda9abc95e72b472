import CoreData
import Foundation
import Testing

/// Which store a path leads to: links, moved and copied directories.
@Suite final class StoreCopyTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "strata-copy-\(UUID().uuidString)")
    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: directory)
    }

    private func place(_ name: String) -> URL { directory.appendingPathComponent(name) }

    private func coordinator(_ name: String, readOnly: Bool = false) throws -> NSPersistentStoreCoordinator {
        try Self.coordinator(at: place(name), readOnly: readOnly)
    }

    private static func coordinator(at url: URL, readOnly: Bool = false) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSReadOnlyPersistentStoreOption: readOnly])
        return coordinator
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @discardableResult
    private func save(_ title: String, _ coordinator: NSPersistentStoreCoordinator) throws -> NSManagedObjectID {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { () throws in
            let object = insert("Department", context)
            (object as? Department)?.title = title
            try context.save()
            return object.objectID
        }
    }

    private func title(_ uri: URL, _ coordinator: NSPersistentStoreCoordinator) throws -> String? {
        let id = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { () throws in (try context.existingObject(with: id) as? Department)?.title }
    }

    private func uuid(_ coordinator: NSPersistentStoreCoordinator) -> String? {
        coordinator.persistentStores[0].identifier
    }

    private func history(
        _ coordinator: NSPersistentStoreCoordinator, after token: NSPersistentHistoryToken?
    ) throws -> Int? {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { () throws in
            let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
            return ((result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])?.count
        }
    }

    @Test func aLinkLeadsToTheSameStore() throws {
        let first = try coordinator("store")
        try FileManager.default.createSymbolicLink(at: place("link"), withDestinationURL: place("store"))
        let second = try coordinator("link")
        #expect(uuid(first) == uuid(second))
        let id = try save("a", first)
        #expect(try title(id.uriRepresentation(), second) == "a")
        try close(first)
        try save("b", second)
        try close(second)
    }

    /// Also when nothing is there yet and all come at once.
    @Test func coordinatorsThatComeAtOnceShareTheStore() throws {
        let count = 8
        let found = UncheckedSlots(count)
        try FileManager.default.createSymbolicLink(at: place("link"), withDestinationURL: directory)
        let directory = directory
        DispatchQueue.concurrentPerform(iterations: count) { index in
            let url = directory.appendingPathComponent(index % 2 == 0 ? "store" : "link/store")
            found.set(index, Result { try Self.coordinator(at: url) })
        }
        let coordinators = try found.all().map { try $0.get() }
        #expect(Set(coordinators.map { uuid($0) }).count == 1)
        try save("a", coordinators[0])
        for coordinator in coordinators { try close(coordinator) }
    }

    @Test func aMovedStoreStaysWhatItIs() throws {
        var store = try coordinator("store")
        let before = uuid(store)
        let id = try save("a", store)
        try close(store)
        try FileManager.default.moveItem(at: place("store"), to: place("moved"))
        store = try coordinator("moved")
        #expect(uuid(store) == before)
        #expect(store.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        try close(store)
    }

    /// Object IDs name a store by its UUID: of two with the same one, an ID led to the one that was added first.
    @Test func aCoordinatorHasOnlyOneStoreOfAUUID() throws {
        let original = try coordinator("store")
        try save("a", original)
        try original.replacePersistentStore(
            at: place("copy"), destinationOptions: nil, withPersistentStoreFrom: place("store"), sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        for isReadOnly in [false, true] {
            let error = #expect(throws: CocoaError.self) {
                try original.addPersistentStore(
                    type: .sqlite, at: place("copy"), options: [NSReadOnlyPersistentStoreOption: isReadOnly])
            }
            #expect(error?.errorCode == 134_081)
            #expect(error?.localizedDescription.contains(uuid(original) ?? "?") == true)
        }
        #expect(original.persistentStores.count == 1)
        // It has been given up again, and another coordinator may have it.
        let other = try coordinator("copy")
        #expect(uuid(other) == uuid(original))
        try save("b", other)
        try close(other)
        try close(original)
    }

    @Test func aCopyIsAnotherStoreOnceItIsWritten() throws {
        let original = try coordinator("store")
        let id = try save("a", original)
        let common = original.currentPersistentHistoryToken(fromStores: nil)
        let before = uuid(original)
        try close(original)
        try FileManager.default.copyItem(at: place("store"), to: place("copy"))
        let peek = try coordinator("copy", readOnly: true)
        #expect(uuid(peek) == before)
        try close(peek)
        var copy = try coordinator("copy")
        let after = uuid(copy)
        #expect(after != before)
        #expect(copy.persistentStores[0].metadata[NSStoreUUIDKey] as? String == after)
        // What was written down before the copy was made still leads to the objects.
        #expect(try title(id.uriRepresentation(), copy) == "a")
        // So does an ID that is still in memory, as after a backup has taken the store's place.
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = copy
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        for context in [context, child] {
            try context.performAndWait { () throws in
                #expect(try context.existingObject(with: id).value(forKey: "title") as? String == "a")
            }
        }
        try save("b", copy)
        #expect(try history(copy, after: common) == 1)
        try close(copy)
        copy = try coordinator("copy")
        #expect(uuid(copy) == after)
        #expect(
            try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: place("copy"))[
                NSStoreUUIDKey] as? String == after)
        // What the original has saved since never was in the copy.
        let again = try coordinator("store")
        #expect(uuid(again) == before)
        try save("c", again)
        let later = again.currentPersistentHistoryToken(fromStores: nil)
        let error = #expect(throws: CocoaError.self) { try history(copy, after: later) }
        #expect(error?.errorCode == NSPersistentHistoryTokenExpiredError)
        try close(again)
        try close(copy)
    }

    @Test func replacingKeepsTheUUID() throws {
        let source = try coordinator("store")
        try save("a", source)
        let before = uuid(source)
        try source.replacePersistentStore(at: place("other"), withPersistentStoreFrom: place("store"), type: .sqlite)
        let other = try coordinator("other")
        #expect(uuid(other) == before)
        try close(other)
        try close(source)
    }
}

/// Results that threads leave, each in a place of its own.
private final class UncheckedSlots: @unchecked Sendable {
    // Unchecked: the lock guards the slots.
    private var slots: [Result<NSPersistentStoreCoordinator, any Error>?]
    private let lock = NSLock()

    init(_ count: Int) { slots = Array(repeating: nil, count: count) }

    func set(_ index: Int, _ result: Result<NSPersistentStoreCoordinator, any Error>) {
        lock.withLock { slots[index] = result }
    }

    func all() throws -> [Result<NSPersistentStoreCoordinator, any Error>] {
        try lock.withLock { try slots.map { try #require($0) } }
    }
}
