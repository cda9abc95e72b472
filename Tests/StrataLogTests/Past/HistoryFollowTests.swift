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
}
