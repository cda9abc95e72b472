import CoreData
import Foundation
import Testing

@Suite struct HistorySequenceTests {
    private func save(_ titles: [String], _ context: NSManagedObjectContext) throws {
        try context.performAndWait { () throws in
            for title in titles {
                (insert("Department", context) as? Department)?.title = title
                try context.save()
            }
        }
    }

    @Test(.timeLimit(.minutes(20)), arguments: StoreKind.allCases)
    func itReplaysAndThenFollows(_ kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let context = store.context()
        let before = (0..<200).map { "before \($0)" }
        let during = (0..<200).map { "during \($0)" }
        try save(["first"], context)
        let token = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try save(before, context)
        let coordinator = store.coordinator
        let follower = Task {
            var numbers: [Int64] = []
            var changes = 0
            for try await transaction in coordinator.persistentHistory(after: token) {
                numbers.append(transaction.transactionNumber)
                changes += transaction.changes?.count ?? 0
                if changes == 500 { break }
            }
            return numbers
        }
        try await Task.sleep(for: .milliseconds(20))
        for title in during {
            try save([title], context)
            if title.hasSuffix("7") { try await Task.sleep(for: .milliseconds(1)) }
        }
        try context.performAndWait { () throws in
            let objects = (0..<100).map { ["title": "batch \($0)"] }
            try context.execute(NSBatchInsertRequest(entityName: "Department", objects: objects))
        }
        let numbers = try await follower.value
        let first = try #require(numbers.first)
        #expect(numbers == (0..<401).map { first + Int64($0) })
    }

    @Test(.timeLimit(.minutes(20))) func aCancelledTaskEnds() async throws {
        let store = try TestStore(.memory)
        let coordinator = store.coordinator
        let follower = Task {
            var count = 0
            for try await _ in coordinator.persistentHistory(after: nil) { count += 1 }
            return count
        }
        try await Task.sleep(for: .milliseconds(20))
        follower.cancel()
        #expect(try await follower.value == 0)
    }

    /// A service that waits for its consumer after it has closed its stores never ended.
    @Test(.timeLimit(.minutes(20)), arguments: StoreKind.allCases, [false, true])
    func aClosedCoordinatorEndsIt(_ kind: StoreKind, isBusy: Bool) async throws {
        let store = try TestStore(kind)
        let context = store.context()
        let coordinator = store.coordinator
        let isReading = AsyncStream<Void>.makeStream()
        let follower = Task {
            var count = 0
            for try await _ in coordinator.persistentHistory(after: nil) {
                count += 1
                isReading.continuation.yield()
            }
            return count
        }
        try save(["a"], context)
        for await _ in isReading.stream { break }
        if isBusy { try save((0..<50).map { "\($0)" }, context) }
        try await coordinator.close()
        #expect(try await follower.value >= 1)
        // Whoever comes afterwards does not wait either, until stores are added again.
        var late = coordinator.persistentHistory(after: nil).makeAsyncIterator()
        #expect(try await late.next() == nil)
    }

    @Test(.timeLimit(.minutes(20))) func deletedHistoryThrows() async throws {
        let store = try TestStore(.memory)
        let context = store.context()
        try save(["a"], context)
        let token = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try save(["b", "c"], context)
        try context.performAndWait { () throws in
            _ = try context.execute(
                NSPersistentHistoryChangeRequest.deleteHistory(before: nil as NSPersistentHistoryToken?))
        }
        var iterator = store.coordinator.persistentHistory(after: token).makeAsyncIterator()
        let error = await #expect(throws: CocoaError.self) { try await iterator.next() }
        #expect(error?.errorCode == NSPersistentHistoryTokenExpiredError)
    }
}
