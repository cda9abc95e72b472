import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Ways in which data was once lost. Each test says how it failed and what was lost.
@Suite struct StoreRegressionTests {
    private func insert(_ store: LogStore, noteBytes: Int) throws -> ObjectRef {
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        // Random, so that it takes its full length in the log.
        var generator = SeededGenerator(seed: key)
        let notes = (0..<noteBytes).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        notes.withUnsafeBytes { writer.set(6, bytes: $0) }
        writer.endRow()
        _ = try store.commit(transaction)
        return ObjectRef(entity: SampleSchema.person, key: key)
    }

    /// A new segment could be written but its name not flushed, and the log went on in the old one; after a power
    /// loss the new segment was there and said that the old one ended earlier. Acknowledged commits were lost.
    @Test(arguments: [SimulatedFileSystem.Call.syncDirectory, .sync])
    func aSegmentThatCouldNotBeFlushedDoesNotCutTheOldOne(_ call: SimulatedFileSystem.Call) throws {
        for seed in 0..<40 {
            let fileSystem = SimulatedFileSystem()
            let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
            var kept = [try insert(store, noteBytes: 40_000)]
            fileSystem.inject(
                SimulatedFileSystem.Fault(.fail(.ioError), atCall: 1, of: call, flushLoss: .nothing))
            fileSystem.inject(SimulatedFileSystem.Fault(.fail(.ioError), atCall: 1, of: .unlink))
            #expect(throws: StoreError.self) { try insert(store, noteBytes: 40_000) }
            fileSystem.removeFaults()
            kept.append(try insert(store, noteBytes: 100))
            for policy in SimulatedFileSystem.CrashPolicy.allCases {
                let image = fileSystem.crashImage(policy: policy, seed: UInt64(seed))
                let reopened = try StoreWorkload.open(image, StoreWorkload.options())
                for ref in kept {
                    #expect(try reopened.snapshot.row(ref) != nil, "seed \(seed), \(policy): \(ref.key) is lost")
                }
            }
        }
    }

    /// Deleting objects of two entities in turn interleaved their preserved values, and the change table then named
    /// none of them.
    @Test func preservedValuesOfSeveralEntitiesStayInTheHistory() throws {
        let slots = [SlotLayout(.string, preservedInHistory: true), SlotLayout(.data)]
        let schema = Schema(entities: [
            EntityLayout(id: 1, rootID: 1, name: "A", slots: slots),
            EntityLayout(id: 2, rootID: 2, name: "B", slots: slots),
        ])
        let store = try LogStore.open("/s", in: MemoryFileSystem(), options: StoreWorkload.options(), schema: schema)
        let count = 3_000
        let inserts = store.makeTransaction()
        for entity in [UInt16(1), 2] {
            let first = try store.allocateKeys(root: entity, count: count)
            let writer = inserts.writer(for: entity)
            for key in first..<first + UInt64(count) {
                writer.beginInsert(key: key)
                writer.set(0, "entity \(entity), key \(key), with a text that fills blocks")
                writer.endRow()
            }
        }
        _ = try store.commit(inserts)
        let deletes = store.makeTransaction()
        for key in 1...UInt64(count) {
            for entity in [UInt16(1), 2] {
                let ref = ObjectRef(entity: entity, key: key)
                try deletes.delete(ref, replacing: try #require(try store.snapshot.row(ref)).version)
            }
        }
        _ = try store.commit(deletes)
        var history = try store.history(after: 1)
        let transaction = try #require(try history.next())
        for group in transaction.groups {
            let texts = try group.tombstones.flatMap { block in
                let column = try block.column(0)
                return (0..<block.rowCount).map { String(decoding: column.bytes($0), as: UTF8.self) }
            }
            #expect(texts == group.keys.map { "entity \(group.entity), key \($0), with a text that fills blocks" })
        }
        #expect(transaction.changeCount == count * 2)
    }

    /// A large value that was not flushed yet was referred to by a later row; when a flush failed and the log was
    /// written again elsewhere, the row still referred to the old place. The value was lost with the old segment.
    @Test func aLargeValueCopiedBeforeItIsFlushedMovesWithItsRow() throws {
        let fileSystem = SimulatedFileSystem()
        let options = StoreWorkload.options(.os)
        let store = try StoreWorkload.open(fileSystem, options)
        let ref = try insert(store, noteBytes: 100_000)
        let before = store.snapshot
        let row = try #require(try store.snapshot.row(ref))
        let update = store.makeTransaction()
        var changed = SlotSet()
        changed.insert(1)
        let writer = update.writer(for: SampleSchema.person)
        try writer.beginUpdate(key: ref.key, replacing: row.version, changed: changed)
        writer.set(1, Int16(7))
        try writer.copy(6, from: row, slot: 6)
        writer.endRow()
        _ = try store.commit(update)
        fileSystem.inject(SimulatedFileSystem.Fault(.fail(.ioError), atCall: 1, of: .syncData, flushLoss: .everything))
        try store.sync()
        #expect(store.statistics.relocations == 1)
        func notes(_ store: LogStore, _ snapshot: Snapshot) throws -> Int {
            let row = try #require(try snapshot.row(ref))
            return try store.read(try row.block.column(6).external(row.index)).count
        }
        #expect(try notes(store, store.snapshot) == 100_000)
        #expect(try notes(store, before) == 100_000)
        let reopened = try StoreWorkload.open(fileSystem.crashImage(policy: .strict, seed: 1), options)
        #expect(try notes(reopened, reopened.snapshot) == 100_000)
        #expect(try reopened.verify().problems.isEmpty)
    }

    /// A segment shorter than the checkpoint says opened without an error, and commits went on behind the hole.
    @Test func aSegmentShorterThanItsCheckpointIsDamage() throws {
        let fileSystem = SimulatedFileSystem()
        let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        for _ in 0..<5 { _ = try insert(store, noteBytes: 1_000) }
        try store.close()
        let path = StoreWorkload.path.appending("00000001.seg")
        let length = try fileSystem.contents(of: path).count
        try fileSystem.corrupt(path, .truncate(byteCount: length - 64))
        let error = #expect(throws: StoreError.self) {
            try StoreWorkload.open(fileSystem.fork(), StoreWorkload.options())
        }
        #expect(error?.code == .corruption)
    }

    /// The flush that `.interval` promises did not happen when the store was let go without being closed.
    @Test func aStoreThatIsLetGoFlushes() throws {
        let fileSystem = SimulatedFileSystem()
        var ref = ObjectRef.null
        do {
            let store = try StoreWorkload.open(fileSystem, StoreWorkload.options(.os))
            ref = try insert(store, noteBytes: 100)
        }
        for seed in 0..<20 {
            let image = fileSystem.crashImage(policy: .strict, seed: UInt64(seed))
            let reopened = try StoreWorkload.open(image, StoreWorkload.options())
            #expect(try reopened.snapshot.row(ref) != nil)
        }
    }

    /// A store named by a relative path of one component could not be created: the directory above was "".
    @Test func aRelativePathOfOneComponentWorks() throws {
        let fileSystem = PosixFileSystem()
        let path = FilePath("strata-regression-\(UInt64.random(in: 0 ... .max)).store")
        let store = try LogStore.open(path, in: fileSystem, schema: SampleSchema.schema)
        _ = try insert(store, noteBytes: 10)
        try store.close()
        for name in try fileSystem.list(path) { try fileSystem.unlink(path.appending(name)) }
        try fileSystem.removeDirectory(path)
    }
}
