import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Indexes over two references, against a set of pairs.
@Suite struct OrderedPairsTests {
    private static let link: UInt16 = 4
    private static let schema = Schema(entities: [
        EntityLayout(
            id: link, rootID: link, name: "Link", slots: [SlotLayout(.reference), SlotLayout(.reference)])
    ])
    private static let definitions = [[0, 1], [1, 0]].map { slots in
        OrderedIndexDefinition(
            root: link, entities: [link], elements: slots.map { .init(slot: $0, kind: .reference) })
    }

    private struct Pair: Hashable {
        var first: ObjectRef
        var second: ObjectRef
    }

    private static func open(_ fs: any FileSystem) throws -> LogStore {
        let store = try LogStore.open("/store", in: fs, options: StoreTests.options(), schema: schema)
        try store.maintain(definitions)
        return store
    }

    private static func object(_ random: inout SeededGenerator) -> ObjectRef {
        // Keys of several lengths, and of two entities whose numbers do not sort as their keys do.
        let key = [UInt64(1), 2, 255, 256, 70_000, 1 << 40][random.below(6)] + UInt64(random.below(3))
        return ObjectRef(entity: random.chance(0.5) ? 900 : 7, key: key)
    }

    private static func expect(_ store: LogStore, _ rows: [Pair: ObjectRef], _ comment: Comment) throws {
        let snapshot = store.snapshot
        for (slot, ends) in [(0, Set(rows.keys.map(\.first))), (1, Set(rows.keys.map(\.second)))] {
            let index = try #require(snapshot.pairs(of: link, from: slot))
            for end in ends {
                var found: [Pair: ObjectRef] = [:]
                try index.forEachPair(of: end) { other, row in
                    found[slot == 0 ? Pair(first: end, second: other) : Pair(first: other, second: end)] = row
                    return true
                }
                #expect(found == rows.filter { (slot == 0 ? $0.key.first : $0.key.second) == end }, comment)
                var count = 0
                try index.forEachPair(of: end) { _, _ in
                    count += 1
                    return false
                }
                #expect(count == 1, comment)
            }
            try index.forEachPair(of: ObjectRef(entity: 8, key: 256)) { other, _ in
                Issue.record("an object without rows has \(other)")
                return true
            }
        }
        let index = try #require(snapshot.pairs(of: link, from: 0))
        for pair in rows.keys.prefix(50) {
            #expect(try index.row(pairing: pair.first, with: pair.second) == rows[pair], comment)
            let turned = Pair(first: pair.second, second: pair.first)
            #expect(try index.row(pairing: turned.first, with: turned.second) == rows[turned], comment)
        }
    }

    @Test(arguments: UInt64(1)...4) func rowsPairWhatTheyReferTo(_ seed: UInt64) throws {
        let fs = SimulatedFileSystem()
        var random = SeededGenerator(seed: seed)
        var store = try Self.open(fs)
        var rows: [Pair: ObjectRef] = [:]
        for round in 0..<25 {
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: Self.link)
            var changed: Set<Pair> = []
            for _ in 0..<(1 + random.below(30)) {
                let pair = Pair(first: Self.object(&random), second: Self.object(&random))
                guard changed.insert(pair).inserted else { continue }
                if let row = rows.removeValue(forKey: pair) {
                    let version = try #require(try store.snapshot.row(row)).version
                    try transaction.delete(row, replacing: version)
                } else {
                    let key = try store.allocateKeys(root: Self.link, count: 1)
                    writer.beginInsert(key: key)
                    writer.set(0, pair.first)
                    writer.set(1, pair.second)
                    writer.endRow()
                    rows[pair] = ObjectRef(entity: Self.link, key: key)
                }
            }
            _ = try store.commit(transaction)
            if round % 7 == 6 { try store.checkpoint() }
            if round % 10 == 9 {
                try store.close()
                store = try Self.open(fs)
            }
            try Self.expect(store, rows, "seed \(seed), round \(round)")
        }
        #expect(try store.verify().problems.isEmpty)
        try store.close()
    }

    @Test func anIndexThatIsNotReadyIsNotHandedOut() throws {
        let fs = SimulatedFileSystem()
        let store = try LogStore.open("/store", in: fs, options: StoreTests.options(), schema: Self.schema)
        #expect(store.snapshot.pairs(of: Self.link, from: 0) == nil)
        try store.maintain([Self.definitions[1]])
        #expect(store.snapshot.pairs(of: Self.link, from: 0) == nil)
        #expect(store.snapshot.pairs(of: Self.link, from: 1) != nil)
        #expect(store.snapshot.pairs(of: 5, from: 1) == nil)
    }

    @Test func rowsThatReferToNothingPairNothing() throws {
        let store = try Self.open(SimulatedFileSystem())
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: Self.link)
        let end = ObjectRef(entity: 1, key: 1)
        for ends in [(end, ObjectRef.null), (.null, end), (.null, .null)] {
            writer.beginInsert(key: try store.allocateKeys(root: Self.link, count: 1))
            writer.set(0, ends.0)
            writer.set(1, ends.1)
            writer.endRow()
        }
        _ = try store.commit(transaction)
        for slot in 0...1 {
            let index = try #require(store.snapshot.pairs(of: Self.link, from: slot))
            var count = 0
            try index.forEachPair(of: end) { _, _ in
                count += 1
                return true
            }
            #expect(count == 0)
        }
    }
}
