import Foundation
import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Rows of an earlier schema version, read by a later one.
@Suite struct LiftingTests {
    /// Of ``SampleSchema``: a new slot in front, two that changed places, one that is gone, one that is no longer null,
    /// and no department any more.
    static let migrated: Schema = {
        func kept(_ kind: ValueKind, _ source: Int, postings: UInt16 = 0, fill: [UInt8]? = nil) -> SlotLayout {
            SlotLayout(kind, postingsID: postings, lift: SlotLift(source: source, fill: fill))
        }
        let person = EntityLayout(
            id: SampleSchema.person, rootID: SampleSchema.person, name: "Human",
            slots: [
                SlotLayout(.int32, lift: SlotLift(fill: [42, 0, 0, 0])), kept(.double, 2), kept(.string, 0),
                kept(.data, 6, fill: [1, 2, 3]), kept(.int16, 1),
                SlotLayout(.string, lift: SlotLift(fill: Array("new".utf8))),
                SlotLayout(.bool, lift: SlotLift()),
            ])
        return Schema(entities: [person], model: [1], isMigration: true)
    }()

    static func store(
        _ fileSystem: any FileSystem = MemoryFileSystem(), at path: FilePath = "/s", rows: Int
    ) throws -> LogStore {
        let store = try LogStore.open(path, in: fileSystem, options: StoreTests.options(), schema: SampleSchema.schema)
        let department = try StoreTests.makeDepartment(store)
        _ = try StoreTests.insert(store, rows, department: department)
        return store
    }

    static func expectMigrated(_ store: LogStore, rows count: Int, _ hint: String = "") throws {
        let snapshot = store.snapshot
        #expect(snapshot.count(entity: SampleSchema.person) == count, "\(hint)")
        #expect(snapshot.count(entity: SampleSchema.department) == 0, "\(hint)")
        var rows: [Row] = []
        try snapshot.forEachRun(root: SampleSchema.person) { run throws(StoreError) in
            let block = try store.block(at: run.location)
            rows += (0..<run.count).map { Row(block: block, index: run.location.row + $0) }
            return true
        }
        #expect(rows.count == count, "\(hint)")
        for row in rows {
            let (block, index, key) = (row.block, row.index, row.ref.key)
            #expect(block.slotCount == 7)
            #expect(try block.column(0).int32(index) == 42)
            #expect(try block.column(1).double(index) == Double(key) / 3)
            #expect(try block.column(2).string(index) == "person \(key)")
            #expect(try Array(block.column(3).bytes(index)) == [1, 2, 3])
            #expect(try block.column(4).int16(index) == Int16(truncatingIfNeeded: key))
            #expect(try block.column(5).string(index) == "new")
            #expect(try block.column(6).isNull(index))
            #expect(block.nullCount(3) ?? 0 == 0)
            #expect(block.nullCount(6) ?? block.rowCount == block.rowCount)
            #expect(block.plan == nil || block.zone(0) == nil)
        }
        var departments = 0
        try snapshot.forEachRun(root: SampleSchema.department) { run throws(StoreError) in
            departments += run.count
            return true
        }
        #expect(departments == 0, "\(hint)")
        let report = try store.verify()
        #expect(report.problems.isEmpty, "\(hint): \(report.problems)")
    }

    @Test(arguments: [3, 500])
    func rowsAreReadAsTheNewerSchemaHasThem(rows: Int) throws {
        let fs = MemoryFileSystem()
        var store = try Self.store(fs, rows: rows)
        let written = store.statistics.writtenByteCount
        try store.register(Self.migrated)
        #expect(store.statistics.writtenByteCount - written < 4096)
        try Self.expectMigrated(store, rows: rows)
        try store.close()
        store = try LogStore.open("/s", in: fs, options: StoreTests.options(), schema: nil)
        try Self.expectMigrated(store, rows: rows)
        _ = try store.compact()
        try Self.expectMigrated(store, rows: rows, "after compaction")
        try store.close()
        store = try LogStore.open("/s", in: fs, options: StoreTests.options(), schema: nil)
        try Self.expectMigrated(store, rows: rows, "after compaction and opening")
        try store.close()
    }

    /// What is known of a segment names slots of the schema of that time.
    @Test func segmentsKnownBeforeAMigrationMayHaveHadMoreSlots() throws {
        let store = try Self.store(rows: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: try store.allocateKeys(root: SampleSchema.person, count: 1))
        [UInt8](repeating: 7, count: 100_000).withUnsafeBytes { writer.set(6, bytes: $0) }
        writer.endRow()
        _ = try store.commit(transaction)
        try store.withWriter { writer throws(StoreError) in try writer.leaveSegment() }
        _ = try StoreTests.insert(store, 1, department: .null)
        #expect(try store.segmentStatistics().count == 2)
        let person = EntityLayout(
            id: SampleSchema.person, rootID: SampleSchema.person, name: "Person",
            slots: [SlotLayout(.string, lift: SlotLift(source: 0))])
        try store.register(Schema(entities: [person], model: [1], isMigration: true))
        store.dropCache()
        #expect(try store.segmentStatistics().first?.segment == 1)
        try store.compact()
        #expect(store.snapshot.count(entity: SampleSchema.person) == 3)
        #expect(try store.verify().problems.isEmpty)
        try store.close()
    }

    @Test func theLogAloneGivesTheSame() throws {
        let fs = MemoryFileSystem()
        var store = try Self.store(fs, rows: 300)
        try store.checkpoint()
        try store.register(Self.migrated)
        try store.close()
        for name in try fs.list("/s") where name.hasSuffix(".chk") { try fs.unlink(FilePath("/s/\(name)")) }
        store = try LogStore.open("/s", in: fs, options: StoreTests.options(), schema: nil)
        #expect(store.recovery.checkpoint == nil)
        try Self.expectMigrated(store, rows: 300)
        try store.close()
    }

    @Test func segmentsAfterAMigrationTellOfIt() throws {
        let fs = MemoryFileSystem()
        var options = StoreTests.options()
        options.segmentMaximumBytes = 64 << 10
        var store = try LogStore.open("/s", in: fs, options: options, schema: SampleSchema.schema)
        _ = try StoreTests.insert(store, 50, department: .null)
        try store.register(Self.migrated)
        for _ in 0..<20 {
            let first = try store.allocateKeys(root: SampleSchema.person, count: 400)
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.person)
            for key in first..<first + 400 {
                writer.beginInsert(key: key)
                writer.set(0, Int32(42))
                writer.set(1, Double(key) / 3)
                writer.set(2, "person \(key)")
                ([1, 2, 3] as [UInt8]).withUnsafeBytes { writer.set(3, bytes: $0) }
                writer.set(4, Int16(truncatingIfNeeded: key))
                writer.set(5, "new")
                writer.endRow()
            }
            _ = try store.commit(transaction)
        }
        #expect(store.statistics.newestSegment > 1)
        try store.close()
        for name in try fs.list("/s") where name.hasSuffix(".chk") { try fs.unlink(FilePath("/s/\(name)")) }
        store = try LogStore.open("/s", in: fs, options: options, schema: nil)
        try Self.expectMigrated(store, rows: 8_050)
        try store.close()
    }

    @Test func versionsAfterOneAnotherAdd() throws {
        let store = try Self.store(rows: 40)
        try store.register(Self.migrated)
        var second = Self.migrated
        second.model = [2]
        let slots = second.entities[0].slots
        second.entities[0].slots = [
            SlotLayout(slots[5].kind, lift: SlotLift(source: 5, fill: Array("other".utf8))),
            SlotLayout(slots[6].kind, lift: SlotLift(source: 6, fill: [1])),
        ]
        try store.register(second)
        let row = try #require(try store.snapshot.row(ObjectRef(entity: SampleSchema.person, key: 7)))
        #expect(try row.block.column(0).string(row.index) == "new")
        #expect(try row.block.column(1).bool(row.index))
        try store.close()
    }

    @Test func orderedIndexesStayAsTheyAre() throws {
        let fs = MemoryFileSystem()
        var store = try Self.store(fs, rows: 300)
        func definition(slot: Int) -> OrderedIndexDefinition {
            OrderedIndexDefinition(
                root: SampleSchema.person, entities: [SampleSchema.person], elements: [.init(slot: slot, kind: .int16)])
        }
        let gone = OrderedIndexDefinition(
            root: SampleSchema.person, entities: [SampleSchema.person], elements: [.init(slot: 5, kind: .string)])
        try store.maintain([definition(slot: 1), gone])
        try store.checkpoint()
        try store.register(Self.migrated)
        #expect(store.snapshot.orderedIndexes.map(\.definition) == [definition(slot: 4)])
        #expect(store.snapshot.orderedIndexes[0].isReady)
        #expect(store.snapshot.orderedIndexes[0].count == 300)
        try Self.expectMigrated(store, rows: 300)
        try store.close()
        store = try LogStore.open("/s", in: fs, options: StoreTests.options(), schema: nil)
        #expect(store.snapshot.orderedIndexes.map(\.definition) == [definition(slot: 4)])
        try Self.expectMigrated(store, rows: 300)
        try store.checkpoint()
        try store.close()
        store = try LogStore.open("/s", in: fs, options: StoreTests.options(), schema: nil)
        try store.maintain([definition(slot: 4)])
        #expect(store.snapshot.orderedIndexes[0].isReady)
        try Self.expectMigrated(store, rows: 300)
        try store.close()
    }

    @Test func aFollowerOfTheOlderSchemaGetsAnErrorAndKeepsWhatItHas() throws {
        // Only real files say how far a log that is being written counts.
        let fs = PosixFileSystem()
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("lifting-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let path = FilePath(url.path)
        let store = try Self.store(fs, at: path, rows: 100)
        var options = StoreTests.options()
        options.access = .readOnly
        let reader = try LogStore.open(path, in: fs, options: options, schema: nil)
        let shown = reader.snapshot
        try store.register(Self.migrated)
        for _ in 0..<2 {
            #expect { try reader.refresh() } throws: { ($0 as? StoreError)?.code == .schemaMismatch }
        }
        #expect(reader.snapshot.sequence == shown.sequence)
        let row = try #require(try shown.row(ObjectRef(entity: SampleSchema.person, key: 3)))
        #expect(try row.block.column(0).string(row.index) == "person 3")
        try reader.close()
        let second = try LogStore.open(path, in: fs, options: options, schema: nil)
        try Self.expectMigrated(second, rows: 100)
        try second.close()
        try store.close()
    }

    @Test func aSchemaThatRowsCannotBeReadByIsRefused() throws {
        let store = try Self.store(rows: 10)
        func expectRefused(_ change: (inout EntityLayout) -> Void) {
            var schema = Self.migrated
            change(&schema.entities[0])
            #expect { try store.register(schema) } throws: { ($0 as? StoreError)?.code == .schemaMismatch }
        }
        expectRefused { $0.rootID = 1 }
        expectRefused { $0.slots[2] = SlotLayout(.string, lift: SlotLift(source: 1)) }
        expectRefused { $0.slots[2] = SlotLayout(.string, lift: SlotLift(source: 99)) }
        expectRefused { $0.slots[0] = SlotLayout(.int32, lift: SlotLift(fill: [1])) }
        #expect(store.schemaVersion == 1)
        try store.close()
    }

    /// Everything that the process or the machine can die at: the store has the old schema or the new one.
    @Test func aCrashLeavesTheOldSchemaOrTheNewOne() throws {
        let fileSystem = SimulatedFileSystem()
        let store = try Self.store(fileSystem, rows: 20)
        try store.register(Self.migrated)
        try store.checkpoint()
        try store.close()
        var seen: Set<UInt16> = []
        var cursor = fileSystem.trace.cursor()
        var seed: UInt64 = 1
        repeat {
            for policy in [CrashSweepTests.Policy.killed, .strict, .ordered, .evil] {
                seed += 1
                let image = cursor.image(policy: policy, seed: seed)
                let hint = "crash after operation \(cursor.position), \(policy), seed \(seed)"
                let reopened = try LogStore.open("/s", in: image, options: StoreTests.options(), schema: nil)
                seen.insert(reopened.schemaVersion)
                if reopened.schemaVersion == 2 {
                    try Self.expectMigrated(reopened, rows: 20, hint)
                } else if let row = try reopened.snapshot.row(ObjectRef(entity: SampleSchema.person, key: 3)) {
                    #expect(try row.block.column(0).string(row.index) == "person 3", "\(hint)")
                }
                try reopened.close()
            }
        } while cursor.advance()
        #expect(seen.isSuperset(of: [1, 2]))
    }

    @Test func salvageTakesWhatTheNewestSchemaShows() throws {
        let fs = MemoryFileSystem()
        let store = try Self.store(fs, rows: 30)
        try store.register(Self.migrated)
        try store.close()
        _ = try LogSalvage.run("/s", in: fs, to: "/t")
        let salvaged = try LogStore.open("/t", in: fs, options: StoreTests.options(), schema: nil)
        try Self.expectMigrated(salvaged, rows: 30)
        try salvaged.close()
    }
}
