import CoreData
import Foundation
import StrataLog
import StrataTestKit
import Synchronization
import Testing

@testable import Strata

/// One rule for points of the past by time: the longest beginning of the history of which nothing is later.
@Suite struct ClockSetBackTests {
    private typealias G = GraphModel

    private final class SetClock: Sendable {
        let seconds = Mutex<Int64>(0)
    }

    @Test(arguments: RandomRuns.seeds(from: 20_261_128, count: 4))
    func generationsAndHistoryGoByTheLongestBeginning(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let person = G.entity("Person")
        person.properties = [G.attribute("name", .stringAttributeType)]
        let clock = SetClock()
        var host = StoreHost()
        host.adjust = { options in options.clock = { clock.seconds.withLock { $0 } * 1_000_000_000 } }
        let store = try MigratedStore()
        let options: [AnyHashable: Any] = [StoreHost.option: host, NSPersistentHistoryTrackingKey: true]
        try store.with(makeModel([person]), options) { context throws in
            // From summer to winter and back, and wrong for a while.
            var times: [Int64] = []
            for index in 0..<12 {
                let time = 1_700_000_000 + Int64.random(in: 0..<20, using: &random)
                clock.seconds.withLock { $0 = time }
                times.append(time)
                _ = context.insert("Person", ["name": "\(index)"])
                try context.save()
            }
            let coordinator = try #require(context.persistentStoreCoordinator)
            for time in 1_700_000_000 - 1...1_700_000_000 + 20 {
                let date = Date(timeIntervalSince1970: Double(time))
                let wanted = times.firstIndex { $0 > time } ?? times.count
                let pinned = NSManagedObjectContext(.privateQueue)
                pinned.persistentStoreCoordinator = coordinator
                try pinned.setQueryGenerationFrom(coordinator.queryGeneration(at: date))
                let count = try pinned.performAndWait { try pinned.all("Person").count }
                #expect(count == wanted, "seed \(seed): \(times), \(time)")
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: date)
                request.resultType = .transactionsOnly
                let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
                let found = try #require(result.result as? [NSPersistentHistoryTransaction])
                #expect(
                    found.map(\.transactionNumber) == Array(Int64(wanted + 1)..<Int64(times.count + 1)),
                    "seed \(seed): \(times), \(time)")
            }
        }
    }
}
