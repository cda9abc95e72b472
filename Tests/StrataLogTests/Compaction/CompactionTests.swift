import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Compaction by hand: what goes, what stays, and what the store shows then.
@Suite struct CompactionTests {
    /// A store with a workload behind it, and the workload's model.
    private static func worked(
        _ seed: UInt64, steps: Int = 60, compacts: Bool = false
    ) throws -> (fileSystem: SimulatedFileSystem, workload: StoreWorkload) {
        let fileSystem = SimulatedFileSystem()
        let workload = StoreWorkload(seed: seed, fileSystem: fileSystem, compacts: compacts)
        try workload.run(steps: steps)
        return (fileSystem, workload)
    }

    private static func segmentFiles(_ fileSystem: SimulatedFileSystem) throws -> [String] {
        try fileSystem.list(StoreWorkload.path).filter { $0.hasSuffix(".seg") }
    }

    private static func byteCount(_ fileSystem: SimulatedFileSystem) throws -> Int {
        try segmentFiles(fileSystem).reduce(0) { sum, name in
            sum + (try fileSystem.contents(of: StoreWorkload.path.appending(name)).count)
        }
    }

    @Test(arguments: 0..<UInt64(BuildMode.isDebug ? 4 : 12)) func contentsAndHistoryStay(seed: UInt64) throws {
        let (fileSystem, workload) = try Self.worked(seed)
        let store = try workload.opened()
        let before = try Self.segmentFiles(fileSystem)
        let report = try store.compact()
        #expect(report.segments > 0)
        try workload.model.check(store, "seed \(seed), after compaction")
        try workload.model.checkHistory(store, "seed \(seed), after compaction")
        let problems = try store.verify().problems
        #expect(problems.isEmpty, "seed \(seed): \(problems)")
        let after = try Self.segmentFiles(fileSystem)
        #expect(Set(after).isDisjoint(with: before.prefix(1)))
        // The log goes on.
        for _ in 0..<5 { try workload.commit() }
        try store.compact()
        try workload.model.check(store, "seed \(seed), after the second compaction")
        try workload.close()
        let reopened = try workload.opened()
        #expect(reopened.recovery.replayedTransactions == 0)
        try workload.model.check(reopened, "seed \(seed), opened again")
        try workload.model.checkHistory(reopened, "seed \(seed), opened again")
    }

    /// Without a checkpoint the index is made from a log with holes.
    @Test(arguments: 0..<UInt64(24)) func aLogWithHolesIsReplayed(seed: UInt64) throws {
        let (fileSystem, workload) = try Self.worked(seed, steps: 80, compacts: true)
        try workload.opened().compact()
        for _ in 0..<3 { try workload.commit() }
        let image = fileSystem.fork()
        for name in try image.list(StoreWorkload.path) where name.hasSuffix(".chk") {
            try image.unlink(StoreWorkload.path.appending(name))
        }
        let rebuilt = try StoreWorkload.open(image, StoreWorkload.options())
        #expect(rebuilt.recovery.checkpoint == nil)
        try workload.model.check(rebuilt, "seed \(seed)")
        try workload.model.checkHistory(rebuilt, "seed \(seed)")
        let problems = try rebuilt.verify().problems
        #expect(problems.isEmpty, "seed \(seed): \(problems)")
        let transaction = rebuilt.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: try rebuilt.allocateKeys(root: SampleSchema.person, count: 1))
        writer.endRow()
        _ = try rebuilt.commit(transaction)
        try rebuilt.close()
    }

    /// The older of two checkpoints has rows whose deletion was compacted away since.
    @Test func aCompactedStoreWithoutItsNewestCheckpointHasWhatItHad() throws {
        for seed in 0..<UInt64(12) {
            let (fileSystem, workload) = try Self.worked(seed, steps: 80)
            try workload.opened().checkpoint()
            for _ in 0..<10 { try workload.commit() }
            let store = try workload.opened()
            try store.compact()
            try store.checkpoint()
            for _ in 0..<3 { try workload.commit() }
            let image = fileSystem.fork()
            let checkpoints = try image.list(StoreWorkload.path).filter { $0.hasSuffix(".chk") }.sorted()
            let newest = try #require(checkpoints.last)
            try image.corrupt(StoreWorkload.path.appending(newest), .zero(0..<64))
            let rebuilt = try StoreWorkload.open(image, StoreWorkload.options())
            try workload.model.check(rebuilt, "seed \(seed)")
            try workload.model.checkHistory(rebuilt, "seed \(seed)")
            let problems = try rebuilt.verify().problems
            #expect(problems.isEmpty, "seed \(seed): \(problems)")
            try rebuilt.close()
        }
    }

    /// A segment that is missing without having been compacted away is damage.
    @Test func aMissingSegmentIsNoticed() throws {
        let (fileSystem, workload) = try Self.worked(3)
        try workload.opened().compact()
        for _ in 0..<10 { try workload.commit() }
        try workload.opened().compact()
        try workload.close()
        let names = try Self.segmentFiles(fileSystem)
        for name in names {
            let image = fileSystem.fork()
            try image.unlink(StoreWorkload.path.appending(name))
            let error = #expect(throws: StoreError.self, "\(name) is missing") {
                try StoreWorkload.open(image, StoreWorkload.options())
            }
            #expect(error?.code == .corruption)
        }
    }

    @Test func aSnapshotKeepsWhatItShows() throws {
        let (fileSystem, workload) = try Self.worked(5)
        let store = try workload.opened()
        let states = workload.model
        var pinned: Snapshot? = store.snapshot
        let refs = states.newest.keys.sorted()
        for _ in 0..<20 { try workload.commit() }
        try store.compact()
        store.dropCache()
        for ref in refs {
            let row = try #require(try pinned?.row(ref))
            #expect(try StoreModel.person(row, store) == states.newest[ref])
        }
        let held = try store.segmentStatistics().reduce(0) { $0 + $1.pinnedByteCount }
        #expect(held > 0)
        pinned = nil
        store.dropCache()
        let released = try store.segmentStatistics().reduce(0) { $0 + $1.pinnedByteCount }
        #expect(released == 0)
        try workload.model.check(store, "after the pin")
        withExtendedLifetime(fileSystem) {}
    }

    @Test func deletingMostShrinksTheDirectory() throws {
        let fileSystem = SimulatedFileSystem()
        var options = StoreWorkload.options()
        options.retention.historyFloor = .max
        let store = try StoreWorkload.open(fileSystem, options)
        var refs: [ObjectRef] = []
        for _ in 0..<40 { refs += try StoreTests.insert(store, 100, department: .null) }
        let before = try Self.byteCount(fileSystem)
        let transaction = store.makeTransaction()
        for (index, ref) in refs.enumerated() where index % 10 != 0 {
            try transaction.delete(ref, replacing: try #require(try store.snapshot.row(ref)).version)
        }
        _ = try store.commit(transaction)
        try store.compact()
        let after = try Self.byteCount(fileSystem)
        #expect(after * 5 < before, "\(before) bytes before, \(after) after")
        #expect(store.snapshot.count(entity: SampleSchema.person) == 400)
        #expect(try store.verify().problems.isEmpty)
        #expect(store.historyFloor > 0)
        var history = try store.history(after: 0)
        while try history.next() != nil {}
    }

    /// Transactions that a compaction has written down again, too, go once the history begins behind them.
    @Test func whatTheHistorysFloorHasPassedIsNotArchivedAgain() throws {
        let store = try StoreWorkload.open(SimulatedFileSystem(), StoreWorkload.options())
        for _ in 0..<6 { _ = try StoreTests.insert(store, 2, department: .null) }
        try store.compact()
        #expect(store.historyFloor == 0)
        store.setRetention(LogRetention(historyFloor: 3))
        _ = try StoreTests.insert(store, 2, department: .null)
        try store.compact()
        #expect(store.historyFloor == 3)
        var history = try store.history(after: 3)
        var found: [UInt64] = []
        while let transaction = try history.next() { found.append(transaction.sequence) }
        #expect(found == [4, 5, 6, 7])
    }

    @Test func aSaveThatReadTheRowBeforeDoesNotConflict() throws {
        let fileSystem = SimulatedFileSystem()
        let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        let people = try StoreTests.insert(store, 3, department: ObjectRef(entity: SampleSchema.department, key: 1))
        let version = try #require(try store.snapshot.row(people[0])).version
        let victim = try #require(try store.snapshot.row(people[1])).version
        try store.compact()
        store.dropCache()
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        var changed = SlotSet()
        for slot in [0, 4] { changed.insert(slot) }
        try writer.beginUpdate(key: people[0].key, replacing: version, changed: changed)
        writer.set(0, "new")
        writer.endRow()
        try transaction.delete(people[1], replacing: victim)
        transaction.require(people[2], at: try #require(try store.snapshot.row(people[2])).version)
        _ = try store.commit(transaction)
        let members = try store.snapshot.referrers(
            postings: SampleSchema.postings, to: ObjectRef(entity: SampleSchema.department, key: 1))
        #expect(members == [people[2]])
        #expect(try store.verify().problems.isEmpty)
    }

    @Test func aTransactionBegunBeforeKeepsItsLargeValue() throws {
        let fileSystem = SimulatedFileSystem()
        let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        let notes = [UInt8](repeating: 7, count: 100_000)
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let first = store.makeTransaction()
        let inserter = first.writer(for: SampleSchema.person)
        inserter.beginInsert(key: key)
        notes.withUnsafeBytes { inserter.set(6, bytes: $0) }
        inserter.endRow()
        _ = try store.commit(first)
        let ref = ObjectRef(entity: SampleSchema.person, key: key)
        for round in 0..<3 {
            let row = try #require(try store.snapshot.row(ref))
            // Round 0 refers to the value before the compaction, and is committed in the middle of it.
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.person)
            var changed = SlotSet()
            changed.insert(1)
            func fill() throws {
                try writer.beginUpdate(key: key, replacing: row.version, changed: changed)
                writer.set(1, Int16(round))
                try writer.copy(6, from: row, slot: 6)
                writer.endRow()
            }
            if round == 0 { try fill() }
            var isCommitted = false
            try store.compact { _ in
                guard !isCommitted else { return true }
                isCommitted = true
                do {
                    if round == 1 { try fill() }
                    if round < 2 { _ = try store.commit(transaction) }
                } catch {
                    Issue.record("round \(round): \(error)")
                }
                return true
            }
            if round == 2 {
                try fill()
                _ = try store.commit(transaction)
            }
            store.dropCache()
            let person = try StoreModel.person(try #require(try store.snapshot.row(ref)), store)
            #expect(person.age == Int16(round))
            #expect(person.notes == notes)
            #expect(try store.verify().problems.isEmpty)
        }
    }

    /// A row that was written again refers to the value where it lies: it is counted there, and once.
    @Test func aLargeValueCountsOnce() throws {
        var options = StoreWorkload.options()
        options.segmentMaximumBytes = 4 << 20
        let store = try StoreWorkload.open(SimulatedFileSystem(), options)
        let key = try store.allocateKeys(root: SampleSchema.person, count: 3)
        let ref = ObjectRef(entity: SampleSchema.person, key: key)
        var generator = SeededGenerator(seed: 6)
        let notes = (0..<100_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        for round in 0..<3 {
            let row = try store.snapshot.row(ref)
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.person)
            if let row {
                try writer.beginUpdate(key: key, replacing: row.version, changed: SlotSet([1]))
                try writer.copy(6, from: row, slot: 6)
                writer.set(1, Int16(round))
                writer.endRow()
            }
            // Another one with a value of its own.
            writer.beginInsert(key: key + UInt64(round))
            notes.withUnsafeBytes { writer.set(6, bytes: $0) }
            writer.endRow()
            _ = try store.commit(transaction)
        }
        try store.withWriter { writer throws(StoreError) in try writer.leaveSegment() }
        _ = try StoreTests.insert(store, 1, department: .null)
        let statistics = try #require(try store.segmentStatistics().first)
        let stored = try #require(try store.snapshot.row(ref)).block.column(6).external(0).storedByteCount
        #expect(statistics.segment == 1)
        #expect((3..<4).contains(statistics.liveByteCount / Int(stored)), "\(statistics.liveByteCount) of \(stored)")
    }

    @Test func nothingFollowsOnceItIsStopped() throws {
        let store = try StoreWorkload.open(SimulatedFileSystem(), StoreWorkload.options())
        let people = try StoreTests.insert(store, 10, department: .null)
        var calls = 0
        let error = #expect(throws: StoreError.self) {
            try store.compact { _ in
                calls += 1
                return false
            }
        }
        #expect(error?.code == .cancelled && calls == 1)
        // It is asked behind each record, and before a segment goes.
        #expect(try store.segmentStatistics().first?.segment == 1)
        for person in people { #expect(try store.snapshot.row(person) != nil) }
    }

    @Test func stoppingLeavesAGoodStore() throws {
        let (_, workload) = try Self.worked(8)
        let store = try workload.opened()
        var calls = 0
        let error = #expect(throws: StoreError.self) {
            try store.compact { _ in
                calls += 1
                return calls < 3
            }
        }
        #expect(error?.code == .cancelled)
        try workload.model.check(store, "stopped")
        #expect(try store.verify().problems.isEmpty)
        let report = try store.compact()
        #expect(report.segments > 0)
        try workload.model.check(store, "finished")
    }

    /// What a refused commit wanted to replace or delete is all still there, in a compaction that goes on and after it.
    @Test(arguments: [SimulatedFileSystem.Call.write, .syncData], 0..<UInt64(6))
    func aCommitThatIsRefusedMeanwhileLosesNothing(_ call: SimulatedFileSystem.Call, seed: UInt64) throws {
        let (fileSystem, workload) = try Self.worked(seed + 40)
        let store = try workload.opened()
        var refused = 0
        var states = [workload.model.states.count]
        var failure: (any Error)?
        let report = try store.compact { _ in
            do {
                // A write that fails is rolled back; after a flush that failed, the records are written again
                // elsewhere.
                fileSystem.inject(.init(.fail(call == .write ? .noSpace : .ioError), of: call))
                defer { fileSystem.removeFaults() }
                do {
                    try workload.commit()
                } catch let error as StoreError where error.code == .io {
                    refused += 1
                    workload.model.cut(after: store.snapshot.sequence)
                }
                try workload.model.check(store, "\(call), seed \(seed), step \(states.count)")
                states.append(workload.model.states.count)
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
        #expect(report.segments > 0)
        #expect(
            call == .write ? refused == states.count - 1 : states.last == states.first.map { $0 + states.count - 1 })
        try workload.model.check(store, "\(call), seed \(seed), compacted")
        #expect(try store.verify().problems.isEmpty)
        try workload.commit()
        for policy in [SimulatedFileSystem.CrashPolicy.killed, .strict] {
            let image = fileSystem.crashImage(policy: policy, seed: seed)
            let opened = try StoreWorkload.open(image, StoreWorkload.options())
            try workload.model.check(opened, "\(call), seed \(seed), \(policy)")
        }
    }

    /// Rows that are replaced over and over do not fill the disk, and nobody has to ask for it.
    @Test func theBackgroundCompacts() async throws {
        let fileSystem = MemoryFileSystem()
        var options = StoreWorkload.options()
        options.compaction.isAutomatic = true
        options.checkpointTailBytes = 64 << 20
        options.retention.historyFloor = .max
        let store = try StoreWorkload.open(fileSystem, options)
        let people = try StoreTests.insert(store, 200, department: .null)
        var generator = SeededGenerator(seed: 4)
        var ages: [UInt64: Int16] = [:]
        var rounds = 0
        while rounds < 40 || (store.statistics.compactions == 0 && rounds < 400) {
            rounds += 1
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.person)
            var changed = SlotSet()
            for slot in [1, 6] { changed.insert(slot) }
            for person in people {
                let row = try #require(try store.snapshot.row(person))
                try writer.beginUpdate(key: person.key, replacing: row.version, changed: changed)
                ages[person.key] = Int16(generator.below(100))
                writer.set(1, ages[person.key] ?? 0)
                let notes = (0..<125).map { _ in generator.next() }
                notes.withUnsafeBytes { writer.set(6, bytes: $0) }
                writer.endRow()
            }
            _ = try store.commit(transaction)
        }
        #expect(store.statistics.compactions > 0)
        #expect(store.statistics.failedCompactions == 0)
        for person in people {
            let row = try #require(try store.snapshot.row(person))
            #expect(try StoreModel.person(row, store).age == ages[person.key])
        }
        #expect(try store.verify().problems.isEmpty)
        try store.close()
        let files = try fileSystem.list(StoreWorkload.path).filter { $0.hasSuffix(".seg") }
        #expect(!files.contains("00000001.seg"))
    }

    @Test func rowsThatAPolicyKeepsStay() throws {
        let (fileSystem, workload) = try Self.worked(9)
        let store = try workload.opened()
        store.setRetention(LogRetention(rowsFloor: 0))
        let before = try Self.segmentFiles(fileSystem)
        try store.compact()
        let statistics = try store.segmentStatistics()
        #expect(statistics.contains { $0.pinnedByteCount > 0 })
        for segment in statistics where segment.pinnedByteCount > 0 {
            #expect(before.contains { UInt32($0.prefix(8), radix: 16) == segment.segment })
        }
        store.setRetention(LogRetention())
        #expect(try store.compact().segments > 0)
        try workload.model.check(store, "after the policy")
    }

    /// A checkpoint whose tail has a hole would not be used: it does not go on taking space.
    @Test(arguments: 0..<UInt64(12)) func aCheckpointThatIsOfNoUseGoes(seed: UInt64) throws {
        let (fileSystem, workload) = try Self.worked(seed + 60)
        let store = try workload.opened()
        try store.checkpoint()
        try workload.commit()
        try store.checkpoint()
        try store.compact()
        let checkpoints = try fileSystem.list(StoreWorkload.path).filter { $0.hasSuffix(".chk") }
        #expect(!checkpoints.isEmpty)
        for kept in checkpoints {
            let image = fileSystem.fork()
            for name in checkpoints where name != kept { try image.unlink(StoreWorkload.path.appending(name)) }
            let opened = try StoreWorkload.open(image, StoreWorkload.options())
            #expect(opened.recovery.checkpoint != nil, "seed \(seed): \(opened.recovery.damagedCheckpoints)")
            try workload.model.check(opened, "seed \(seed), \(kept)")
        }
    }

    /// Victims that need no checkpoint come before better ones that do, if they are enough.
    @Test func victimsBehindTheCheckpointComeLast() {
        func segment(_ number: UInt32, live: Int) -> SegmentStatistics {
            SegmentStatistics(
                segment: number, byteCount: 100, liveByteCount: live, historyByteCount: 0, deadByteCount: 100 - live,
                pinnedByteCount: 0, ageSequence: 1, isCurrent: false)
        }
        let segments = [segment(1, live: 40), segment(2, live: 100), segment(3, live: 10), segment(4, live: 90)]
        func victims(_ target: Double, before checkpoint: UInt32) -> [UInt32] {
            CompactionPolicy(target: target, sequence: 10).victims(segments, before: checkpoint).map(\.segment)
        }
        #expect(victims(0.65, before: 5) == [3])
        #expect(victims(0.65, before: 3) == [1])
        // Not enough by itself: the best of all, whatever that takes.
        #expect(victims(0.75, before: 3) == [3])
        #expect(victims(0.9, before: 3) == [3, 1])
        #expect(victims(0.5, before: 3).isEmpty)
    }
}
