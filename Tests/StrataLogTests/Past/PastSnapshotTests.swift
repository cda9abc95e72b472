import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

@Suite struct PastSnapshotTests {
    /// Every state of a random history can be looked at, whole: rows, counts, relationships.
    @Test func everyTransactionCanBeLookedAt() throws {
        for _ in 0..<6 {
            let seed = UInt64.random(in: 0...UInt64.max)
            let fileSystem = SimulatedFileSystem()
            let workload = StoreWorkload(seed: seed, fileSystem: fileSystem)
            try workload.run(steps: 60)
            let store = try workload.opened()
            for sequence in workload.model.states.indices.shuffled().prefix(25) {
                let past = try store.snapshot(at: UInt64(sequence))
                #expect(past.sequence == UInt64(sequence))
                try workload.model.check(store, at: past, "seed \(seed), transaction \(sequence)")
            }
            try workload.close()
        }
    }

    /// Compaction may make a state expire, but never change it.
    @Test func statesOfACompactedStoreAreRightOrExpired() throws {
        var shown = 0
        var expired = 0
        for _ in 0..<6 {
            let seed = UInt64.random(in: 0...UInt64.max)
            let workload = StoreWorkload(seed: seed, fileSystem: SimulatedFileSystem(), compacts: true)
            try workload.run(steps: 60)
            let store = try workload.opened()
            for sequence in workload.model.states.indices {
                do {
                    let past = try store.snapshot(at: UInt64(sequence))
                    store.dropCache()
                    try workload.model.check(store, at: past, "seed \(seed), transaction \(sequence)")
                    shown += 1
                } catch let error as StoreError {
                    #expect(error.code == .expired, "seed \(seed), transaction \(sequence): \(error)")
                    expired += 1
                }
            }
            try workload.close()
        }
        #expect(shown > 0 && expired > 0)
    }

    /// States since a floor that rises stay, however often the store is compacted; what is older than it gives its
    /// space back.
    @Test func statesSinceTheFloorStay() throws {
        var freed = 0
        for _ in 0..<6 {
            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SeededGenerator(seed: seed)
            let workload = StoreWorkload(seed: seed, fileSystem: SimulatedFileSystem())
            let store = try workload.opened()
            var floor: UInt64 = 0
            store.setRetention(LogRetention(rowsFloor: 0))
            for round in 0..<150 {
                try workload.commit()
                if random.chance(0.2) {
                    try store.withWriter { writer throws(StoreError) in try writer.leaveSegment() }
                }
                if random.chance(0.1) {
                    floor = UInt64.random(in: floor...store.snapshot.sequence, using: &random)
                    store.setRetention(LogRetention(rowsFloor: floor))
                }
                if random.chance(0.2) { freed += try store.compact().segments }
                guard random.chance(0.3) else { continue }
                let sequence = UInt64.random(in: floor...store.snapshot.sequence, using: &random)
                let comment = "seed \(seed), round \(round), transaction \(sequence), floor \(floor)"
                store.dropCache()
                try workload.model.check(store, at: try store.snapshot(at: sequence), comment)
            }
            try workload.close()
        }
        #expect(freed > 0)
    }

    /// What is committed later, closing and opening again change nothing in a past state that somebody holds.
    @Test func aPastStateStays() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let workload = StoreWorkload(seed: seed, fileSystem: SimulatedFileSystem())
        try workload.run(steps: 30)
        let store = try workload.opened()
        let sequence = store.snapshot.sequence / 2
        let past = try store.snapshot(at: sequence)
        for _ in 0..<30 { try workload.commit() }
        store.dropCache()
        try workload.model.check(store, at: past, "seed \(seed)")
    }

    @Test func aTransactionThatIsNotThereYetIsRefused() throws {
        let store = try LogStore.open(
            "/store", in: MemoryFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
        _ = try StoreTests.makeDepartment(store)
        #expect { try store.snapshot(at: 2) } throws: { ($0 as? StoreError)?.code == .invalidArgument }
        #expect(try store.snapshot(at: 0).count(entity: SampleSchema.department) == 0)
        #expect(try store.snapshot(at: 1) === store.snapshot)
    }

    /// A time names the last transaction that was made by then, also across segments.
    @Test func timesNameTransactions() throws {
        let clock = StepClock()
        var options = StoreTests.options()
        options.clock = { clock.now() }
        options.segmentMaximumBytes = 64 << 10
        let store = try LogStore.open(
            "/store", in: MemoryFileSystem(), options: options, schema: SampleSchema.schema)
        let department = try StoreTests.makeDepartment(store)
        for _ in 0..<120 { _ = try StoreTests.insert(store, 40, department: department) }
        #expect(store.statistics.newestSegment > 2)
        var times: [Int64] = []
        var history = try store.history(after: 0)
        while let transaction = try history.next() { times.append(transaction.timestampNanoseconds) }
        #expect(try store.sequence(atNanoseconds: times[0] - 1) == 0)
        for (index, time) in times.enumerated() {
            #expect(try store.sequence(atNanoseconds: time) == UInt64(index + 1))
            #expect(try store.sequence(atNanoseconds: time + 1) == UInt64(index + 1))
        }
        #expect(try store.sequence(atNanoseconds: .max) == 121)
        let segments = try store.segmentSummaries()
        let whole = segments.reduce(0) { $0 + $1.byteCount }
        #expect(try store.sequence(keepingBytes: whole) == 0)
        #expect(try store.sequence(keepingBytes: 1) == segments[segments.count - 1].previousSequence)
        let twoNewest = segments.suffix(2).reduce(0) { $0 + $1.byteCount }
        #expect(try store.sequence(keepingBytes: twoNewest) == segments[segments.count - 2].previousSequence)
        // Times do not go with the segments.
        let transaction = store.makeTransaction()
        let rows = try contents(of: store)
        for (ref, version) in rows { try transaction.delete(ref, replacing: version) }
        _ = try store.commit(transaction)
        #expect(try store.compact().segments > 0)
        for (index, time) in times.enumerated() {
            #expect(try store.sequence(atNanoseconds: time) == UInt64(index + 1))
        }
        #expect(try store.sequence(atNanoseconds: times[0] - 1) == 0)
    }

    /// Clocks are set back: what follows a later transaction is not of an earlier time, across segments, compaction and
    /// what is remembered of the times.
    @Test func timesGoByTheLongestBeginningOfWhichNothingIsLater() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let times = Mutex<[Int64]>((0..<400).map { Int64($0 * 10) + .random(in: -200...200, using: &random) + 1_000 })
        let given = times.withLock { $0 }
        let next = Mutex(0)
        var options = StoreTests.options()
        options.clock = { next.withLock { given[min($0, given.count - 1)] } }
        options.segmentMaximumBytes = 64 << 10
        let store = try LogStore.open(
            "/store", in: MemoryFileSystem(), options: options, schema: SampleSchema.schema)
        let department = try StoreTests.makeDepartment(store)
        for index in 1..<150 {
            next.withLock { $0 = index }
            _ = try StoreTests.insert(store, 40, department: department)
        }
        func check() throws {
            var history = try store.history(after: 0)
            var committed: [Int64] = []
            while let transaction = try history.next() { committed.append(transaction.timestampNanoseconds) }
            for time in stride(from: Int64(700), through: 2_800, by: 35) {
                let wanted = committed.firstIndex { $0 > time } ?? committed.count
                #expect(try store.sequence(atNanoseconds: time) == UInt64(wanted), "seed \(seed), \(time)")
            }
        }
        try check()
        let transaction = store.makeTransaction()
        for (ref, version) in try contents(of: store) { try transaction.delete(ref, replacing: version) }
        _ = try store.commit(transaction)
        #expect(try store.compact().segments > 0)
        try check()
    }

    private func contents(of store: LogStore) throws -> [(ObjectRef, RowVersion)] {
        var found: [(ObjectRef, RowVersion)] = []
        try store.snapshot.forEachRun(root: SampleSchema.person) { run throws(StoreError) in
            for index in 0..<run.count {
                let row = try store.row(at: Location(rawValue: run.location.rawValue + UInt64(index)))
                found.append((row.ref, row.version))
            }
            return true
        }
        return found
    }

    /// The difference of any two states is that of their contents, whichever is the earlier.
    @Test func differencesAreThoseOfTheContents() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let workload = StoreWorkload(seed: seed, fileSystem: SimulatedFileSystem())
        try workload.run(steps: 60)
        let store = try workload.opened()
        let states = workload.model.states
        for _ in 0..<30 {
            let (from, to) = (
                states.indices.randomElement(using: &random)!, states.indices.randomElement(using: &random)!
            )
            var difference = try store.difference(from: UInt64(from), to: UInt64(to))
            var seen: Set<ObjectRef> = []
            while let change = try difference.next() {
                #expect(seen.insert(change.ref).inserted, "seed \(seed): \(change.ref.key) twice")
                let before = try change.before.map { try StoreModel.person($0, store) }
                let after = try change.after.map { try StoreModel.person($0, store) }
                #expect(before == states[from][change.ref], "seed \(seed): \(from) to \(to)")
                #expect(after == states[to][change.ref], "seed \(seed): \(from) to \(to)")
            }
            let differing = Set(states[from].keys).union(states[to].keys).filter {
                states[from][$0] != states[to][$0]
            }
            #expect(seen.isSuperset(of: differing), "seed \(seed): \(from) to \(to)")
        }
    }

    /// Bytes that were changed on the disk are found, not shown.
    @Test func damageIsFound() throws {
        let fileSystem = SimulatedFileSystem()
        let workload = StoreWorkload(seed: 7, fileSystem: fileSystem)
        try workload.run(steps: 40)
        try workload.close()
        let store = try workload.opened()
        let newest = store.snapshot.sequence
        var damaged = 0
        for sequence in 1..<newest {
            fileSystem.inject(SimulatedFileSystem.Fault(.fail(.ioError), atCall: 1, of: .read))
            do {
                let past = try store.snapshot(at: sequence)
                fileSystem.removeFaults()
                try workload.model.check(store, at: past, "transaction \(sequence)")
            } catch let error as StoreError {
                #expect(error.code == .io)
                damaged += 1
            }
            fileSystem.removeFaults()
        }
        #expect(damaged > 0)
    }
}

/// A clock that goes on by 10 each time it is looked at.
private final class StepClock: Sendable {
    private let time = Mutex<Int64>(1_000)

    func now() -> Int64 {
        time.withLock { time in
            time += 10
            return time
        }
    }
}
