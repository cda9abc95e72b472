import StrataIO
import StrataSupport
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

/// A store that rests exchanges what memory has of its index for a checkpoint.
@Suite struct QuietCheckpointTests {
    private static let path = FilePath("/store")

    private static func options(inBackground: Bool = true) -> LogOptions {
        var options = StoreTests.options()
        options.checkpointsInBackground = inBackground
        options.compaction.isAutomatic = false
        return options
    }

    /// More log than memory is worth keeping for.
    private static func fill(_ store: LogStore) throws -> [ObjectRef] {
        let department = try StoreTests.makeDepartment(store)
        var persons: [ObjectRef] = []
        while store.state.withLock({ $0.bytesSinceCheckpoint }) < 3 << 19 {
            persons += try StoreTests.insert(store, 2_000, department: department)
        }
        return persons
    }

    private static func residentPages(_ store: LogStore) -> Int {
        store.snapshot.indexes.reduce(0) { $0 + $1.residentPageCount }
    }

    private static func expectAll(_ persons: [ObjectRef], _ store: LogStore) throws {
        #expect(store.snapshot.count(entity: SampleSchema.person) == persons.count)
        for person in persons {
            let row = try #require(try store.snapshot.row(person))
            #expect(try row.block.column(0).string(row.index) == "person \(person.key)")
        }
    }

    @Test func pagesOfTheIndexGoAndAreReadAgain() throws {
        let fileSystem = MemoryFileSystem()
        let store = try LogStore.open(Self.path, in: fileSystem, options: Self.options(), schema: SampleSchema.schema)
        var persons = try Self.fill(store)
        let before = store.snapshot
        let pages = Self.residentPages(store)
        store.rest()
        #expect(store.state.withLock { $0.checkpoint } == 1)
        #expect(Self.residentPages(store) == 0 && pages > 0)
        try Self.expectAll(persons, store)
        // Who has the snapshot of before goes on seeing it, and commits go on from the new one.
        persons += try StoreTests.insert(store, 10, department: try StoreTests.makeDepartment(store))
        #expect(before.count(entity: SampleSchema.person) == persons.count - 10)
        try Self.expectAll(persons, store)
        try store.close()
        let reopened = try LogStore.open(Self.path, in: fileSystem, options: Self.options(), schema: nil)
        try Self.expectAll(persons, reopened)
    }

    @Test func whatIsWrittenMeanwhileStaysInMemory() throws {
        let store = try LogStore.open(
            Self.path, in: MemoryFileSystem(), options: Self.options(), schema: SampleSchema.schema)
        var persons = try Self.fill(store)
        let sealed = try store.snapshot.sealed()
        store.published.withLock { $0 = sealed }
        // Not the number that the store itself would take next, should it rest meanwhile.
        try Checkpoint.write(number: 7, snapshot: sealed, storeState: store.state.withLock { $0.storeState })
        persons += try StoreTests.insert(store, 10, department: try StoreTests.makeDepartment(store))
        let reopened = try Checkpoint.open(number: 7, source: store.source, removesDamaged: false).snapshot
        let rebased = store.snapshot.rebased(onto: reopened, from: sealed, letsPagesGo: true)
        #expect(rebased.count(entity: SampleSchema.person) == persons.count)
        #expect(try rebased.row(try #require(persons.last)) != nil)
    }

    @Test func aStoreWithLittleToReplayIsLeftAlone() throws {
        let fileSystem = MemoryFileSystem()
        let store = try LogStore.open(Self.path, in: fileSystem, options: Self.options(), schema: SampleSchema.schema)
        _ = try StoreTests.insert(store, 10, department: try StoreTests.makeDepartment(store))
        store.rest()
        #expect(store.state.withLock { $0.checkpoint } == 0)
        #expect(Self.residentPages(store) > 0)
    }

    @Test func aClosedStoreIsLeftAlone() throws {
        let fileSystem = MemoryFileSystem()
        let store = try LogStore.open(Self.path, in: fileSystem, options: Self.options(), schema: SampleSchema.schema)
        _ = try Self.fill(store)
        try store.close()
        let files = try fileSystem.list(Self.path).sorted()
        store.rest()
        #expect(try fileSystem.list(Self.path).sorted() == files)
    }

    @Test func aBudgetTellsItsListenersBeforeTheHeapIsTrimmed() async throws {
        final class Listener: QuietListener {
            let budget: MemoryBudget
            let trims = Mutex<Int?>(nil)
            init(_ budget: MemoryBudget) { self.budget = budget }
            func quietPassed() {
                let count = budget.trims
                trims.withLock { $0 = $0 ?? count }
            }
        }
        let budget = MemoryBudget(limitBytes: 1_000, intervalMilliseconds: 10)
        let listener = Listener(budget)
        budget.listen(listener)
        budget.recordUse()
        for _ in 0..<2_000 where budget.trims == 0 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(listener.trims.withLock { $0 } == 0 && budget.trims > 0)
        budget.ignore(ObjectIdentifier(listener))
    }

    @Test func aBudgetTellsItsListenersAgainWhileNothingHappensAndTrimsTheHeapOnce() async throws {
        final class Listener: QuietListener {
            let count = Mutex(0)
            func quietPassed() { count.withLock { $0 += 1 } }
        }
        let budget = MemoryBudget(limitBytes: 1_000, intervalMilliseconds: 10)
        let listener = Listener()
        budget.listen(listener)
        func wait(for condition: () -> Bool) async throws {
            for _ in 0..<2_000 where !condition() { try await Task.sleep(for: .milliseconds(5)) }
            try #require(condition())
        }
        // The first interval has the use that is the beginning of listening; what follows has none.
        try await wait { listener.count.withLock { $0 } >= 2 }
        let trims = budget.trims
        try await wait { listener.count.withLock { $0 } >= 8 }
        #expect(budget.trims <= trims + 1 && budget.isLookingAfter)
        budget.ignore(ObjectIdentifier(listener))
        try await wait { !budget.isLookingAfter }
        let count = listener.count.withLock { $0 }
        budget.recordUse()
        try await wait { !budget.isLookingAfter }
        #expect(listener.count.withLock { $0 } == count)
    }
}
