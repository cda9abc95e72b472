import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// A small schema that uses every kind of value.
enum SampleSchema {
    static let department: UInt16 = 1
    static let person: UInt16 = 2
    static let postings: UInt16 = 7

    static let schema = Schema(entities: [
        EntityLayout(id: department, rootID: department, name: "Department", slots: [SlotLayout(.string)]),
        EntityLayout(
            id: person, rootID: person, name: "Person",
            slots: [
                SlotLayout(.string), SlotLayout(.int16), SlotLayout(.double), SlotLayout(.bool),
                SlotLayout(.reference, postingsID: postings), SlotLayout(.string, preservedInHistory: true),
                SlotLayout(.data), SlotLayout(.uuid),
            ]),
    ])
}

@Suite struct StoreTests {
    static func options() -> LogOptions {
        var options = LogOptions()
        options.segmentMaximumBytes = 256 << 10
        options.preallocationMinimumBytes = 4096
        options.checkpointsInBackground = false
        return options
    }

    static func insert(_ store: LogStore, _ count: Int, department: ObjectRef) throws -> [ObjectRef] {
        let first = try store.allocateKeys(root: SampleSchema.person, count: count)
        let transaction = store.makeTransaction()
        transaction.author = "tests"
        let writer = transaction.writer(for: SampleSchema.person)
        for key in first..<first + UInt64(count) {
            writer.beginInsert(key: key)
            writer.set(0, "person \(key)")
            writer.set(1, Int16(truncatingIfNeeded: key))
            writer.set(2, Double(key) / 3)
            writer.set(3, key % 2 == 0)
            writer.set(4, department)
            writer.set(5, "p\(key)@example.org")
            writer.endRow()
        }
        let receipt = try store.commit(transaction)
        #expect(receipt.snapshot.count(entity: SampleSchema.person) >= count)
        return (first..<first + UInt64(count)).map { ObjectRef(entity: SampleSchema.person, key: $0) }
    }

    static func makeDepartment(_ store: LogStore) throws -> ObjectRef {
        let key = try store.allocateKeys(root: SampleSchema.department, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.department)
        writer.beginInsert(key: key)
        writer.set(0, "Research")
        writer.endRow()
        _ = try store.commit(transaction)
        return ObjectRef(entity: SampleSchema.department, key: key)
    }

    @Test(arguments: [true, false])
    func savesAndReopens(closing: Bool) throws {
        let fs = MemoryFileSystem()
        let path = FilePath("/store")
        var persons: [ObjectRef] = []
        var department = ObjectRef.null
        do {
            let store = try LogStore.open(path, in: fs, options: Self.options(), schema: SampleSchema.schema)
            department = try Self.makeDepartment(store)
            for _ in 0..<5 { persons += try Self.insert(store, 1000, department: department) }
            let deleted = store.makeTransaction()
            for person in persons[..<100] {
                let row = try #require(try store.snapshot.row(person))
                try deleted.delete(person, replacing: row.version)
            }
            _ = try store.commit(deleted)
            #expect(try store.verify().problems.isEmpty)
            if closing { try store.close() }
        }
        let store = try LogStore.open(path, in: fs, options: Self.options(), schema: SampleSchema.schema)
        #expect(store.recovery.replayedTransactions == (closing ? 0 : 7))
        let snapshot = store.snapshot
        #expect(snapshot.count(entity: SampleSchema.person) == 4900)
        #expect(try snapshot.referrerCount(postings: SampleSchema.postings, to: department) == 4900)
        #expect(try snapshot.row(persons[50]) == nil)
        for person in persons[100...] {
            let row = try #require(try snapshot.row(person))
            let name = try row.block.column(0)
            #expect(String(decoding: name.bytes(row.index), as: UTF8.self) == "person \(person.key)")
            #expect(try row.block.column(1).int16(row.index) == Int16(truncatingIfNeeded: person.key))
        }
        #expect(try store.verify().problems.isEmpty)
        var history = try store.history(after: 0)
        var sequences: [UInt64] = []
        var deletions = 0
        while let transaction = try history.next() {
            sequences.append(transaction.sequence)
            for group in transaction.groups where group.kind == .delete {
                deletions += group.keys.count
                let tombstone = try #require(group.tombstones.first)
                let text = String(decoding: try tombstone.column(5).bytes(0), as: UTF8.self)
                #expect(text == "p\(group.keys[0])@example.org")
            }
        }
        #expect(sequences == Array(1...7))
        #expect(deletions == 100)
    }

    @Test func conflictsAreRefused() throws {
        let store = try LogStore.open(
            "/s", in: MemoryFileSystem(), options: Self.options(), schema: SampleSchema.schema)
        let person = try Self.insert(store, 1, department: .null)[0]
        let version = try #require(try store.snapshot.row(person)).version
        var changed = SlotSet()
        changed.insert(1)
        func update(_ value: Int16) throws {
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.person)
            try writer.beginUpdate(key: person.key, replacing: version, changed: changed)
            writer.set(1, value)
            writer.endRow()
            _ = try store.commit(transaction)
        }
        try update(5)
        let published = store.publicationCount
        let error = #expect(throws: StoreError.self) { try update(6) }
        #expect(error?.code == .conflict && store.publicationCount == published)
        let row = try #require(try store.snapshot.row(person))
        #expect(try row.block.column(1).int16(row.index) == 5)
        #expect(try store.verify().problems.isEmpty)
    }

    /// In whatever order the keys come.
    @Test(arguments: [[1, 1], [2, 1, 2], [1, 2, 2], [3, 2, 1, 2]] as [[UInt64]])
    func anObjectThatATransactionInsertsTwiceIsRefused(keys: [UInt64]) throws {
        let store = try LogStore.open(
            "/s", in: MemoryFileSystem(), options: Self.options(), schema: SampleSchema.schema)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.department)
        for key in keys {
            writer.beginInsert(key: key)
            writer.endRow()
        }
        let error = #expect(throws: StoreError.self) { try store.commit(transaction) }
        #expect(error?.code == .invalidArgument && store.snapshot.count(entity: SampleSchema.department) == 0)
    }

    /// Rows from before have no such slot.
    @Test func aRelationshipThatASchemaAddsCanBeSet() throws {
        let store = try LogStore.open(
            "/s", in: MemoryFileSystem(), options: Self.options(), schema: SampleSchema.schema)
        let department = try Self.makeDepartment(store)
        let person = try Self.insert(store, 2, department: department)[0]
        var entities = SampleSchema.schema.entities
        let index = try #require(entities.firstIndex { $0.id == SampleSchema.person })
        let slot = entities[index].slots.count
        entities[index].slots.append(SlotLayout(.reference, postingsID: 9))
        try store.register(Schema(entities: entities))
        for target in [department, .null] {
            let row = try #require(try store.snapshot.row(person))
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.person)
            try writer.beginUpdate(key: person.key, replacing: row.version, changed: SlotSet([slot]))
            writer.set(slot, target)
            writer.endRow()
            _ = try store.commit(transaction)
            let found = try #require(try store.snapshot.row(person))
            #expect(try found.block.column(slot).reference(found.index) == target)
            #expect(try store.verify().problems.isEmpty)
        }
    }

    /// Where rows lie is known once they have been committed.
    @Test func askingForTheRowsOfATransactionBeforeItIsCommittedStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let store = try LogStore.open(
                "/s", in: MemoryFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.department)
            writer.beginInsert(key: 1)
            let ticket = writer.endRow()
            _ = transaction.locations(of: [ticket])
        }
    }

    @Test func largeValuesComeBack() throws {
        let fs = MemoryFileSystem()
        var store = try LogStore.open("/s", in: fs, options: Self.options(), schema: SampleSchema.schema)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        let text = String(repeating: "large value ", count: 100_000)
        let data = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        writer.beginInsert(key: key)
        writer.set(0, text)
        data.withUnsafeBytes { writer.set(6, bytes: $0) }
        writer.endRow()
        _ = try store.commit(transaction)
        for _ in 0..<2 {
            let row = try #require(try store.snapshot.row(ObjectRef(entity: SampleSchema.person, key: key)))
            let name = try row.block.column(0)
            #expect(name.isExternal(row.index))
            #expect(String(decoding: try store.read(name.external(row.index)), as: UTF8.self) == text)
            #expect(try store.read(try row.block.column(6).external(row.index)) == data)
            #expect(try store.verify().problems.isEmpty)
            try store.close()
            store = try LogStore.open("/s", in: fs, options: Self.options(), schema: SampleSchema.schema)
        }
    }

    /// After a checkpoint memory holds only what came after it; what is read stays the same. (Before, postings kept
    /// 16 bytes a pair for ever.)
    @Test func aCheckpointLetsMemoryGo() throws {
        let fs = MemoryFileSystem()
        let store = try LogStore.open("/s", in: fs, options: Self.options(), schema: SampleSchema.schema)
        let department = try Self.makeDepartment(store)
        for _ in 0..<10 { _ = try Self.insert(store, 1000, department: department) }
        let old = store.snapshot
        let before = store.statistics.postingsByteCount
        try store.checkpoint()
        #expect(store.statistics.postingsByteCount < before / 10)
        _ = try Self.insert(store, 10, department: department)
        for round in 0..<3 {
            #expect(
                try store.snapshot.referrers(postings: SampleSchema.postings, to: department).count == 10_010 + round
                    * 5)
            #expect(try old.referrers(postings: SampleSchema.postings, to: department).count == 10_000)
            #expect(try store.verify().problems.isEmpty)
            try store.checkpoint()
            _ = try Self.insert(store, 5, department: department)
        }
        try store.close()
        let reopened = try LogStore.open("/s", in: fs, options: Self.options(), schema: SampleSchema.schema)
        #expect(try reopened.snapshot.referrers(postings: SampleSchema.postings, to: department).count == 10_025)
        #expect(try reopened.verify().problems.isEmpty)
    }
}
