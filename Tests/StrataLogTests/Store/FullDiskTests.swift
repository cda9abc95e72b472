import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// A store that has filled its disk, and what it can do about that.
@Suite struct FullDiskTests {
    private static let path = FilePath("/store")
    private static let capacity = 6 << 20

    private static var options: LogOptions {
        var options = LogOptions()
        options.compaction.isAutomatic = false
        options.segmentMaximumBytes = 512 << 10
        options.preallocationMinimumBytes = 64 << 10
        options.reserveLogMinimumBytes = 1 << 20
        options.checkpointTailBytes = 1 << 30
        return options
    }

    private static func open(_ disk: SmallDiskFileSystem) throws -> LogStore {
        try LogStore.open(path, in: disk, options: options, schema: SampleSchema.schema)
    }

    /// Text that does not compress.
    private static func text(_ generator: inout SeededGenerator) -> String {
        String(decoding: (0..<400).map { _ in UInt8(32 + generator.below(95)) }, as: UTF8.self)
    }

    /// Writes 50 objects anew in one transaction.
    private static func update(
        _ store: LogStore, _ names: inout [UInt64: String], _ generator: inout SeededGenerator
    ) throws {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        var changed = SlotSet()
        changed.insert(0)
        var new: [UInt64: String] = [:]
        while new.count < 50 {
            let key = UInt64(generator.below(4_000) + 1)
            guard new[key] == nil else { continue }
            let name = text(&generator)
            if let row = try store.snapshot.row(ObjectRef(entity: SampleSchema.person, key: key)) {
                try writer.beginUpdate(key: key, replacing: row.version, changed: changed)
            } else {
                writer.beginInsert(key: key)
            }
            writer.set(0, name)
            writer.endRow()
            new[key] = name
        }
        _ = try store.commit(transaction)
        names.merge(new) { _, new in new }
    }

    private static func check(_ store: LogStore, _ names: [UInt64: String], _ hint: Comment) throws {
        var found: [UInt64: String] = [:]
        try store.snapshot.forEachRun(root: SampleSchema.person) { run throws(StoreError) in
            for key in run.firstKey..<run.firstKey + UInt64(run.count) {
                guard let row = try store.snapshot.row(ObjectRef(entity: SampleSchema.person, key: key)) else {
                    continue
                }
                found[key] = try row.block.column(0).string(row.index)
            }
            return true
        }
        #expect(found == names, hint)
    }

    @Test(arguments: 0..<UInt64(4)) func aFullDiskCanBeCompacted(seed: UInt64) throws {
        let disk = SmallDiskFileSystem(MemoryFileSystem(), directory: Self.path, capacity: Self.capacity)
        var generator = SeededGenerator(seed: seed)
        var names: [UInt64: String] = [:]
        var store = try Self.open(disk)
        for _ in 0..<20 { try Self.update(store, &names, &generator) }
        store.keepReserve(for: 2 << 20)
        #expect(try disk.attributes(Self.path.appending("RESERVE"))?.byteCount == 1 << 20)
        for round in 0..<3 {
            let error = #expect(throws: StoreError.self) {
                for _ in 0..<10_000 { try Self.update(store, &names, &generator) }
            }
            #expect(error?.code == .io && error?.errno == .noSpace, "round \(round): \(String(describing: error))")
            let full = disk.usedByteCount
            let report = try store.compact()
            #expect(report.segments > 0 && disk.usedByteCount < full - 512 << 10, "round \(round)")
            try Self.check(store, names, "round \(round)")
            // There is room again, also for the reserve.
            try Self.update(store, &names, &generator)
            store.keepReserve(for: 2 << 20)
            #expect(try disk.attributes(Self.path.appending("RESERVE"))?.byteCount == 1 << 20)
            #expect(try store.verify().problems.isEmpty)
            try store.close()
            store = try Self.open(disk)
            try Self.check(store, names, "round \(round), opened again")
        }
        try store.close()
    }

    /// It is made longer once it is less than half of what it should be.
    @Test func theReserveDoesNotGrowWithEveryLittle() throws {
        let disk = SmallDiskFileSystem(MemoryFileSystem(), directory: Self.path, capacity: Self.capacity)
        let store = try Self.open(disk)
        func reserve(for logByteCount: Int) throws -> Int64? {
            store.keepReserve(for: logByteCount)
            return try disk.attributes(Self.path.appending("RESERVE"))?.byteCount
        }
        #expect(try reserve(for: 64 << 20) == 1 << 20)
        #expect(try reserve(for: 128 << 20) == 1 << 20)
        #expect(try reserve(for: 129 << 20) == Int64(129 << 20) / 64)
        try store.close()
    }

    /// What stopped it is reported, although it has freed some space by then.
    @Test func aCompactionOfAFullDiskCanBeStopped() throws {
        let disk = SmallDiskFileSystem(MemoryFileSystem(), directory: Self.path, capacity: Self.capacity)
        var generator = SeededGenerator(seed: 1)
        var names: [UInt64: String] = [:]
        let store = try Self.open(disk)
        for _ in 0..<20 { try Self.update(store, &names, &generator) }
        store.keepReserve(for: 2 << 20)
        #expect(throws: StoreError.self) {
            for _ in 0..<10_000 { try Self.update(store, &names, &generator) }
        }
        let reserve = Self.path.appending("RESERVE")
        // It begins anew without the reserve, once it has met the full disk.
        let error = #expect(throws: StoreError.self) {
            try store.compact { progress in
                (try? disk.attributes(reserve)) != nil || progress.completedSegments == 0
            }
        }
        #expect(error?.code == .cancelled && error?.errno == nil)
        try Self.check(store, names, "after a compaction that was stopped")
        try store.close()
    }

    @Test func aSmallLogHasNoReserve() throws {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(Self.path, in: disk, options: Self.options, schema: SampleSchema.schema)
        store.keepReserve(for: Self.options.reserveLogMinimumBytes - 1)
        #expect(try disk.attributes(Self.path.appending("RESERVE")) == nil)
        store.keepReserve(for: Self.options.reserveLogMinimumBytes)
        #expect(try disk.attributes(Self.path.appending("RESERVE")) != nil)
        try store.close()
    }

    /// Without a reserve, and with garbage only in segments that hold much else: no step forward, and nothing lost.
    @Test func aCompactionThatFindsNoRoomLosesNothing() throws {
        var generator = SeededGenerator(seed: 9)
        var names: [UInt64: String] = [:]
        let memory = MemoryFileSystem()
        let store = try Self.open(SmallDiskFileSystem(memory, directory: Self.path, capacity: 1 << 30))
        for _ in 0..<80 { try Self.update(store, &names, &generator) }
        try store.close()
        let used = SmallDiskFileSystem(memory, directory: Self.path, capacity: 0).usedByteCount
        let tight = try Self.open(SmallDiskFileSystem(memory, directory: Self.path, capacity: Int(used) + 8192))
        let error = #expect(throws: StoreError.self) { try tight.compact() }
        #expect(error?.errno == .noSpace)
        try Self.check(tight, names, "after a compaction without room")
        #expect(try tight.verify().problems.isEmpty)
    }

    /// A full disk keeps nobody from opening a store.
    @Test func aFullDiskDoesNotKeepAStoreFromOpening() throws {
        let fs = SimulatedFileSystem()
        do {
            let store = try StoreWorkload.open(fs, StoreWorkload.options())
            _ = try FailedFlushTests.insert(store, name: "kept")
            try store.close()
        }
        fs.inject(.init(.fail(.noSpace), of: .write, repetition: .always))
        fs.inject(.init(.fail(.noSpace), of: .preallocate, repetition: .always))
        #expect(throws: Never.self) { _ = try StoreWorkload.open(fs, StoreWorkload.options()) }
    }
}
