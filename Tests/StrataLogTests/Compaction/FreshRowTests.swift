import Foundation
import StrataIO
import StrataSupport
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

/// Rows that were written a few at a time are merged into full blocks, and nothing else changes.
@Suite struct FreshRowTests {
    private static let person = SampleSchema.person
    private static let dueCount = 32

    private static func options(_ change: (inout LogOptions) -> Void = { _ in }) -> LogOptions {
        var options = StoreTests.options()
        options.segmentMaximumBytes = 4 << 20
        options.compaction.isAutomatic = false
        options.freshBlockDueCount = dueCount
        change(&options)
        return options
    }

    private static func open(
        _ fileSystem: any FileSystem, _ change: (inout LogOptions) -> Void = { _ in }
    ) throws -> LogStore {
        try LogStore.open("/store", in: fileSystem, options: options(change), schema: SampleSchema.schema)
    }

    /// Saves rows one by one, and merges them as the background would.
    private static func save(_ store: LogStore, _ count: Int) throws {
        for _ in 0..<count {
            _ = try StoreTests.insert(store, 1, department: ObjectRef(entity: SampleSchema.department, key: 1))
            try store.mergeFreshRows()
        }
    }

    private static func blockCount(_ snapshot: Snapshot) throws -> Int {
        var blocks: Set<Location> = []
        try snapshot.forEachRun(root: person) { run in
            blocks.insert(run.location.block)
            return true
        }
        return blocks.count
    }

    /// Key, name and the transaction that wrote the row, in the order of keys.
    private static func contents(_ snapshot: Snapshot, _ store: LogStore) throws -> [String] {
        var rows: [String] = []
        try snapshot.forEachRun(root: person) { run throws(StoreError) in
            for index in 0..<run.count {
                let row = try store.row(at: Location(rawValue: run.location.rawValue + UInt64(index)))
                let name = String(decoding: try row.block.column(0).bytes(row.index), as: UTF8.self)
                rows.append("\(row.ref.key) \(run.firstKey + UInt64(index)) \(name) \(row.version.sequence)")
            }
            return true
        }
        return rows
    }

    private static func update(_ store: LogStore, _ ref: ObjectRef, _ name: String) throws {
        let transaction = store.makeTransaction()
        var changed = SlotSet()
        changed.insert(0)
        let writer = transaction.writer(for: person)
        let row = try #require(try store.snapshot.row(ref))
        try writer.beginUpdate(key: ref.key, replacing: row.version, changed: changed)
        writer.set(0, name)
        writer.endRow()
        _ = try store.commit(transaction)
    }

    @Test func rowsWrittenOneByOneEndUpInFewBlocks() throws {
        let fileSystem = MemoryFileSystem()
        let store = try Self.open(fileSystem)
        try Self.save(store, 1000)
        let merged = try Self.blockCount(store.snapshot)
        #expect(merged <= Self.dueCount + 10, "\(merged) blocks")
        let plain = try Self.open(MemoryFileSystem()) { $0.compaction.mergesFreshRows = false }
        try Self.save(plain, 1000)
        #expect(try Self.blockCount(plain.snapshot) == 1000)
        let contents = try Self.contents(store.snapshot, store)
        #expect(contents == (try Self.contents(plain.snapshot, plain)))
        store.dropCache()
        #expect(contents == (try Self.contents(store.snapshot, store)))
        #expect(store.snapshot.count(entity: Self.person) == 1000)
        #expect(try store.verify().problems.isEmpty)
        // From the checkpoint, and from the log alone.
        try store.close()
        for removesCheckpoints in [false, true] {
            if removesCheckpoints {
                for name in try fileSystem.list("/store") where name.hasSuffix(".chk") {
                    try fileSystem.unlink(FilePath("/store").appending(name))
                }
            }
            let again = try Self.open(fileSystem)
            #expect(contents == (try Self.contents(again.snapshot, again)))
            #expect(try Self.blockCount(again.snapshot) == merged)
            try again.close()
        }
    }

    @Test func theBackgroundMerges() throws {
        let store = try Self.open(MemoryFileSystem()) { $0.compaction.isAutomatic = true }
        var count = 0
        while store.statistics.merges == 0, count < 20_000 {
            _ = try StoreTests.insert(store, 1, department: .null)
            count += 1
        }
        try store.close()
        #expect(store.statistics.merges > 0)
        #expect(store.statistics.failedMerges == 0)
        #expect(try Self.blockCount(store.snapshot) < count)
        #expect(store.snapshot.count(entity: Self.person) == count)
    }

    /// What was written in bulk is as it should be, and the newest of what was not is left for later.
    @Test func fullBlocksAndTheNewestRowsAreLeftAlone() throws {
        let fileSystem = MemoryFileSystem()
        let filled = try Self.open(fileSystem)
        for _ in 0..<50 { _ = try StoreTests.insert(filled, 300, department: .null) }
        let written = filled.statistics.writtenByteCount
        try filled.mergeFreshRows(all: true)
        #expect(filled.statistics.writtenByteCount == written)
        // Nor what an earlier process wrote so.
        try filled.close()
        let store = try Self.open(fileSystem)
        let before = store.statistics.writtenByteCount
        try store.mergeFreshRows(all: true)
        #expect(store.statistics.writtenByteCount == before)
        var refs: [ObjectRef] = []
        for _ in 0..<Self.dueCount { refs += try StoreTests.insert(store, 1, department: .null) }
        let places = try refs.map { try store.snapshot.locate($0) }
        try store.mergeFreshRows()
        let after = try refs.map { try store.snapshot.locate($0) }
        let stayed = zip(places, after).map { $0 == $1 }
        #expect(stayed == refs.indices.map { $0 >= Self.dueCount * 3 / 4 })
    }

    /// Where too few of the blocks still have rows, what would be written is not worth it.
    @Test(arguments: [2, 3, 4]) func fewBlocksAreLeftForLater(minimum: Int) throws {
        let store = try Self.open(MemoryFileSystem())
        let refs = try (0..<3).flatMap { _ in try StoreTests.insert(store, 1, department: .null) }
        let blocks = try refs.map { try store.snapshot.locate($0).block }
        let written = store.statistics.writtenByteCount
        let later = try FreshRowMerger(store: store).merge(blocks, of: Self.person, minimum: minimum)
        let isMerged = minimum <= blocks.count
        #expect((later == blocks) != isMerged)
        #expect((store.statistics.writtenByteCount == written) != isMerged)
        #expect(try Self.blockCount(store.snapshot) == (isMerged ? 1 : 3))
        // Nor is one alone.
        let one = [try store.snapshot.locate(refs[0]).block]
        #expect(try FreshRowMerger(store: store).merge(one, of: Self.person, minimum: 1) == one)
    }

    /// They need not be looked at again, and make no company for the last one.
    @Test func blocksWithoutRowsAreForgotten() throws {
        let store = try Self.open(MemoryFileSystem())
        let refs = try (0..<3).flatMap { _ in try StoreTests.insert(store, 1, department: .null) }
        let blocks = try refs.map { try store.snapshot.locate($0).block }
        for ref in refs[..<2] { try Self.update(store, ref, "another name") }
        let written = store.statistics.writtenByteCount
        let later = try FreshRowMerger(store: store).merge(blocks, of: Self.person, minimum: 2)
        #expect(later == [blocks[2]] && store.statistics.writtenByteCount == written)
    }

    /// Rows that are updated again and again are dead before they would be moved.
    @Test func hotRowsAreNotMergedOverAndOver() throws {
        var written: [Int] = []
        for merges in [true, false] {
            let store = try Self.open(MemoryFileSystem()) { $0.compaction.mergesFreshRows = merges }
            let refs = try StoreTests.insert(store, Self.dueCount / 4, department: .null)
            for round in 0..<40 {
                for ref in refs {
                    try Self.update(store, ref, "round \(round)")
                    try store.mergeFreshRows()
                }
            }
            written.append(store.statistics.writtenByteCount)
        }
        #expect(written[0] == written[1])
    }

    /// Each row is moved once or a little more, however long rows are.
    @Test(arguments: [0, 200, 900, 1_800, 5_000]) func littleIsWrittenTwice(noteByteCount: Int) throws {
        var written: [Int] = []
        for merges in [true, false] {
            let store = try Self.open(MemoryFileSystem()) { $0.compaction.mergesFreshRows = merges }
            var generator = SeededGenerator(seed: 1)
            for _ in 0..<600 {
                let transaction = store.makeTransaction()
                let writer = transaction.writer(for: Self.person)
                writer.beginInsert(key: try store.allocateKeys(root: Self.person, count: 1))
                let notes = (0..<noteByteCount).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
                notes.withUnsafeBytes { writer.set(6, bytes: $0) }
                writer.endRow()
                _ = try store.commit(transaction)
                try store.mergeFreshRows()
            }
            written.append(store.statistics.writtenByteCount)
        }
        let amplification = Double(written[0]) / Double(written[1])
        print("600 saves of a row with \(noteByteCount) bytes: \(written[1]) bytes, with merging \(written[0])")
        #expect(amplification <= 2.1, "\(amplification)")
    }

    @Test func aSaveThatReadTheRowBeforeDoesNotConflict() throws {
        let store = try Self.open(MemoryFileSystem())
        var people: [ObjectRef] = []
        for _ in 0..<4 { people += try StoreTests.insert(store, 1, department: .null) }
        let versions = try people.map { try #require(try store.snapshot.row($0)).version }
        let stale = store.makeTransaction()
        try stale.delete(people[3], replacing: versions[3])
        try Self.update(store, people[3], "another")
        try store.mergeFreshRows(all: true)
        store.dropCache()
        #expect(try Self.blockCount(store.snapshot) == 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: Self.person)
        var changed = SlotSet()
        for slot in [0, 4] { changed.insert(slot) }
        try writer.beginUpdate(key: people[0].key, replacing: versions[0], changed: changed)
        writer.set(0, "new")
        writer.endRow()
        try transaction.delete(people[1], replacing: versions[1])
        transaction.require(people[2], at: versions[2])
        _ = try store.commit(transaction)
        // One that did change is a conflict as ever.
        #expect { try store.commit(stale) } throws: { ($0 as? StoreError)?.code == .conflict }
        #expect(try store.verify().problems.isEmpty)
    }

    /// Snapshots from before, the history and every state of the past are as without merging, also when the store is
    /// compacted afterwards.
    @Test(arguments: [false, true]) func thePastStays(compacts: Bool) throws {
        var descriptions: [[String]] = []
        for merges in [true, false] {
            let store = try Self.open(MemoryFileSystem()) { options in
                options.segmentMaximumBytes = 64 << 10
                options.retention.rowsFloor = 0
            }
            var refs: [ObjectRef] = []
            var pinned: [(Snapshot, [String])] = []
            var generator = SeededGenerator(seed: 3)
            for number in 0..<200 {
                if refs.count > 10, generator.chance(0.4) {
                    try Self.update(store, refs[generator.below(refs.count)], "update \(number)")
                } else if refs.count > 10, generator.chance(0.2) {
                    let ref = refs.remove(at: generator.below(refs.count))
                    let transaction = store.makeTransaction()
                    try transaction.delete(ref, replacing: try #require(try store.snapshot.row(ref)).version)
                    _ = try store.commit(transaction)
                } else {
                    refs += try StoreTests.insert(store, 1, department: .null)
                }
                if number % 20 == 7 {
                    pinned.append((store.snapshot, try Self.contents(store.snapshot, store)))
                    if merges { try store.mergeFreshRows(all: true) }
                }
                if compacts, number % 50 == 49 { try store.compact() }
            }
            store.dropCache()
            for (snapshot, contents) in pinned { #expect(try Self.contents(snapshot, store) == contents) }
            var description = try Self.contents(store.snapshot, store)
            for sequence in 0...store.snapshot.sequence {
                description += try Self.contents(try store.snapshot(at: sequence), store)
            }
            var history = try store.history(after: 0)
            while let transaction = try history.next() {
                for group in transaction.groups {
                    description.append("\(transaction.sequence) \(group.kind) \(group.keys) \(group.replacedSequences)")
                }
            }
            descriptions.append(description)
            #expect(try store.verify().problems.isEmpty)
        }
        #expect(descriptions[0] == descriptions[1])
    }

    /// A value out of line stays where it is; one that a failed flush could still move is waited for.
    @Test(arguments: [LogOptions.Durability.full, .os]) func largeValuesStay(_ durability: LogOptions.Durability) throws
    {
        let store = try Self.open(MemoryFileSystem()) { $0.durability = durability }
        var generator = SeededGenerator(seed: 5)
        let notes = (0..<100_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        for _ in 0..<6 {
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: Self.person)
            writer.beginInsert(key: try store.allocateKeys(root: Self.person, count: 1))
            notes.withUnsafeBytes { writer.set(6, bytes: $0) }
            writer.endRow()
            _ = try store.commit(transaction)
        }
        var written = store.statistics.writtenByteCount
        try store.mergeFreshRows(all: true)
        if durability == .os {
            #expect(store.statistics.writtenByteCount == written)
            try store.sync()
            written = store.statistics.writtenByteCount
            try store.mergeFreshRows(all: true)
        }
        #expect(store.statistics.writtenByteCount < written + 10_000)
        #expect(try Self.blockCount(store.snapshot) == 1)
        try store.compact()
        store.dropCache()
        for key in 1...UInt64(6) {
            let row = try #require(try store.snapshot.row(ObjectRef(entity: Self.person, key: key)))
            #expect(try StoreModel.person(row, store).notes == notes)
        }
        #expect(try store.verify().problems.isEmpty)
    }

    /// Blocks that an earlier process left behind are found, whether it closed the store or died.
    @Test(arguments: [true, false]) func whatAnEarlierProcessLeftIsMerged(isClosed: Bool) throws {
        let fileSystem = SimulatedFileSystem()
        let before = try Self.open(fileSystem) { $0.compaction.mergesFreshRows = false }
        try Self.save(before, 300)
        if isClosed { try before.close() }
        let image = isClosed ? fileSystem.fork() : fileSystem.crashImage(policy: .killed, seed: 1)
        let store = try Self.open(image)
        let contents = try Self.contents(store.snapshot, store)
        try Self.save(store, 1)
        let blocks = try Self.blockCount(store.snapshot)
        #expect(blocks <= Self.dueCount, "\(blocks) blocks")
        #expect(try Self.contents(store.snapshot, store).dropLast() == contents[...])
        let written = store.statistics.writtenByteCount
        try store.mergeFreshRows()
        #expect(store.statistics.writtenByteCount == written)
        #expect(try store.verify().problems.isEmpty)
    }

    @Test func aReaderFollows() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("fresh-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: url) }
        let path = FilePath(url.path).appending("store")
        let store = try LogStore.open(
            path, in: PosixFileSystem(), options: Self.options(), schema: SampleSchema.schema)
        try Self.save(store, 5)
        let reader = try LogStore.open(
            path, in: PosixFileSystem(), options: Self.options { $0.access = .readOnly }, schema: nil)
        for count in [10, 60, 200] {
            try Self.save(store, count)
            try store.mergeFreshRows(all: true)
            #expect(try reader.refresh())
            #expect(try Self.blockCount(reader.snapshot) == Self.blockCount(store.snapshot))
            #expect(try Self.contents(reader.snapshot, reader) == Self.contents(store.snapshot, store))
        }
        try reader.close()
        try store.close()
    }

    /// Whatever is refused meanwhile, nothing is lost, and later rows are merged.
    @Test(arguments: [SimulatedFileSystem.Call.read, .write]) func anErrorLosesNothing(
        _ call: SimulatedFileSystem.Call
    ) throws {
        let fileSystem = SimulatedFileSystem()
        let store = try Self.open(fileSystem)
        for _ in 0..<20 { _ = try StoreTests.insert(store, 1, department: .null) }
        let contents = try Self.contents(store.snapshot, store)
        store.dropCache()
        fileSystem.inject(.init(.fail(.ioError), of: call))
        #expect { try store.mergeFreshRows(all: true) } throws: { ($0 as? StoreError)?.code == .io }
        fileSystem.removeFaults()
        #expect(try Self.contents(store.snapshot, store) == contents)
        try Self.save(store, 100)
        #expect(try Self.blockCount(store.snapshot) < 100)
        #expect(try Self.contents(store.snapshot, store).prefix(20) == contents[...])
        #expect(try store.verify().problems.isEmpty)
    }
}

extension LogStore {
    /// As ``mergeFreshRows(all:)`` for all rows of one entity, with something that happens between reading them and
    /// writing them.
    func mergeFreshRows(meanwhile: () throws -> Void) throws {
        var failure: (any Error)?
        try compacting.withLock { _ throws(StoreError) in
            guard let (entity, blocks) = state.withLock({ $0.freshRows.rows.takeAny() }) else { return }
            let merger = FreshRowMerger(store: self)
            do {
                try meanwhile()
            } catch {
                failure = error
            }
            let left = try merger.merge(blocks, of: entity, minimum: 2)
            state.withLock { $0.freshRows.rows.putBack(left, of: entity) }
        }
        if let failure { throw failure }
    }
}
