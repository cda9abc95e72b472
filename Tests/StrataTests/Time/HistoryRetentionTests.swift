import CoreData
import Foundation
import StrataLog
import Testing

@testable import Strata

@Suite struct HistoryRetentionTests {
    /// A store in a directory of its own that is opened with a policy again and again.
    private final class Fixture {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-\(UUID().uuidString)")
        private(set) var coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())

        func open(_ policy: Any?) throws {
            for store in coordinator.persistentStores { try coordinator.remove(store) }
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
            var options: [AnyHashable: Any] = [StrataDurabilityOption: "os"]
            options[StrataHistoryRetentionOption] = policy
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        }

        deinit {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            removeStore(at: url)
        }

        func save(_ count: Int = 1) throws {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for index in 0..<count {
                    Employee(context: context).name = "e\(index)"
                    try context.save()
                }
            }
        }

        var token: NSPersistentHistoryToken {
            get throws { try #require(coordinator.currentPersistentHistoryToken(fromStores: nil)) }
        }

        func transactions(after token: NSPersistentHistoryToken? = nil) throws -> [Int64] {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return try context.performAndWait {
                let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
                let found = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
                return try #require(found).map(\.transactionNumber)
            }
        }
    }

    @Test func numbersOfTransactionsAreLimited() throws {
        let fixture = Fixture()
        try fixture.open(nil)
        try fixture.save(10)
        let old = try fixture.token
        try fixture.save(10)
        #expect(try fixture.transactions().count == 20)
        try fixture.open(HistoryRetention(maximumTransactions: 4))
        #expect(try fixture.transactions() == [17, 18, 19, 20])
        let error = #expect(throws: CocoaError.self) { try fixture.transactions(after: old) }
        #expect(error?.code.rawValue == NSPersistentHistoryTokenExpiredError)
        #expect(throws: CocoaError.self) { try fixture.coordinator.queryGeneration(atTransaction: 10) }
        // What is left stays when the policy is no longer there.
        try fixture.open(nil)
        #expect(try fixture.transactions().count == 4)
    }

    /// Compaction drops the history that is gone, and no other.
    @Test func compactionKeepsTheHistoryThatIsLeft() throws {
        let fixture = Fixture()
        try fixture.open(nil)
        try fixture.save(20)
        try fixture.open(HistoryRetention(maximumTransactions: 4))
        let log = try #require(fixture.coordinator.persistentStores.first?.handle?.log)
        #expect(log.retention.historyFloor == 16)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = fixture.coordinator
        try context.performAndWait {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee")) {
                context.delete(object)
            }
            try context.save()
        }
        #expect(try log.compact().segments > 0)
        #expect(log.historyFloor == 16)
        #expect(try fixture.transactions() == [17, 18, 19, 20, 21])
        try fixture.open(nil)
        #expect(try fixture.transactions() == [17, 18, 19, 20, 21])
    }

    /// So it does with history that a request has deleted, also after the store was opened again.
    @Test(arguments: [false, true]) func compactionDropsDeletedHistory(reopens: Bool) throws {
        let fixture = Fixture()
        try fixture.open(nil)
        try fixture.save(20)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = fixture.coordinator
        try context.performAndWait {
            let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            all.resultType = .transactionsOnly
            let result = try context.execute(all) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: transactions[15].token))
        }
        if reopens { try fixture.open(nil) }
        let log = try #require(fixture.coordinator.persistentStores.first?.handle?.log)
        #expect(log.retention.historyFloor == 15)
        #expect(try log.compact().segments > 0)
        #expect(log.historyFloor == 15)
        #expect(try fixture.transactions() == [16, 17, 18, 19, 20])
    }

    /// While the store is written, history goes by itself.
    @Test func aRunningStoreForgets() throws {
        let fixture = Fixture()
        try fixture.open(HistoryRetention(maximumTransactions: 20))
        try fixture.save(600)
        let kept = try fixture.transactions()
        #expect(kept.last == 600)
        #expect(kept.count >= 20 && kept.count < 400, "\(kept.count)")
    }

    @Test func ageIsLimited() throws {
        let fixture = Fixture()
        try fixture.open(nil)
        try fixture.save(5)
        try fixture.open(HistoryRetention(maximumAge: 3_600))
        #expect(try fixture.transactions().count == 5)
        try fixture.open(HistoryRetention(maximumAge: 0))
        #expect(try fixture.transactions().isEmpty)
        try fixture.save()
        #expect(try fixture.transactions() == [6])
    }

    /// Nothing was acknowledged, without a word.
    @Test func aTokenOfNoStoreOfTheCoordinatorsIsRefused() throws {
        let (fixture, other) = (Fixture(), Fixture())
        try fixture.open(HistoryRetention(consumers: ["index"]))
        try other.open(HistoryRetention())
        try other.save()
        let foreign = try other.token
        let error = #expect(throws: CocoaError.self) {
            try fixture.coordinator.acknowledgeHistory(upTo: foreign, by: "index")
        }
        #expect(error?.code == .persistentStoreOperation)
        #expect(fixture.coordinator.acknowledgedHistory(of: "index") == nil)
    }

    @Test func consumersKeepWhatTheyHaveNotSeen() throws {
        let fixture = Fixture()
        let policy = HistoryRetention(maximumTransactions: 1, consumers: ["index", "mirror"])
        try fixture.open(policy)
        try fixture.save(5)
        let five = try fixture.token
        try fixture.save(5)
        try fixture.open(policy)
        #expect(try fixture.transactions().count == 10)
        #expect(fixture.coordinator.acknowledgedHistory(of: "index") == nil)
        try fixture.coordinator.acknowledgeHistory(upTo: five, by: "index")
        #expect(try fixture.transactions().count == 10)
        try fixture.coordinator.acknowledgeHistory(upTo: try fixture.token, by: "mirror")
        #expect(try fixture.transactions() == [6, 7, 8, 9, 10])
        // Acknowledgements outlive the process, and going back is not remembered.
        try fixture.open(policy)
        #expect(fixture.coordinator.acknowledgedHistory(of: "index") == five)
        try fixture.coordinator.acknowledgeHistory(upTo: try fixture.token, by: "index")
        try fixture.coordinator.acknowledgeHistory(upTo: five, by: "index")
        #expect(fixture.coordinator.acknowledgedHistory(of: "index") == (try fixture.token))
        #expect(try fixture.transactions() == [10])
        try fixture.coordinator.removeHistoryConsumer("index")
        #expect(fixture.coordinator.acknowledgedHistory(of: "index") == nil)
    }

    @Test func consumersAloneLetGoOfWhatAllHaveSeen() throws {
        let fixture = Fixture()
        try fixture.open(HistoryRetention(consumers: ["index"]))
        try fixture.save(5)
        let five = try fixture.token
        try fixture.save(2)
        try fixture.coordinator.acknowledgeHistory(upTo: five, by: "index")
        #expect(try fixture.transactions() == [6, 7])
    }

    /// Bytes are counted in whole files; a store of one file keeps everything.
    @Test func bytesAreCountedInFiles() throws {
        let fixture = Fixture()
        try fixture.open(HistoryRetention(maximumBytes: 1))
        try fixture.save(5)
        try fixture.open(HistoryRetention(maximumBytes: 1))
        #expect(try fixture.transactions().count == 5)
    }

    @Test(arguments: ["forever", 3] as [any Sendable]) func otherValuesAreRefused(_ value: any Sendable) throws {
        let fixture = Fixture()
        let error = #expect(throws: CocoaError.self) { try fixture.open(value) }
        #expect(error?.code == .persistentStoreOpen)
        #expect(throws: CocoaError.self) { try fixture.open(HistoryRetention(maximumTransactions: -1)) }
        #expect(throws: CocoaError.self) { try fixture.open(["maximumAgeInDays": 3]) }
        try fixture.open(["maximumTransactions": 3])
        try fixture.save(5)
        try fixture.open(["maximumTransactions": 3])
        #expect(try fixture.transactions() == [3, 4, 5])
    }

    @Test func policiesAreCodable() throws {
        let policy = HistoryRetention(maximumAge: 60, maximumBytes: 5, consumers: ["a"])
        #expect(try JSONDecoder().decode(HistoryRetention.self, from: JSONEncoder().encode(policy)) == policy)
    }
}
