import StrataIO
import StrataSupport
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

/// The rule by which commits keep step with compaction, by a clock and bytes that are only counted.
@Suite struct CompactionPaceTests {
    /// A writer that replaces all it writes, beside a compaction that frees its batches whole.
    private struct Storm {
        static let target = 0.7
        static let needed = 10_000_000
        static let commitByteCount = 100_000
        static let commitNanoseconds = 2_500_000.0
        static let batchByteCount = 1_000_000

        var pace = CompactionPace()
        var used = Int(Double(needed) / target)
        var delays: [Double] = []
        var largestUsed = 0
        /// What compaction has done of the batch that is under way.
        private var batchNanoseconds = 0.0

        /// - Parameter nanosecondsPerByte: of compaction, all of the time.
        mutating func run(commits: Int, nanosecondsPerByte: Double) {
            let batch = nanosecondsPerByte * Double(Self.batchByteCount)
            for _ in 0..<commits {
                used += Self.commitByteCount
                let share = CompactionPace.share(used: used, needed: Self.needed, target: Self.target)
                let delay = pace.delay(replaced: Self.commitByteCount, share: share, after: Self.commitNanoseconds)
                delays.append(delay)
                largestUsed = max(largestUsed, used)
                batchNanoseconds += Self.commitNanoseconds + delay
                while batchNanoseconds >= batch {
                    batchNanoseconds -= batch
                    // What is moved lies there twice until then.
                    pace.record(freed: Self.batchByteCount * 2, written: Self.batchByteCount, nanoseconds: batch)
                    if used > Self.needed + Self.batchByteCount { used -= Self.batchByteCount }
                }
            }
        }
    }

    /// As fast as the writer, twice as slow, and four times; as the steady state has it, no commit takes three times
    /// the usual.
    @Test(arguments: [5.0, 25, 50, 100]) func aStormIsKeptInBoundsEvenly(nanosecondsPerByte: Double) {
        var storm = Storm()
        storm.run(commits: 5_000, nanosecondsPerByte: nanosecondsPerByte)
        let bound = 1 / Storm.target + CompactionPace.full
        let slack = Storm.batchByteCount + Storm.commitByteCount
        #expect(storm.largestUsed <= Int(bound * Double(Storm.needed)) + slack)
        let times = storm.delays.suffix(4_000).map { $0 + Storm.commitNanoseconds }.sorted()
        #expect(times[3_960] <= 3 * times[2_000], "\(times[2_000]) and \(times[3_960])")
        if nanosecondsPerByte == 5 { #expect(storm.delays.allSatisfy { $0 == 0 }) }
        // The writer is as fast as compaction, not slower.
        let total = times.reduce(0, +)
        let owed = Double(4_000 * Storm.commitByteCount) * nanosecondsPerByte
        #expect(total <= max(owed, 4_000 * Storm.commitNanoseconds) * 1.1)
    }

    @Test func nobodyWaitsForWhatOthersDid() {
        var pace = CompactionPace()
        pace.record(freed: 2_000_000, written: 1_000_000, nanoseconds: 50_000_000)
        #expect(pace.nanosecondsPerByte == 50)
        // Garbage without end, and a commit that only deletes or inserts.
        #expect(pace.delay(replaced: 0, share: 1, after: 1_000_000) == 0)
        // In proportion to what is replaced, up to a bound;
        #expect(pace.delay(replaced: 1_000, share: 1, after: 1_000_000) == 50_000)
        #expect(pace.delay(replaced: 10_000, share: 0.5, after: 1_000_000) == 250_000)
        #expect(pace.delay(replaced: 1 << 30, share: 1, after: 1_000_000) == CompactionPace.maximumNanoseconds)
        // which is as long as the commit for one that took longer.
        #expect(pace.delay(replaced: 1 << 30, share: 1, after: 3e9) == 3e9)
    }

    @Test func theShareGrowsWithTheExcess() {
        func share(_ ratio: Double) -> Double {
            CompactionPace.share(used: Int(ratio * 1_000_000), needed: 1_000_000, target: 0.5)
        }
        #expect(share(1) == 0)
        #expect(share(1.999 + CompactionPace.grace) == 0)
        #expect(abs(share(2 + (CompactionPace.grace + CompactionPace.full) / 2) - 0.5) < 0.001)
        #expect(share(2.001 + CompactionPace.full) == 1)
        #expect(share(9) == 1)
        #expect(CompactionPace.share(used: 1, needed: 0, target: 0.5) == 0)
    }

    /// Batches that free nothing, as where snapshots hold on to the segments, do not make a byte cost without end.
    @Test func thePaceFollowsTheLastBatches() {
        var pace = CompactionPace()
        pace.record(freed: 0, written: 1_000, nanoseconds: 1_000_000)
        #expect(pace.nanosecondsPerByte == 20)
        for _ in 0..<40 { pace.record(freed: 3_000_000, written: 2_000_000, nanoseconds: 10_000_000) }
        #expect(abs(pace.nanosecondsPerByte - 10) < 0.01)
        pace.record(freed: 3_000_000, written: 2_000_000, nanoseconds: 110_000_000)
        #expect(pace.nanosecondsPerByte > 30 && pace.nanosecondsPerByte < 40)
    }

    /// Commits add to what is needed before anybody has looked how much that is.
    @Test func nobodyWaitsBeforeTheFirstSurvey() {
        var schedule = CompactionSchedule()
        schedule.isRunning = true
        schedule.newByteCount = 1_000_000
        schedule.neededByteCount = 1_000
        #expect(schedule.delay(replaced: 1_000_000, target: 0.7, after: 0) == 0)
        schedule.usedByteCount = 1_000
        #expect(schedule.delay(replaced: 1_000_000, target: 0.7, after: 0) > 0)
        schedule.isRunning = false
        #expect(schedule.delay(replaced: 1_000_000, target: 0.7, after: 0) == 0)
    }

    /// It takes time in proportion to the objects.
    @Test func nobodyLooksAfterEachCommit() throws {
        var options = StoreTests.options()
        options.compaction.isAutomatic = true
        let store = try LogStore.open(
            "/pace", in: SimulatedFileSystem(), options: options, schema: SampleSchema.schema)
        for _ in 0..<3 { _ = try StoreTests.insert(store, 10, department: .null) }
        let schedule = store.state.withLock { $0.compactionSchedule }
        #expect(!schedule.isRunning && schedule.completed == 0 && schedule.failed == 0)
    }

    /// However much there is to do.
    @Test(arguments: [true, false]) func theBackgroundWorksOnlyWhereItIsWanted(isAutomatic: Bool) throws {
        var options = StoreTests.options()
        options.compaction.isAutomatic = isAutomatic
        let store = try LogStore.open(
            "/pace", in: SimulatedFileSystem(), options: options, schema: SampleSchema.schema)
        store.state.withLock { $0.compactionSchedule.dueByteCount = 0 }
        _ = try StoreTests.insert(store, 10, department: .null)
        let schedule = store.state.withLock { $0.compactionSchedule }
        #expect((schedule.isRunning || schedule.completed > 0) == isAutomatic)
        try store.close()
    }

    /// A compaction by hand moves segments that hold little garbage: it seems slow.
    @Test func aCompactionByHandSaysNothingAboutTheBackground() throws {
        var options = StoreTests.options()
        options.compaction.isAutomatic = false
        let store = try LogStore.open(
            "/pace", in: SimulatedFileSystem(), options: options, schema: SampleSchema.schema)
        _ = try StoreTests.insert(store, 100, department: .null)
        let before = store.state.withLock { $0.compactionSchedule.pace.nanosecondsPerByte }
        #expect(try store.compact().segments > 0)
        #expect(store.state.withLock { $0.compactionSchedule.pace.nanosecondsPerByte } == before)
    }

    /// Only rows that replace others are counted; what is new is needed.
    @Test func transactionsKnowWhatTheyReplace() throws {
        let fileSystem = SimulatedFileSystem()
        let store = try LogStore.open("/pace", in: fileSystem, schema: SampleSchema.schema)
        func prepared(_ fill: (EntityWriter, WriteTransaction) throws -> Void) throws -> PreparedTransaction {
            let transaction = store.makeTransaction()
            try fill(transaction.writer(for: SampleSchema.person), transaction)
            return try PreparedTransaction(transaction)
        }
        let inserting = store.makeTransaction()
        let writer = inserting.writer(for: SampleSchema.person)
        for key in 1...UInt64(100) {
            writer.beginInsert(key: key)
            writer.set(0, "person \(key)")
            writer.endRow()
        }
        _ = try store.commit(inserting)
        #expect(store.state.withLock { $0.compactionSchedule.neededByteCount } > 0)
        let rows = try (1...UInt64(100)).compactMap {
            try store.snapshot.row(ObjectRef(entity: SampleSchema.person, key: $0))
        }
        let inserted = try prepared { writer, _ in
            writer.beginInsert(key: 1_000)
            writer.set(0, "new")
            writer.endRow()
        }
        #expect(inserted.replacingByteCount == 0)
        let deleted = try prepared { _, transaction in
            for row in rows { try transaction.delete(row.ref, replacing: row.version) }
        }
        #expect(deleted.replacingByteCount == 0)
        let updated = try prepared { writer, _ in
            for row in rows {
                try writer.beginUpdate(key: row.ref.key, replacing: row.version, changed: SlotSet([0]))
                writer.set(0, "another \(row.ref.key &* 0x9E37_79B9_7F4A_7C15)")
                writer.endRow()
            }
        }
        #expect(updated.replacingByteCount > 1_000 && updated.replacingByteCount < updated.byteCount)
        try store.close()
    }
}
