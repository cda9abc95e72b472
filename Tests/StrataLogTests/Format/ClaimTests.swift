import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Records of some hundred bytes that claim millions of changes: constant and consecutive columns take no bytes, so
/// that a reader that made an entry of each value took half a gigabyte for a record.
@Suite struct ClaimTests {
    private static let million = UInt64(TransactionBody.groupMaximumCount)

    private static func run(_ first: UInt64, _ count: UInt64) -> IntegerList {
        IntegerList(from: first, step: 1, count: Int(count))
    }

    private static func repetition(_ value: UInt64, _ count: UInt64) -> IntegerList {
        IntegerList(from: value, step: 0, count: Int(count))
    }

    private static func deletions(_ keys: IntegerList) -> TransactionBody.ChangeRecord {
        TransactionBody.ChangeRecord(
            entity: SampleSchema.person, kind: .delete, changed: SlotSet(), keys: keys,
            replacedSequences: repetition(1, UInt64(keys.count)), tombstoneBlocks: [])
    }

    /// The body of a transaction that claims deletions of a million keys in each of its groups. Not encoded from the
    /// keys, which takes long.
    static func millionsOfDeletions(groupCount: Int) -> [UInt8] {
        var writer = ByteWriter()
        for group in 0..<UInt64(groupCount) {
            writer.append(SampleSchema.person)
            writer.append(ChangeKind.delete.rawValue)
            writer.append(UInt32(million))
            // Consecutive keys, and the same transaction for each.
            writer.append(UInt8(255))
            writer.append(1 + group * million)
            writer.append(UInt8(0))
            writer.append(UInt64(1))
            writer.append(UInt32(0))
        }
        // Without groups a body ends with their count.
        var count = ByteWriter()
        count.append(UInt32(groupCount))
        let empty: [UInt8] = TransactionBody().encoded()
        return Array(empty[..<(empty.count - 4)]) + count.bytes + writer.bytes
    }

    /// Deletions of many keys, with random counts.
    private static func claims(_ generator: inout SeededGenerator) -> [TransactionBody.ChangeRecord] {
        (0..<Int.random(in: 1...7, using: &generator)).map { _ in
            deletions(run(1, UInt64.random(in: 1_000...20_000, using: &generator)))
        }
    }

    @Test(arguments: 0..<20)
    func whatABodyClaimsTakesNoMemory(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var body = TransactionBody()
        body.changes = Self.claims(&generator)
        let bytes = body.encoded()
        #expect(bytes.count < 400)
        try bytes.withBytes { bytes throws(MalformedBytes) in
            let read = try TransactionBody(bytes)
            let history = try HistoryBody(bytes)
            #expect(read.changes.map(\.keys.count) == body.changes.map(\.keys.count))
            for change in read.changes {
                #expect(change.keys.storedCount == 0 && change.replacedSequences.storedCount == 0)
            }
            for group in history.groups {
                #expect(group.keys.storedCount == 0 && group.replacedSequences.storedCount == 0)
            }
        }
        var compaction = CompactionBody()
        compaction.absent = body.changes.map { .init(entity: $0.entity, keys: $0.keys) }
        compaction.transactions = [
            .init(sequence: 1, timestampNanoseconds: 0, author: nil, contextName: nil, changes: body.changes)
        ]
        try compaction.encoded().withBytes { bytes throws(MalformedBytes) in
            let read = try CompactionBody(bytes)
            #expect(read.absent.allSatisfy { $0.keys.storedCount == 0 })
            #expect(read.transactions[0].changes.allSatisfy { $0.keys.storedCount == 0 })
        }
    }

    /// What came has a row in the record's blocks; no object goes twice.
    @Test func claimsThatCannotBeAreDamageToEveryReaderOfBodies() {
        func isRead(_ change: TransactionBody.ChangeRecord, blocks: [TransactionBody.Piece] = []) -> Bool {
            var body = TransactionBody()
            body.blocks = blocks
            body.changes = [change]
            let results: [Bool] = [
                (try? body.encoded().withBytes { bytes throws(MalformedBytes) in try TransactionBody(bytes) }) != nil,
                (try? body.encoded().withBytes { bytes throws(MalformedBytes) in try HistoryBody(bytes) }) != nil,
            ]
            #expect(results[0] == results[1])
            return results[0]
        }
        func change(_ kind: ChangeKind, _ count: UInt64) -> TransactionBody.ChangeRecord {
            var change = Self.deletions(Self.run(1, count))
            change.kind = kind
            return change
        }
        let rows = UInt64(BlockFormat.rowsMaximum)
        for (kind, role) in [(ChangeKind.insert, TransactionBody.BlockRole.inserted), (.update, .updated)] {
            let block = TransactionBody.Piece(role: role, byteCount: 256)
            #expect(isRead(change(kind, rows), blocks: [block]))
            #expect(!isRead(change(kind, rows + 1), blocks: [block]))
            #expect(isRead(change(kind, rows + 1), blocks: [block, block]))
            #expect(!isRead(change(kind, 1)))
        }
        #expect(isRead(Self.deletions(Self.repetition(5, 1))))
        #expect(!isRead(Self.deletions(Self.repetition(5, 2))))
        let tombstones = TransactionBody.Piece(role: .tombstone, byteCount: 256)
        var preserved = change(.delete, rows + 1)
        preserved.tombstoneBlocks = [0]
        #expect(!isRead(preserved, blocks: [tombstones]))
    }

    /// However its column is written: one that was packed was read, and refused once it had been written anew.
    @Test(arguments: [2, 3, 1_000])
    func aGroupNamesNoObjectAgainAndAgain(_ count: Int) throws {
        let plain: [UInt8] = TransactionBody().encoded()
        var writer = ByteWriter()
        writer.append(UInt32(1))
        writer.append(SampleSchema.person)
        writer.append(ChangeKind.delete.rawValue)
        writer.append(UInt32(count))
        let head = Array(plain[..<(plain.count - 4)]) + writer.bytes
        /// A column of `count` times one value, and what follows the group's keys.
        func body(_ column: (inout ByteWriter) -> Void) -> [UInt8] {
            var writer = ByteWriter()
            column(&writer)
            IntegerColumn.append(Array(repeating: 1, count: count), to: &writer)
            writer.append(UInt32(0))
            return head + writer.bytes
        }
        let constant = body { IntegerColumn.append(Array(repeating: 7, count: count), to: &$0) }
        let packed = body { writer in
            // Each a byte above the least: as many bytes as keys.
            writer.append(UInt8(8))
            writer.append(UInt64(7))
            for _ in 0..<count { writer.append(UInt8(0)) }
        }
        for bytes in [constant, packed] {
            #expect(throws: MalformedBytes.self) {
                try bytes.withBytes { bytes throws(MalformedBytes) in _ = try TransactionBody(bytes) }
            }
            #expect(throws: MalformedBytes.self) {
                try bytes.withBytes { bytes throws(MalformedBytes) in _ = try HistoryBody(bytes) }
            }
        }
    }

    /// The pages of an index that are not there are passed over, whatever range is to go.
    @Test func removingARangeGoesByWhatIsThere() throws {
        let keys: [UInt64] = [1, 700, 100_000, 1 << 30]
        let filled = IndexEdit(base: ObjectIndex())
        for key in keys { filled.set(key, Location(segment: 1, byteOffset: 64, row: 0)) }
        let index = try filled.finish()
        let ranges: [ClosedRange<UInt64>] = [1...ObjectRef.maximumKey, 2...1 << 29, 700...700, 1 << 40...1 << 41]
        for range in ranges {
            let edit = IndexEdit(base: index)
            #expect(try edit.isEmpty(in: range) == !keys.contains(where: range.contains))
            #expect(try edit.removeAll(in: range) == keys.filter(range.contains))
            #expect(try edit.isEmpty(in: range))
            let removed = try edit.finish()
            for key in keys { #expect(try removed.location(of: key).isAbsent == range.contains(key)) }
        }
    }

    /// A preamble that claims huge keys lifts no bound: only what was there goes, whatever a record claims.
    @Test(arguments: ["once", "many times"])
    func replayTakesAwayWhatIsThere(_ claim: String) throws {
        let forged = try Self.forged { _ in
            let body = Self.millionsOfDeletions(groupCount: 8)
            #expect(body.count < 400)
            return Array(repeating: (.transaction, body), count: claim == "once" ? 1 : 50)
        }
        var replayer = forged.replayer
        let stop = try replayer.replay(forged.reader)
        guard case .end = stop else {
            Issue.record("\(stop)")
            return
        }
        let after = try replayer.finish()
        #expect(after.count(entity: SampleSchema.person) == 0 && after.sequence > forged.snapshot.sequence)
        #expect(forged.snapshot.count(entity: SampleSchema.person) == 2)
    }

    /// References change with objects that come, change or go, and not with those that are only said to go.
    @Test(arguments: [false, true])
    func replayRefusesMoreReferencesThanItsObjectsHave(_ claimsDeletions: Bool) throws {
        let forged = try Self.forged { people in
            var body = TransactionBody()
            let change = PostingChange(target: people[0], referrer: people[1], isRemoval: false)
            body.postings = [
                .init(postingsID: 1, changes: Array(repeating: change, count: 10_000))
            ]
            if claimsDeletions { body.changes = [Self.deletions(Self.run(100, 10_000))] }
            return [(.transaction, body.encoded())]
        }
        var replayer = forged.replayer
        let error = #expect(throws: StoreError.self) { _ = try replayer.replay(forged.reader) }
        #expect(error?.code == .corruption && error?.offset != nil && replayer.referenceCount == 0)
        #expect(error?.segment == forged.snapshot.end.segment)
    }

    @Test func schemasInARowAreAdoptedOnce() throws {
        let forged = try Self.forged { _ in
            (1...200 as ClosedRange<UInt16>).map { number in
                var bytes = ByteWriter()
                NumberedSchema(version: 1 + number, schema: SampleSchema.schema).append(to: &bytes)
                return (.schema, bytes.bytes)
            }
        }
        var replayer = forged.replayer
        _ = try replayer.replay(forged.reader)
        #expect(replayer.adoptionCount == 1 && replayer.recordCount == 201)
    }

    /// A compaction whose victim held a deletion and its repetition by an earlier one wrote the key twice: such logs
    /// are sound. (Refused otherwise: a store that nothing is wrong with.)
    @Test(arguments: [2, TransactionBody.groupMaximumCount])
    func aKeyMayBeSaidToBeAbsentMoreThanOnce(_ count: Int) throws {
        let forged = try Self.forged { people in
            var body = CompactionBody()
            body.absent = [.init(entity: SampleSchema.person, keys: Self.repetition(people[0].key, UInt64(count)))]
            let bytes = body.encoded()
            try bytes.withBytes { bytes throws(MalformedBytes) in
                #expect(try CompactionBody(bytes).absent.map(\.keys) == [[people[0].key]])
            }
            return [(.compaction, bytes)]
        }
        var replayer = forged.replayer
        guard case .end = try replayer.replay(forged.reader) else {
            Issue.record("the log is refused")
            return
        }
        let after = try replayer.finish()
        for (snapshot, isThere) in [(forged.snapshot, true), (after, false)] {
            #expect((try snapshot.row(ObjectRef(entity: SampleSchema.person, key: 1)) != nil) == isThere)
            #expect(try snapshot.row(ObjectRef(entity: SampleSchema.person, key: 2)) != nil)
        }
    }

    private struct Forged {
        var snapshot: Snapshot
        var replayer: LogReplayer
        var reader: RecordReader
    }

    /// A store of two people, behind whose log lie a preamble that claims the greatest keys, and some records.
    private static func forged(
        _ records: ([ObjectRef]) throws -> [(RecordHeader.Kind, [UInt8])]
    ) throws -> Forged {
        let files = try HostileLogTests.files()
        let store = try HostileLogTests.open(files)
        let people = try StoreTests.insert(store, 2, department: .null)
        let snapshot = store.snapshot
        var state = try store.withWriter { writer throws(StoreError) in writer.storeState }
        state.nextKeys = [.init(root: SampleSchema.person, next: ObjectRef.maximumKey)]
        var writer = ByteWriter()
        state.append(to: &writer)
        state.compaction.appendToPreamble(&writer)
        let file = try files.fileSystem.open(files.segment(snapshot.end.segment), .readWrite)
        let end = try append([(.preamble, writer.bytes)] + records(people), to: file, behind: snapshot)
        let reader = try RecordReader(
            files: files, storeUUID: snapshot.source.storeUUID, segment: snapshot.end.segment, file: file, limit: end)
        return Forged(
            snapshot: snapshot, replayer: LogReplayer(base: snapshot, storeState: state, durable: snapshot.end),
            reader: reader)
    }

    /// Records of 400 bytes, each of which claims eight million deletions under a preamble that claims the greatest
    /// keys, do to every reader of the store what one that names its objects does.
    @Test(arguments: ["open", "open for reading", "follow", "salvage"])
    func readersOfAForgedStoreGoByWhatIsThere(_ way: String) throws {
        let forged = try Self.forged { _ in
            Array(repeating: (.transaction, Self.millionsOfDeletions(groupCount: 8)), count: 20)
        }
        let copy = try HostileLogTests.files()
        let fileSystem = copy.fileSystem
        let segment = copy.segment(forged.snapshot.end.segment)
        func put(_ path: FilePath, upTo end: Int?) throws {
            let source = try forged.snapshot.source.files.fileSystem.open(path, .read)
            var bytes = [UInt8](repeating: 0, count: try end ?? Int(source.byteCount()))
            _ = try bytes.withUnsafeMutableBytes { try source.readPrefix(into: $0, at: 0) }
            let target = try fileSystem.open(path, fileSystem.attributes(path) == nil ? .create : .readWrite)
            try bytes.withUnsafeBytes { try target.writeAll([$0], at: 0) }
        }
        // As the writer that died left it: without a checkpoint of its own.
        try put(copy.manifest, upTo: nil)
        try put(segment, upTo: way == "follow" ? forged.snapshot.end.offset : forged.reader.limit)
        var options = StoreTests.options()
        switch way {
        case "open":
            let store = try HostileLogTests.open(copy)
            #expect(store.snapshot.count(entity: SampleSchema.person) == 0)
            #expect(try store.verify().problems.isEmpty)
            try store.close()
        case "salvage":
            let report = try LogSalvage.run("/s", in: fileSystem, to: "/t", options: options)
            #expect(report.rows == 0)
        default:
            options.access = .readOnly
            let store = try LogStore.open("/s", in: fileSystem, options: options, schema: nil)
            if way == "follow" {
                #expect(store.snapshot.count(entity: SampleSchema.person) == 2)
                try put(segment, upTo: forged.reader.limit)
                #expect(try store.refresh())
            }
            #expect(store.snapshot.sequence > forged.snapshot.sequence)
            #expect(store.snapshot.count(entity: SampleSchema.person) == 0)
            try store.close()
        }
    }

    /// Writes records one behind the other; returns where they end.
    private static func append(
        _ records: [(RecordHeader.Kind, [UInt8])], to file: any File, behind snapshot: Snapshot
    ) throws -> Int {
        var (position, sequence, checksum) = (snapshot.end, snapshot.sequence, snapshot.checksum)
        for (kind, body) in records {
            if kind == .transaction { sequence += 1 }
            let image = RecordImage.plain(
                kind, body: body,
                placement: RecordPlacement(
                    storeUUID: snapshot.source.storeUUID, position: position, sequence: sequence,
                    timestampNanoseconds: 0, previousChecksum: checksum, durable: position))
            try file.writeAll([UnsafeRawBufferPointer(image.bytes)], at: Int64(position.offset))
            position = LogPosition(segment: position.segment, offset: position.offset + image.bytes.count)
            checksum = image.checksum
        }
        return position.offset
    }
}
