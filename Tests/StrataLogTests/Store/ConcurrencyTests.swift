import Foundation
import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

/// Many threads on one store. Meant to be run under the thread sanitizer, too.
@Suite struct ConcurrencyTests {
    /// Runs the body on threads of their own and waits for all of them; the first error is thrown.
    private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
        let group = DispatchGroup()
        let failure = Mutex<(any Error)?>(nil)
        for number in 0..<count {
            group.enter()
            let thread = Thread {
                defer { group.leave() }
                do {
                    try body(number)
                } catch {
                    failure.withLock { if $0 == nil { $0 = error } }
                }
            }
            thread.start()
        }
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private static func open(
        _ fileSystem: any FileSystem = MemoryFileSystem(), _ change: (inout LogOptions) -> Void = { _ in }
    ) throws -> LogStore {
        var options = StoreTests.options()
        options.segmentMaximumBytes = 128 << 10
        change(&options)
        return try LogStore.open("/s", in: fileSystem, options: options, schema: SampleSchema.schema)
    }

    /// Inserts one person whose slots all follow from `number`.
    @discardableResult
    private static func insert(_ store: LogStore, number: Int) throws(StoreError) -> (ref: ObjectRef, sequence: UInt64)
    {
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        write(number, to: writer)
        let receipt = try store.commit(transaction)
        return (ObjectRef(entity: SampleSchema.person, key: key), receipt.sequence)
    }

    private static func write(_ number: Int, to writer: EntityWriter) {
        writer.set(0, "number \(number)")
        writer.set(1, Int16(truncatingIfNeeded: number))
        writer.set(2, Double(number))
        writer.set(4, ObjectRef(entity: SampleSchema.department, key: UInt64(number % 3 + 1)))
        writer.set(5, String(repeating: "text \(number) ", count: number % 40))
        writer.endRow()
    }

    private static func update(_ store: LogStore, _ ref: ObjectRef, _ change: (Int) -> Int) throws -> Int {
        let row = try #require(try store.snapshot.row(ref))
        let next = change(Int(try row.block.column(2).double(row.index)))
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        try writer.beginUpdate(key: ref.key, replacing: row.version, changed: SlotSet([0, 1, 2, 4, 5]))
        write(next, to: writer)
        _ = try store.commit(transaction)
        return next
    }

    /// The number in a row, after checking that every slot follows from it.
    @discardableResult
    private static func checkedNumber(_ row: Row) throws -> Int {
        let number = Int(try row.block.column(2).double(row.index))
        #expect(try row.block.column(0).string(row.index) == "number \(number)")
        #expect(try row.block.column(1).int16(row.index) == Int16(truncatingIfNeeded: number))
        #expect(try row.block.column(5).string(row.index) == String(repeating: "text \(number) ", count: number % 40))
        return number
    }

    @Test func writersOnDisjointObjectsLoseNothing() throws {
        let store = try Self.open()
        let (writers, each) = (8, 50)
        let sequences = Mutex<[UInt64]>([])
        try Self.onThreads(writers) { writer in
            var refs: [ObjectRef] = []
            for round in 0..<each {
                let inserted = try Self.insert(store, number: writer * 1000 + round)
                sequences.withLock { $0.append(inserted.sequence) }
                refs.append(inserted.ref)
                // What was acknowledged is seen at once, by whoever asks.
                try Self.checkedNumber(#require(try store.snapshot.row(inserted.ref)))
                if round % 5 == 4 { _ = try Self.update(store, refs[round - 2]) { $0 + 500 } }
            }
        }
        #expect(Set(sequences.withLock { $0 }).count == writers * each)
        #expect(store.snapshot.count(entity: SampleSchema.person) == writers * each)
        #expect(store.statistics.commits == writers * each + writers * each / 5)
        #expect(try store.verify().problems.isEmpty)
        try store.close()
    }

    /// Every thread adds to the same row and tries again after a conflict: an update that is lost would be missing
    /// from the sum.
    @Test func noUpdateOfOneObjectIsLost() throws {
        let store = try Self.open()
        let counter = try Self.insert(store, number: 0).ref
        let (writers, each) = (8, 40)
        let conflicts = Atomic<Int>(0)
        try Self.onThreads(writers) { _ in
            for _ in 0..<each {
                while true {
                    do {
                        _ = try Self.update(store, counter) { $0 + 1 }
                        break
                    } catch let error as StoreError where error.code == .conflict {
                        #expect(error.conflicts == [counter])
                        conflicts.wrappingAdd(1, ordering: .relaxed)
                    }
                }
            }
        }
        let row = try #require(try store.snapshot.row(counter))
        #expect(try Self.checkedNumber(row) == writers * each)
        #expect(Int(store.snapshot.sequence) == 1 + writers * each, "a refused commit must not use a number")
        var history = try store.history(after: 0)
        var updates = 0
        while let transaction = try history.next() {
            for group in transaction.groups where group.kind == .update { updates += group.keys.count }
        }
        #expect(updates == writers * each)
        print(
            "\(writers) writers on one object: \(writers * each) updates, \(conflicts.load(ordering: .relaxed)) conflicts"
        )
        #expect(try store.verify().problems.isEmpty)
    }

    /// Rows are merged while others insert, update and read them: no update meets a conflict, and none is lost.
    @Test func mergingDisturbsNobody() throws {
        let store = try Self.open {
            $0.compaction.isAutomatic = false
            $0.freshBlockDueCount = 8
        }
        let (writers, each) = (4, 40)
        let pinned = store.snapshot
        try Self.onThreads(writers + 1) { writer in
            var refs: [ObjectRef] = []
            for round in 0..<each {
                guard writer < writers else {
                    try store.mergeFreshRows(all: round % 2 == 0)
                    continue
                }
                refs.append(try Self.insert(store, number: writer * 1000 + round).ref)
                let ref = refs[round / 2]
                let number = try Self.checkedNumber(#require(try store.snapshot.row(ref)))
                #expect(try Self.update(store, ref) { $0 + 1 } == number + 1)
            }
        }
        #expect(pinned.count(entity: SampleSchema.person) == 0)
        #expect(store.snapshot.count(entity: SampleSchema.person) == writers * each)
        var sum = 0
        try store.snapshot.forEachRun(root: SampleSchema.person) { run throws(StoreError) in
            for index in 0..<run.count {
                let row = try store.row(at: Location(rawValue: run.location.rawValue + UInt64(index)))
                sum += Int(try row.block.column(2).double(row.index)) % 1000
            }
            return true
        }
        // Each thread's numbers, and one for each update.
        #expect(sum == writers * (each * (each - 1) / 2 + each))
        #expect(try store.verify().problems.isEmpty)
    }

    @Test func commitsShareFlushes() throws {
        let store = try Self.open(SlowFlushFileSystem(MemoryFileSystem(), microseconds: 2000))
        let before = store.statistics
        try Self.onThreads(16) { writer in
            for round in 0..<10 { _ = try Self.insert(store, number: writer * 100 + round) }
        }
        let commits = store.statistics.commits - before.commits
        let flushes = store.statistics.flushes - before.flushes
        print("16 writers: \(commits) commits in \(flushes) flushes")
        #expect(commits == 160)
        #expect(flushes * 2 < commits, "\(flushes) flushes for \(commits) commits")
        #expect(try store.verify().problems.isEmpty)
    }

    @Test func snapshotsStayAsTheyWere() throws {
        let store = try Self.open { $0.cacheMaximumBytes = 16 << 10 }
        for number in 0..<200 { try Self.insert(store, number: number) }
        let isDone = Atomic<Bool>(false)
        try Self.onThreads(4) { thread in
            if thread == 0 {
                defer { isDone.store(true, ordering: .releasing) }
                for round in 0..<300 {
                    let ref = ObjectRef(entity: SampleSchema.person, key: UInt64(round % 200 + 1))
                    _ = try Self.update(store, ref) { $0 + 1000 }
                }
                return
            }
            var passes = 0
            while !isDone.load(ordering: .acquiring) || passes == 0 {
                let snapshot = store.snapshot
                let first = try Self.sum(snapshot)
                let second = try Self.sum(snapshot)
                #expect(first == second)
                // Each update adds 1000 to one row: the snapshot's number says how many there were.
                #expect(first == 199 * 200 / 2 + 1000 * (Int(snapshot.sequence) - 200))
                passes += 1
            }
        }
        #expect(store.statistics.cacheByteCount <= 16 << 10)
    }

    private static func sum(_ snapshot: Snapshot) throws -> Int {
        var sum = 0
        for key in 1...UInt64(200) {
            let row = try #require(try snapshot.row(ObjectRef(entity: SampleSchema.person, key: key)))
            sum += try checkedNumber(row)
        }
        for department in 1...UInt64(3) {
            let target = ObjectRef(entity: SampleSchema.department, key: department)
            let members = try snapshot.referrers(postings: SampleSchema.postings, to: target)
            #expect(try snapshot.referrerCount(postings: SampleSchema.postings, to: target) == members.count)
        }
        return sum
    }

    /// Blocks go out of the cache while others read from them.
    @Test(arguments: [0, 2 << 10, 64 << 10]) func evictionTakesNothingFromReaders(budget: Int) throws {
        let store = try Self.open { $0.cacheMaximumBytes = budget }
        for number in 0..<120 { try Self.insert(store, number: number) }
        try Self.onThreads(6) { thread in
            var generator = SeededGenerator(seed: 5, stream: UInt64(thread))
            var kept: [(row: Row, number: Int)] = []
            for round in 0..<1500 {
                let number = generator.below(120)
                let ref = ObjectRef(entity: SampleSchema.person, key: UInt64(number + 1))
                let row = try #require(try store.snapshot.row(ref))
                kept.append((row, number))
                if kept.count > 20 {
                    let old = kept.removeFirst()
                    #expect(try Self.checkedNumber(old.row) == old.number)
                }
                if round % 400 == 399 && thread == 0 { store.dropCache() }
            }
        }
        #expect(store.statistics.cacheByteCount <= budget)
    }

    @Test func checkpointsInTheBackgroundHoldNobodyUp() throws {
        let fileSystem = MemoryFileSystem()
        let store = try Self.open(fileSystem) {
            $0.checkpointsInBackground = true
            $0.checkpointTailBytes = 16 << 10
        }
        try Self.onThreads(5) { thread in
            if thread == 4 {
                for _ in 0..<10 { try store.checkpoint() }
                return
            }
            for round in 0..<80 {
                let ref = try Self.insert(store, number: thread * 1000 + round).ref
                if round % 3 == 0 { _ = try Self.update(store, ref) { $0 + 1 } }
            }
        }
        let sequence = store.snapshot.sequence
        #expect(try store.verify().problems.isEmpty)
        try store.close()
        let again = try Self.open(fileSystem)
        #expect(again.recovery.damagedCheckpoints.isEmpty)
        #expect(again.recovery.checkpoint != nil)
        #expect(again.snapshot.sequence == sequence)
        #expect(again.snapshot.count(entity: SampleSchema.person) == 320)
        #expect(try again.verify().problems.isEmpty)
    }

    @Test(arguments: 0..<5) func closingWhileOthersCommit(round: Int) throws {
        let fileSystem = MemoryFileSystem()
        let store = try Self.open(fileSystem) {
            $0.checkpointsInBackground = true
            $0.checkpointTailBytes = 8 << 10
        }
        let acknowledged = Atomic<Int>(0)
        let refused = Atomic<Int>(0)
        try Self.onThreads(7) { thread in
            if thread == 0 {
                while acknowledged.load(ordering: .relaxed) < 20 + round * 15 { usleep(100) }
                try store.close()
                try store.close()
                return
            }
            while true {
                do {
                    try Self.insert(store, number: thread)
                    acknowledged.wrappingAdd(1, ordering: .relaxed)
                } catch let error as StoreError {
                    #expect(error.code == .closed, "\(error)")
                    refused.wrappingAdd(1, ordering: .relaxed)
                    return
                }
            }
        }
        #expect(refused.load(ordering: .relaxed) == 6)
        let count = acknowledged.load(ordering: .relaxed)
        // A snapshot goes on reading.
        #expect(store.snapshot.count(entity: SampleSchema.person) == count)
        _ = try store.snapshot.row(ObjectRef(entity: SampleSchema.person, key: 1))
        let again = try Self.open(fileSystem)
        #expect(again.snapshot.count(entity: SampleSchema.person) == count)
        #expect(try again.verify().problems.isEmpty)
    }

    /// The delayed flush of `.interval`, setMetadata, sync and readers at once.
    @Test func everythingAtOnce() throws {
        let fileSystem = MemoryFileSystem()
        let store = try Self.open(fileSystem) {
            $0.durability = .interval(milliseconds: 1)
            $0.checkpointsInBackground = true
            $0.checkpointTailBytes = 16 << 10
            $0.cacheMaximumBytes = 8 << 10
        }
        try Self.onThreads(8) { thread in
            for round in 0..<40 {
                switch thread {
                case 0: try store.setMetadata([UInt8(round)])
                case 1: try store.sync()
                case 2:
                    var history = try store.history(after: 0)
                    var last: UInt64 = 0
                    while let transaction = try history.next() {
                        #expect(transaction.sequence == last + 1)
                        last = transaction.sequence
                    }
                case 3:
                    if round % 10 == 0 { #expect(try store.verify().problems.isEmpty) }
                    _ = store.statistics
                default: try Self.insert(store, number: thread * 100 + round)
                }
            }
        }
        #expect(store.snapshot.count(entity: SampleSchema.person) == 160)
        #expect(store.metadata == [39])
        try store.close()
        let again = try Self.open(fileSystem)
        #expect(again.metadata == [39])
        #expect(again.snapshot.count(entity: SampleSchema.person) == 160)
    }
}
