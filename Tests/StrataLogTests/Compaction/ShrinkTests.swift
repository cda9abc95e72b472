import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// What deleting most of a store gives back.
@Suite struct ShrinkTests {
    /// - Parameter keepsHistory: then what was inserted and deleted when is still there.
    @Test(arguments: [false, true]) func theDirectoryShrinksWithTheStore(keepsHistory: Bool) throws {
        let path = FilePath("/store")
        let disk = SmallDiskFileSystem(MemoryFileSystem(), directory: path, capacity: 1 << 30)
        var options = LogOptions()
        options.segmentMaximumBytes = 256 << 10
        options.preallocationMinimumBytes = 16 << 10
        options.compaction.isAutomatic = false
        if !keepsHistory { options.retention.historyFloor = .max }
        let store = try LogStore.open(path, in: disk, options: options, schema: SampleSchema.schema)
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.person)
            let first = try store.allocateKeys(root: SampleSchema.person, count: 500)
            for key in first..<first + 500 {
                writer.beginInsert(key: key)
                writer.set(0, String((0..<100).map { _ in Character(UnicodeScalar(UInt8(32 + generator.below(95)))) }))
                writer.endRow()
            }
            _ = try store.commit(transaction)
        }
        try store.checkpoint()
        let before = disk.usedByteCount
        let transaction = store.makeTransaction()
        for key in UInt64(1)...10_000 where key % 10 != 0 {
            let ref = ObjectRef(entity: SampleSchema.person, key: key)
            try transaction.delete(ref, replacing: try #require(try store.snapshot.row(ref)).version)
        }
        _ = try store.commit(transaction)
        try store.compact()
        try store.close()
        let after = disk.usedByteCount
        // A tenth of the rows is left, which are short, and two checkpoints, whose pages go by the keys there were.
        #expect(after * 100 < before * (keepsHistory ? 40 : 36), "\(before) bytes became \(after)")
        let reopened = try LogStore.open(path, in: disk, options: options, schema: nil)
        #expect(reopened.snapshot.count(entity: SampleSchema.person) == 1_000)
        #expect(try reopened.verify().problems.isEmpty)
    }
}
