import Foundation
import StrataIO
import SystemPackage
import Testing

@testable import StrataLog

/// What one transaction may hold, and what becomes of it.
@Suite struct TransactionTests {
    /// The last value set counts, in the relationship's other direction too.
    @Test func aRelationshipSetTwiceInOneRowIsKeptOnce() throws {
        let fs = MemoryFileSystem()
        let store = try LogStore.open("/s", in: fs, options: StoreTests.options(), schema: SampleSchema.schema)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: try store.allocateKeys(root: SampleSchema.person, count: 1))
        writer.set(4, ObjectRef(entity: SampleSchema.department, key: 1))
        writer.set(4, ObjectRef(entity: SampleSchema.department, key: 2))
        writer.endRow()
        _ = try store.commit(transaction)
        let first = ObjectRef(entity: SampleSchema.department, key: 1)
        #expect(try store.snapshot.referrerCount(postings: SampleSchema.postings, to: first) == 0)
    }

    /// Two operations on one object in one transaction are refused or counted once.
    @Test func deletingTwiceInOneTransactionCountsOnce() throws {
        let store = try LogStore.open(
            "/s", in: MemoryFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
        let department = try StoreTests.makeDepartment(store)
        let persons = try StoreTests.insert(store, 3, department: department)
        let transaction = store.makeTransaction()
        let row = try #require(try store.snapshot.row(persons[0]))
        do {
            try transaction.delete(persons[0], replacing: row.version)
            try transaction.delete(persons[0], replacing: row.version)
            _ = try store.commit(transaction)
        } catch {
            #expect(error.code == .invalidArgument)
            return
        }
        #expect(store.snapshot.count(entity: SampleSchema.person) == 2)
        #expect(try store.snapshot.referrerCount(postings: SampleSchema.postings, to: department) == 2)
    }

    /// Values of deleted objects reach the history whatever else the transaction does in between.
    @Test func preservedValuesReachTheHistoryBesideOtherChanges() throws {
        let store = try LogStore.open(
            "/s", in: MemoryFileSystem(), options: StoreTests.options(), schema: SampleSchema.schema)
        let department = try StoreTests.makeDepartment(store)
        let first = try store.allocateKeys(root: SampleSchema.person, count: 80)
        let filling = store.makeTransaction()
        let persons = filling.writer(for: SampleSchema.person)
        for key in first..<first + 80 {
            persons.beginInsert(key: key)
            persons.set(5, String(repeating: "\(key) ", count: 300))
            persons.endRow()
        }
        _ = try store.commit(filling)
        let transaction = store.makeTransaction()
        for key in first..<first + 80 {
            if key == first + 5 {
                let row = try #require(try store.snapshot.row(department))
                let writer = transaction.writer(for: SampleSchema.department)
                try writer.beginUpdate(key: department.key, replacing: row.version, changed: SlotSet([0]))
                writer.set(0, "changed")
                writer.endRow()
            }
            let ref = ObjectRef(entity: SampleSchema.person, key: key)
            let row = try #require(try store.snapshot.row(ref))
            try transaction.delete(ref, replacing: row.version)
        }
        let sequence = try store.commit(transaction).sequence
        var history = try store.history(after: sequence - 1)
        let groups = try #require(try history.next()).groups.filter { $0.kind == .delete }
        let preserved = groups.reduce(0) { $0 + $1.tombstones.reduce(0) { $0 + $1.rowCount } }
        #expect(preserved == 80)
    }

    /// Calls with zeros that take no memory.
    private static func withZeros(_ count: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let zeros = try #require(
            mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
        try #require(zeros != MAP_FAILED)
        defer { munmap(zeros, count) }
        try body(UnsafeRawBufferPointer(start: zeros, count: count))
    }

    /// A value over the format's limit is refused, and not acknowledged first and called damaged afterwards; before
    /// anything is copied of it. One of 4 GiB and a bit is no short one.
    @Test(arguments: [0, 1, 4 << 30 - LargeValue.maximumByteCount + 70_000]) func aValueOverTheLimitIsRefused(
        _ excess: Int
    ) throws {
        let store = try LogStore.open("/s", in: MemoryFileSystem(), options: LogOptions(), schema: SampleSchema.schema)
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        try Self.withZeros(LargeValue.maximumByteCount + excess) { writer.set(6, bytes: $0) }
        writer.endRow()
        if excess == 0 {
            #expect(try store.commit(transaction).sequence == 1)
        } else {
            let copied = transaction.largeValues.reduce(0) { $0 + $1.bytes.count }
            #expect(copied == 0)
            let error = #expect(throws: StoreError.self) { try store.commit(transaction) }
            #expect(error?.code == .tooLarge)
            #expect(store.snapshot.sequence == 0)
        }
        try store.close()
    }

    /// Saves from the threads of one global queue do not wait for each other's helpers.
    @Test func savesFromAGlobalQueueDoNotStall() throws {
        let store = try LogStore.open("/s", in: MemoryFileSystem(), options: LogOptions(), schema: SampleSchema.schema)
        let group = DispatchGroup()
        for number in 0..<12 {
            DispatchQueue.global(qos: .userInitiated).async(group: group) {
                guard let first = try? store.allocateKeys(root: SampleSchema.person, count: 200) else { return }
                let transaction = store.makeTransaction()
                let writer = transaction.writer(for: SampleSchema.person)
                for key in first..<first + 200 {
                    writer.beginInsert(key: key)
                    writer.set(0, "person \(key) of \(number)")
                    writer.endRow()
                }
                _ = try? store.commit(transaction)
            }
        }
        #expect(group.wait(timeout: .now() + 60) == .success)
        #expect(store.snapshot.count(entity: SampleSchema.person) == 2_400)
    }
}
