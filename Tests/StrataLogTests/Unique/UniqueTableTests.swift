import Testing

@testable import StrataLog

/// The table behind uniqueness constraints, with hashes that many objects share.
@Suite struct UniqueTableTests {
    private static func refs(_ table: borrowing UniqueTable, _ hash: UInt32) throws -> [UInt64] {
        var found: [UInt64] = []
        try table.forEach(hash) { ref throws(StoreError) in
            found.append(ref.rawValue)
            return true
        }
        return found.sorted()
    }

    @Test func aCrowdIsFoundAndLeft() throws {
        var table = UniqueTable()
        let all = (1...500).map { UInt64($0) }
        for ref in all {
            table.insert(7, ObjectRef(rawValue: ref))
            table.insert(UInt32(ref) &+ 1_000, ObjectRef(rawValue: ref))
        }
        #expect(try Self.refs(table, 7) == all)
        #expect(try Self.refs(table, 1_250) == [250])
        // One that is there twice leaves once at a time.
        table.insert(7, ObjectRef(rawValue: 400))
        table.remove(7, ObjectRef(rawValue: 400))
        #expect(try Self.refs(table, 7) == all)
        for ref in all where ref != 333 { table.remove(7, ObjectRef(rawValue: ref)) }
        #expect(try Self.refs(table, 7) == [333])
        table.remove(7, ObjectRef(rawValue: 333))
        #expect(try Self.refs(table, 7).isEmpty)
        #expect(try Self.refs(table, 1_499) == [499])
    }

    /// A million equal values took hours when each was searched behind all others.
    @Test func manyEqualValuesAreTakenInOneByOne() throws {
        var table = UniqueTable()
        for ref in 1...1_000_000 as ClosedRange<UInt64> { table.insert(42, ObjectRef(rawValue: ref)) }
        var count = 0
        try table.forEach(42) { _ throws(StoreError) in
            count += 1
            return true
        }
        #expect(count == 1_000_000)
    }
}
