import StrataIO
import SystemPackage
import Testing

@testable import StrataLog

@Suite struct RowReaderTests {
    private static func insert(_ numbers: Range<Int>, _ store: LogStore) throws -> [ObjectRef] {
        let first = try store.allocateKeys(root: SampleSchema.person, count: numbers.count)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        for number in numbers {
            writer.beginInsert(key: first + UInt64(number - numbers.lowerBound))
            writer.set(0, "number \(number)")
            writer.set(1, Int16(truncatingIfNeeded: number))
            writer.set(2, Double(number))
            writer.endRow()
        }
        _ = try store.commit(transaction)
        return numbers.indices.map {
            ObjectRef(entity: SampleSchema.person, key: first + UInt64($0 - numbers.lowerBound))
        }
    }

    @Test func rowsOfOneBlockTakeOneLookUp() throws {
        let store = try LogStore.open(
            "/s", in: MemoryFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
        let refs = try Self.insert(0..<200, store) + Self.insert(200..<400, store)
        let snapshot = store.snapshot
        let blocks = Set(try refs.map { try snapshot.locate($0).block })
        #expect(blocks.count < 20)
        for ref in refs { _ = try snapshot.row(ref) }
        let before = store.statistics
        var reader = RowReader(snapshot)
        for (number, ref) in refs.enumerated() {
            let row = try #require(try reader.row(ref))
            #expect(row.ref == ref)
            #expect(try row.block.column(2).double(row.index) == Double(number))
            #expect(try reader.row(at: row.location).ref == ref)
        }
        let after = store.statistics
        #expect(after.cacheHits - before.cacheHits == UInt64(blocks.count))
        #expect(after.cacheMisses == before.cacheMisses)
        let absent = ObjectRef(entity: SampleSchema.person, key: 1_000_000)
        #expect(try reader.row(absent) == nil)
    }
}
