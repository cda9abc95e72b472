import Foundation
import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

/// Failed flushes and writes that once lost data or kept it from being read: each test shows the way it happened.
@Suite struct FailedFlushTests {
    static func insert(_ store: LogStore, name: String, noteBytes: Int = 0) throws -> ObjectRef {
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        writer.set(0, name)
        if noteBytes > 0 {
            var generator = SeededGenerator(seed: 7)
            let bytes = (0..<noteBytes).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            bytes.withUnsafeBytes { writer.set(6, bytes: $0) }
        }
        writer.endRow()
        _ = try store.commit(transaction)
        return ObjectRef(entity: SampleSchema.person, key: key)
    }

    /// A segment that could not be made leaves a file that, after power loss, declares later acknowledged commits void.
    @Test(arguments: [SimulatedFileSystem.Call.sync, .syncDirectory])
    func aSegmentThatCouldNotBeMadeDoesNotTakeLaterCommitsAway(_ call: SimulatedFileSystem.Call) throws {
        let fs = SimulatedFileSystem()
        let store = try StoreWorkload.open(fs, StoreWorkload.options())
        _ = try Self.insert(store, name: "first", noteBytes: 40_000)
        fs.inject(.init(.fail(.ioError), of: call, flushLoss: .nothing))
        #expect(throws: StoreError.self) { try Self.insert(store, name: "does not fit", noteBytes: 40_000) }
        let small = try Self.insert(store, name: "acknowledged")
        var lost = 0
        for seed in 0..<200 {
            let image = fs.crashImage(policy: .strict, seed: UInt64(seed))
            let reopened = try StoreWorkload.open(image, StoreWorkload.options())
            if try reopened.snapshot.row(small) == nil { lost += 1 }
        }
        #expect(lost == 0, "an acknowledged commit is gone in \(lost) of 200 crashes, silently")
    }

    /// What a failed flush left in the page cache must not be taken for durable when the store is opened again
    /// without a reboot.
    @Test func openingAgainAfterFailedFlushesDoesNotTrustThePageCache() throws {
        let fs = SimulatedFileSystem()
        do {
            let store = try StoreWorkload.open(fs, StoreWorkload.options())
            _ = try Self.insert(store, name: "kept")
            fs.inject(.init(.fail(.ioError), of: .syncData, repetition: .always, flushLoss: .everything))
            fs.inject(.init(.fail(.ioError), of: .sync, repetition: .always, flushLoss: .everything))
            #expect(throws: StoreError.self) { try Self.insert(store, name: "unknown") }
            fs.removeFaults()
            try? store.close()
        }
        let store = try StoreWorkload.open(fs, StoreWorkload.options())
        let acknowledged = try Self.insert(store, name: "acknowledged")
        var refused = 0
        var lost = 0
        for seed in 0..<50 {
            let image = fs.crashImage(policy: .strict, seed: UInt64(seed))
            do {
                let reopened = try StoreWorkload.open(image, StoreWorkload.options())
                if try reopened.snapshot.row(acknowledged) == nil { lost += 1 }
            } catch {
                refused += 1
            }
        }
        #expect(
            refused == 0 && lost == 0,
            "of 50 power losses \(refused) leave a store that does not open, \(lost) lose the commit")
    }

    /// What a failed flush left in the page cache may be long: the record that follows brings none of it onto the disk.
    /// It was written again and then flushed, also where nothing follows.
    @Test(arguments: [true, false]) func whatOpeningShowsAfterAFailedFlushIsDurable(closes: Bool) throws {
        let fs = SimulatedFileSystem()
        do {
            let store = try StoreWorkload.open(fs, StoreWorkload.options())
            _ = try Self.insert(store, name: "kept")
            fs.inject(.init(.fail(.ioError), of: .syncData, repetition: .always, flushLoss: .everything))
            fs.inject(.init(.fail(.ioError), of: .open, pathSuffix: "00000002.seg", repetition: .always))
            #expect(throws: StoreError.self) { try Self.insert(store, name: "unknown", noteBytes: 20_000) }
            fs.removeFaults()
            try? store.close()
        }
        let store = try StoreWorkload.open(fs, StoreWorkload.options())
        #expect(store.snapshot.count(entity: SampleSchema.person) == 2)
        if closes { try store.close() } else { _ = try Self.insert(store, name: "acknowledged") }
        for seed in 0..<UInt64(50) {
            let reopened = try StoreWorkload.open(
                fs.crashImage(policy: .strict, seed: seed), StoreWorkload.options())
            #expect(reopened.snapshot.count(entity: SampleSchema.person) == (closes ? 2 : 3), "seed \(seed)")
            #expect(try reopened.verify().problems.isEmpty, "seed \(seed)")
        }
    }

    /// A write fails, and so does the flush of what is cut back: the commits before it, which nothing has flushed yet,
    /// are written again elsewhere all the same.
    @Test func aFlushThatFailsAfterAFailedWriteLosesNothing() throws {
        let fs = SimulatedFileSystem()
        let store = try StoreWorkload.open(fs, StoreWorkload.options(.interval(milliseconds: 1_000_000)))
        let kept = try Self.insert(store, name: "kept", noteBytes: 8_000)
        fs.inject(.init(.fail(.ioError), of: .write, pathSuffix: ".seg"))
        fs.inject(.init(.fail(.ioError), of: .syncData, flushLoss: .everything))
        #expect(throws: StoreError.self) { try Self.insert(store, name: "refused") }
        #expect(fs.firedFaultCount == 2)
        try store.sync()
        for seed in 0..<UInt64(50) {
            let reopened = try StoreWorkload.open(
                fs.crashImage(policy: .strict, seed: seed), StoreWorkload.options())
            #expect(try reopened.snapshot.row(kept) != nil, "seed \(seed)")
        }
    }

    /// Rows that a snapshot shows stay readable when a failed flush moves them.
    @Test func aSnapshotStaysReadableWhenAFailedFlushMovesItsRows() throws {
        let fs = SimulatedFileSystem()
        var options = StoreWorkload.options(.interval(milliseconds: 1_000_000))
        options.cacheMaximumBytes = 0
        let store = try StoreWorkload.open(fs, options)
        let ref = try Self.insert(store, name: "moved")
        let snapshot = store.snapshot
        fs.inject(.init(.fail(.ioError), of: .syncData, flushLoss: .nothing))
        try store.sync()
        #expect(store.statistics.relocations == 1)
        #expect(try store.snapshot.row(ref) != nil)
        #expect(throws: Never.self) { try snapshot.row(ref) }
        // An object that was read before the move is updated after it.
        #expect(throws: Never.self) {
            let transaction = store.makeTransaction()
            let version = RowVersion(location: try snapshot.locate(ref), sequence: 1)
            try transaction.delete(ref, replacing: version)
            _ = try store.commit(transaction)
        }
    }

    private static func large(_ byte: UInt8) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(byte))
        return (0..<70_000).map { _ in UInt8(truncatingIfNeeded: generator.next() % 26 + 97) }
    }

    /// Nothing is flushed until it is asked for, so that a failing flush moves everything.
    private static var unflushedOptions: LogOptions {
        var options = StoreWorkload.options(.interval(milliseconds: 1_000_000))
        options.segmentMaximumBytes = 1 << 20
        options.checkpointTailBytes = 64 << 20
        return options
    }

    private static func commitLargeValue(slot: Int, to store: LogStore) throws -> ObjectRef {
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        large(UInt8(slot)).withUnsafeBytes { writer.set(slot, bytes: $0) }
        writer.endRow()
        _ = try store.commit(transaction)
        return ObjectRef(entity: SampleSchema.person, key: key)
    }

    /// A large value that is copied from a row read before a failed flush moved it.
    @Test func aLargeValueCopiedFromARowReadBeforeTheMoveSurvives() throws {
        let fs = SimulatedFileSystem()
        let options = Self.unflushedOptions
        let store = try StoreWorkload.open(fs, options)
        let ref = try Self.commitLargeValue(slot: 6, to: store)
        let old = try #require(try store.snapshot.row(ref))
        fs.inject(.init(.fail(.ioError), of: .syncData, flushLoss: .everything))
        try store.sync()
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        try writer.beginUpdate(key: ref.key, replacing: old.version, changed: SlotSet([0]))
        writer.set(0, "renamed")
        try writer.copy(6, from: old, slot: 6)
        writer.endRow()
        _ = try store.commit(transaction)
        try store.sync()
        let image = fs.crashImage(policy: .strict, seed: 1)
        let reopened = try StoreWorkload.open(image, options)
        let row = try #require(try reopened.snapshot.row(ref))
        #expect(throws: Never.self) { try reopened.read(try row.block.column(6).external(row.index)) }
    }

    /// A large value kept in the history, when both its row and its deletion are moved by a failed flush.
    @Test func aLargePreservedValueSurvivesTheMove() throws {
        let fs = SimulatedFileSystem()
        let options = Self.unflushedOptions
        let store = try StoreWorkload.open(fs, options)
        let ref = try Self.commitLargeValue(slot: 5, to: store)
        let deletion = store.makeTransaction()
        try deletion.delete(ref, replacing: try #require(try store.snapshot.row(ref)).version)
        _ = try store.commit(deletion)
        fs.inject(.init(.fail(.ioError), of: .syncData, flushLoss: .everything))
        try store.sync()
        let reopened = try StoreWorkload.open(fs.crashImage(policy: .strict, seed: 1), options)
        var history = try reopened.history(after: 1)
        let block = try #require(try history.next()?.groups.first?.tombstones.first)
        #expect(throws: Never.self) { try reopened.read(try block.column(5).external(0)) }
    }
}
