import CoreData
import Foundation
import Synchronization
import Testing

/// A store that is open read-only while somebody else writes it. The reader opens first and so has a log of its own, as
/// in another process.
@Suite(.timeLimit(.minutes(2))) final class FollowingStoreTests {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent(
        "strata-follow-\(UUID().uuidString)")
    private let model = GraphModel.company()
    private let readers: NSPersistentStoreCoordinator
    private let writers: NSPersistentStoreCoordinator
    private let context: NSManagedObjectContext
    private let reading: NSManagedObjectContext

    init() throws {
        let options: [AnyHashable: Any] = [StrataDurabilityOption: "os"]
        let first = NSPersistentStoreCoordinator(managedObjectModel: model)
        try first.remove(try first.addPersistentStore(type: .sqlite, at: url, options: options))
        readers = NSPersistentStoreCoordinator(managedObjectModel: model)
        try readers.addPersistentStore(
            type: .sqlite, at: url,
            options: [
                NSReadOnlyPersistentStoreOption: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            ])
        writers = NSPersistentStoreCoordinator(managedObjectModel: model)
        try writers.addPersistentStore(type: .sqlite, at: url, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = writers
        reading = NSManagedObjectContext(.privateQueue)
        reading.persistentStoreCoordinator = readers
    }

    deinit {
        for coordinator in [readers, writers] {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
        }
        removeStore(at: url)
    }

    private func save(_ title: String) throws {
        try context.performAndWait { () throws in
            (insert("Department", context) as? Department)?.title = title
            try context.save()
        }
    }

    private func titles() throws -> [String] {
        try reading.performAndWait { () throws in
            try reading.fetch(NSFetchRequest<Department>(entityName: "Department")).compactMap(\.title).sorted()
        }
    }

    @Test func fetchesSeeWhatOthersHaveSaved() throws {
        #expect(try titles() == [])
        try save("a")
        #expect(try titles() == ["a"])
        try save("b")
        let count = try reading.performAndWait { () throws in
            try reading.count(for: NSFetchRequest<Department>(entityName: "Department"))
        }
        #expect(count == 2)
    }

    @Test func refreshingBringsTheNewestRow() throws {
        try save("a")
        let object = try reading.performAndWait { () throws in
            try #require(try reading.fetch(NSFetchRequest<Department>(entityName: "Department")).first)
        }
        #expect(reading.performAndWait { object.title } == "a")
        try context.performAndWait { () throws in
            try context.fetch(NSFetchRequest<Department>(entityName: "Department")).first?.title = "b"
            try context.save()
        }
        #expect(reading.performAndWait { object.title } == "a")
        reading.performAndWait { reading.refresh(object, mergeChanges: true) }
        #expect(reading.performAndWait { object.title } == "b")
    }

    /// The ID's entity is an ancestor of the object's, whose row the reader has not seen yet.
    @Test(arguments: [false, true]) func anObjectIsFoundByAnAncestorsName(fromChild: Bool) throws {
        #expect(try titles() == [])
        let text = try context.performAndWait { () throws in
            let manager = insert("Manager", context)
            try context.save()
            return manager.objectID.uriRepresentation().absoluteString.replacingOccurrences(
                of: "Manager", with: "Employee")
        }
        let id = try #require(readers.managedObjectID(for: text))
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = reading
        let asking = fromChild ? child : reading
        try asking.performAndWait { () throws in
            let object = try asking.existingObject(with: id)
            #expect(object is Manager && object.objectID.entity.name == "Manager")
            #expect(try asking.fetch(NSFetchRequest<Manager>(entityName: "Manager")).first === object)
        }
    }

    @Test func aPinnedContextStaysWhereItIs() throws {
        try save("a")
        try reading.performAndWait { () throws in try reading.setQueryGenerationFrom(.current) }
        #expect(try titles() == ["a"])
        try save("b")
        #expect(try titles() == ["a"])
        try reading.performAndWait { () throws in try reading.setQueryGenerationFrom(nil) }
        #expect(try titles() == ["a", "b"])
    }

    @Test func historyAndTokensMoveOn() throws {
        let start = readers.currentPersistentHistoryToken(fromStores: nil)
        try save("a")
        try save("b")
        let transactions = try reading.performAndWait { () throws in
            let result = try reading.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: start))
            return (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
        }
        #expect(transactions.count == 2)
        #expect(
            readers.currentPersistentHistoryToken(fromStores: nil)
                == writers.currentPersistentHistoryToken(fromStores: nil))
    }

    @Test func remoteChangesAreTold() async throws {
        let uuid = readers.persistentStores[0].identifier
        let token = readers.currentPersistentHistoryToken(fromStores: nil)
        let seen = Mutex<[(uuid: String?, url: URL?, token: NSPersistentHistoryToken?)]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: readers, queue: nil
        ) { note in
            let info = note.userInfo
            seen.withLock {
                $0.append(
                    (
                        info?[NSStoreUUIDKey] as? String, info?[NSPersistentStoreURLKey] as? URL,
                        info?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
                    ))
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try save("a")
        let newest = writers.currentPersistentHistoryToken(fromStores: nil)
        while seen.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
        let first = seen.withLock { $0[0] }
        #expect(first.uuid == uuid)
        #expect(first.url == url)
        #expect(first.token == newest)
        #expect(first.token != token)
        #expect(seen.withLock { $0.count } == 1)
    }

    @Test func historyIsFollowed() async throws {
        let token = readers.currentPersistentHistoryToken(fromStores: nil)
        for number in 0..<100 { try save("before \(number)") }
        let coordinator = readers
        let follower = Task {
            var numbers: [Int64] = []
            for try await transaction in coordinator.persistentHistory(after: token) {
                numbers.append(transaction.transactionNumber)
                if numbers.count == 300 { break }
            }
            return numbers
        }
        try await Task.sleep(for: .milliseconds(20))
        for number in 0..<200 {
            try save("during \(number)")
            if number % 10 == 7 { try await Task.sleep(for: .milliseconds(1)) }
        }
        let numbers = try await follower.value
        let first = try #require(numbers.first)
        #expect(numbers == (0..<300).map { first + Int64($0) })
    }
}
