import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

@Suite struct HistoryFollowTests {
    /// A reader that is advanced now and then, also before its end, and across segments, sees each transaction once.
    @Test func aReaderGoesOnWhereItIs() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let store = try LogStore.open(
            "/store", in: MemoryFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
        let department = try StoreTests.makeDepartment(store)
        var reader = try store.history(after: 1)
        var seen: [UInt64] = []
        for _ in 0..<300 {
            _ = try StoreTests.insert(store, Int.random(in: 1...200, using: &random), department: department)
            if Bool.random(using: &random) { continue }
            try reader.advance(to: store.snapshot)
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                if let transaction = try reader.next() { seen.append(transaction.sequence) }
            }
        }
        try reader.advance(to: store.snapshot)
        while let transaction = try reader.next() { seen.append(transaction.sequence) }
        #expect(seen == Array(2...301))
        #expect(store.statistics.newestSegment > 1)
        try store.close()
    }

    /// A reader whose segment stays goes on behind what retention has let go of. (Otherwise it took a sound log for a
    /// damaged one.)
    @Test(arguments: [0, 1]) func whatRetentionLetGoOfIsPassedOver(_ read: Int) throws {
        let store = try LogStore.open(
            "/store", in: MemoryFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
        let department = try StoreTests.makeDepartment(store)
        _ = try StoreTests.insert(store, 200, department: department)
        var reader = try store.history(after: 1 - UInt64(read))
        for _ in 0...read { #expect(try reader.next() != nil) }
        func leaveSegment() throws { try store.withWriter { writer throws(StoreError) in try writer.leaveSegment() } }
        // Segments of which nothing is left, behind one that stays as it is.
        for _ in 0..<3 {
            try leaveSegment()
            for ref in try StoreTests.insert(store, 200, department: department) {
                let deletion = store.makeTransaction()
                try deletion.delete(ref, replacing: try #require(try store.snapshot.row(ref)).version)
                _ = try store.commit(deletion)
            }
        }
        try leaveSegment()
        _ = try StoreTests.insert(store, 1, department: department)
        let newest = store.snapshot.sequence
        store.setRetention(LogRetention(historyFloor: newest - 1))
        _ = try store.compactAlone(target: 0.5) { _ in true }
        #expect(store.historyFloor > 2 && store.snapshot.epoch.compaction.holes.remaining(1, through: 4) == [1])
        try reader.advance(to: store.snapshot)
        var rest: [UInt64] = []
        while let transaction = try reader.next() { rest.append(transaction.sequence) }
        #expect(rest == Array((store.historyFloor + 1)...newest))
        try store.close()
    }
}
