import StrataIO
import SystemPackage
import Testing

@testable import StrataLog

/// Bytes with right checksums that no writer makes. Each case was found by a fuzz target, or lies next to one that was.
@Suite struct HostileLogTests {
    private static let uuid = StoreUUID(high: 1, low: 2)

    static func files() throws -> StoreFiles {
        let fileSystem = MemoryFileSystem()
        try fileSystem.createDirectory("/s")
        return StoreFiles(fileSystem: fileSystem, directory: "/s")
    }

    static func open(_ files: StoreFiles) throws(StoreError) -> LogStore {
        try LogStore.open("/s", in: files.fileSystem, options: StoreTests.options(), schema: SampleSchema.schema)
    }

    /// One segment with header and preamble; each may lie about what came before.
    private static func writeSegment(
        _ files: StoreFiles, _ kind: RecordHeader.Kind = .preamble, headerSequence: UInt64, preambleSequence: UInt64,
        preambleChecksum: UInt32 = 0
    ) throws {
        let header = SegmentHeader(
            storeUUID: uuid, segment: 1, previousSegment: 0, previousValidByteCount: 0,
            previousSequence: headerSequence, previousChecksum: 0)
        var body = ByteWriter()
        var state = StoreState()
        state.schemas = [NumberedSchema(version: 1, schema: SampleSchema.schema)]
        state.append(to: &body)
        let preamble = RecordImage.plain(
            kind, body: body.bytes,
            placement: RecordPlacement(
                storeUUID: uuid, position: LogPosition(segment: 1, offset: 64), sequence: preambleSequence,
                timestampNanoseconds: 0, previousChecksum: preambleChecksum,
                durable: LogPosition(segment: 0, offset: 0)))
        let file = try files.fileSystem.open(files.segment(1), .create)
        try header.encoded().withUnsafeBytes { try file.writeAll([$0], at: 0) }
        try file.writeAll([UnsafeRawBufferPointer(preamble.bytes)], at: 64)
    }

    /// It was taken for a torn tail and cut off; the next commit then made a segment without preamble, which did not
    /// open again.
    @Test(arguments: [(sequence: 4, checksum: 0), (3, 9)] as [(sequence: UInt64, checksum: UInt32)])
    func aPreambleThatDoesNotFollowItsHeaderIsNotCutOff(sequence: UInt64, checksum: UInt32) throws {
        let files = try Self.files()
        try Self.writeSegment(
            files, headerSequence: 3, preambleSequence: sequence, preambleChecksum: checksum)
        let store = try Self.open(files)
        _ = try StoreTests.insert(store, 2, department: .null)
        try store.close()
        #expect(try Self.open(files).snapshot.count(entity: SampleSchema.person) == 2)
    }

    /// Without the schemas that only a preamble has, rows behind it could not be read.
    @Test func aSegmentThatBeginsWithAnotherRecordIsRefused() throws {
        let files = try Self.files()
        try Self.writeSegment(files, .metadata, headerSequence: 3, preambleSequence: 3)
        let error = #expect(throws: StoreError.self) { try Self.open(files) }
        #expect(error?.code == .corruption)
    }

    /// A record of the right place and number that was written behind another one: what is left of a log that was cut
    /// off there is not the next transaction.
    @Test func aRecordThatFollowsAnotherOneIsNotRead() throws {
        let files = try Self.files()
        let store = try Self.open(files)
        _ = try StoreTests.insert(store, 2, department: .null)
        let snapshot = store.snapshot
        let (end, checksum) = (snapshot.end, snapshot.checksum)
        for (previous, isNext) in [(checksum ^ 1, false), (checksum, true)] {
            let copy = try Self.files()
            for path in [files.segment(end.segment), files.manifest] {
                let source = try files.fileSystem.open(path, .read)
                var bytes = [UInt8](repeating: 0, count: Int(try source.byteCount()))
                _ = try bytes.withUnsafeMutableBytes { try source.readPrefix(into: $0, at: 0) }
                let target = try copy.fileSystem.open(path, .create)
                try bytes.withUnsafeBytes { try target.writeAll([$0], at: 0) }
            }
            let image = RecordImage.plain(
                .metadata, body: [1, 2, 3],
                placement: RecordPlacement(
                    storeUUID: snapshot.source.storeUUID, position: end, sequence: snapshot.sequence,
                    timestampNanoseconds: 0, previousChecksum: previous, durable: end))
            let file = try copy.fileSystem.open(files.segment(end.segment), .readWrite)
            try file.writeAll([UnsafeRawBufferPointer(image.bytes)], at: Int64(end.offset))
            let reopened = try Self.open(copy)
            #expect((reopened.metadata == [1, 2, 3]) == isNext)
            #expect((reopened.recovery.tornByteCount > 0) != isNext)
        }
    }

    /// Records of 400 bytes made a reader go through eight million deletions, references or absent keys, and take half
    /// a gigabyte for them.
    @Test(arguments: ["deletions", "beyond", "references", "absent", "absent beyond"])
    func aRecordThatClaimsMoreThanThereIsIsDamage(_ claim: String) throws {
        let files = try Self.files()
        let store = try Self.open(files)
        let people = try StoreTests.insert(store, 2, department: .null)
        let snapshot = store.snapshot
        let million = (1...UInt64(TransactionBody.groupMaximumCount)).map { $0 }
        func deletions(_ keys: [UInt64]) -> TransactionBody.ChangeRecord {
            TransactionBody.ChangeRecord(
                entity: SampleSchema.person, kind: .delete, changed: SlotSet(), keys: IntegerList(keys),
                replacedSequences: IntegerList(keys.map { _ in 1 }), tombstoneBlocks: [])
        }
        var (transaction, compaction) = (TransactionBody(), CompactionBody())
        switch claim {
        case "deletions": transaction.changes = (0..<2).map { _ in deletions(million) }
        case "beyond": transaction.changes = [deletions([people[1].key + 1])]
        case "references":
            let change = PostingChange(target: people[0], referrer: people[1], isRemoval: false)
            let list = TransactionBody.PostingChanges(postingsID: 1, changes: million.map { _ in change })
            transaction.postings = (0..<2).map { _ in list }
        case "absent":
            compaction.absent = (0..<2).map { _ in .init(entity: SampleSchema.person, keys: IntegerList(million)) }
        default: compaction.absent = [.init(entity: SampleSchema.person, keys: [people[1].key + 1])]
        }
        let isTransaction = !claim.hasPrefix("absent")
        let image = RecordImage.plain(
            isTransaction ? .transaction : .compaction,
            body: isTransaction ? transaction.encoded() : compaction.encoded(),
            placement: RecordPlacement(
                storeUUID: snapshot.source.storeUUID, position: snapshot.end,
                sequence: snapshot.sequence + (isTransaction ? 1 : 0), timestampNanoseconds: 0,
                previousChecksum: snapshot.checksum, durable: snapshot.end))
        #expect(image.bytes.count <= 1_024)
        // As the writer that died left it: without a checkpoint of its own.
        let copy = try Self.files()
        for path in [files.segment(snapshot.end.segment), files.manifest] {
            let source = try files.fileSystem.open(path, .read)
            var bytes = [UInt8](repeating: 0, count: Int(try source.byteCount()))
            _ = try bytes.withUnsafeMutableBytes { try source.readPrefix(into: $0, at: 0) }
            let target = try copy.fileSystem.open(path, .create)
            try bytes.withUnsafeBytes { try target.writeAll([$0], at: 0) }
        }
        let file = try copy.fileSystem.open(files.segment(snapshot.end.segment), .readWrite)
        try file.writeAll([UnsafeRawBufferPointer(image.bytes)], at: Int64(snapshot.end.offset))
        // It is refused, or cut off as what was never finished; the two objects stay.
        do {
            let reopened = try Self.open(copy)
            #expect(reopened.snapshot.sequence == snapshot.sequence)
            #expect(reopened.snapshot.count(entity: SampleSchema.person) == 2)
            #expect(reopened.recovery.tornByteCount > 0)
        } catch {
            #expect(error.code == .corruption)
        }
    }

    /// A segment that follows another log than the one that is there: one of them differs, length, number of
    /// transactions or checksum.
    @Test(arguments: [(64, 0, 0), (0, 1, 0), (0, 0, 1)] as [(length: Int, sequence: UInt64, checksum: UInt32)])
    func aSegmentThatFollowsAnotherLogIsRefused(length: Int, sequence: UInt64, checksum: UInt32) throws {
        let files = try Self.files()
        let store = try Self.open(files)
        _ = try StoreTests.insert(store, 2, department: .null)
        let snapshot = store.snapshot
        let state = try store.withWriter { writer throws(StoreError) in writer.storeState }
        let other = LogWriter.End(
            position: LogPosition(segment: snapshot.end.segment, offset: snapshot.end.offset + length),
            sequence: snapshot.sequence + sequence, checksum: snapshot.checksum ^ checksum)
        var mayReappear = false
        _ = try OpenSegment.create(
            2, after: other, files: files,
            source: BlockSource(files: files, storeUUID: snapshot.source.storeUUID, cacheMaximumBytes: 0),
            options: StoreTests.options(), storeState: state, mayReappear: &mayReappear)
        try store.close()
        let error = #expect(throws: StoreError.self) { try Self.open(files) }
        #expect(error?.code == .corruption)
    }

    /// Counting on from them overflowed.
    @Test(arguments: [UInt64.max, UInt64.max - 1, RecordHeader.maximumSequence + 1])
    func sequenceNumbersThatLeaveNoRoomCountForNothing(sequence: UInt64) throws {
        let files = try Self.files()
        try Self.writeSegment(files, headerSequence: sequence, preambleSequence: sequence)
        let store = try Self.open(files)
        #expect(store.snapshot.count(entity: SampleSchema.person) == 0)
        _ = try StoreTests.insert(store, 2, department: .null)
        try store.close()
        #expect(try Self.open(files).snapshot.count(entity: SampleSchema.person) == 2)
    }

    /// The next manifest's and the next checkpoint's number overflowed.
    @Test func numbersWithoutSuccessorAreIgnored() throws {
        let files = try Self.files()
        let store = try Self.open(files)
        _ = try StoreTests.insert(store, 2, department: .null)
        try store.close()
        var manifest = try #require(Manifest.read(files))
        manifest.number = .max
        try manifest.write(files)
        _ = try files.fileSystem.open(files.checkpoint(.max), .create)
        let again = try Self.open(files)
        #expect(again.snapshot.count(entity: SampleSchema.person) == 2)
        try again.checkpoint()
        try again.close()
    }

    /// Appending at such a place trapped, or overwrote the segment's header.
    @Test(arguments: [0, 60, 128 + 4, 1 << 29]) func aCheckpointThatEndsAtAnImpossiblePlaceIsNotUsed(offset: Int) throws
    {
        let files = try Self.files()
        let store = try Self.open(files)
        _ = try StoreTests.insert(store, 2, department: .null)
        let snapshot = store.snapshot
        let forged = Snapshot(
            sequence: snapshot.sequence, timestampNanoseconds: 0, layout: snapshot.layout, indexes: snapshot.indexes,
            postings: snapshot.postings, counts: snapshot.counts, source: snapshot.source,
            end: LogPosition(segment: 1, offset: offset), checksum: snapshot.checksum)
        try Checkpoint.write(number: 9, snapshot: forged, storeState: StoreState())
        try store.close()
        do {
            let again = try Self.open(files)
            #expect(again.recovery.damagedCheckpoints.count == 1)
            _ = try StoreTests.insert(again, 2, department: .null)
            #expect(again.snapshot.count(entity: SampleSchema.person) == 4)
        } catch {
            #expect((error as? StoreError)?.code == .corruption)
        }
    }

    /// An index that names a row behind a block's last, or of an entity that no schema has.
    @Test func rowsThatAreNotThereAreNotCounted() throws {
        let store = try Self.open(try Self.files())
        let ref = try StoreTests.insert(store, 2, department: .null)[1]
        let snapshot = store.snapshot
        let position = try #require(snapshot.layout.position(ofRoot: SampleSchema.person))
        let last = try snapshot.locate(ref)
        func complete(row: Int, countsEntities: Bool = true) throws(StoreError) -> Snapshot {
            let edit = IndexEdit(base: snapshot.indexes[position])
            edit.set(ref.key, Location(segment: last.segment, byteOffset: last.byteOffset, row: row))
            var indexes = snapshot.indexes
            indexes[position] = try edit.finish()
            return try LogCensus.complete(
                Snapshot(
                    sequence: snapshot.sequence, timestampNanoseconds: 0, layout: snapshot.layout, indexes: indexes,
                    postings: snapshot.postings, counts: countsEntities ? snapshot.counts : [],
                    source: snapshot.source, end: snapshot.end, checksum: snapshot.checksum))
        }
        #expect(try complete(row: last.row).count(entity: SampleSchema.person) == 2)
        for (row, countsEntities) in [(last.row + 1, true), (last.row, false)] {
            let error = #expect(throws: StoreError.self) { try complete(row: row, countsEntities: countsEntities) }
            #expect(error?.code == .corruption && error?.offset == last.byteOffset)
        }
    }

    /// It would be moved without end, since that does not change the index.
    @Test func anotherEntitysRowIsNotCompacted() throws {
        let files = try Self.files()
        let store = try Self.open(files)
        let department = try StoreTests.makeDepartment(store)
        let person = try StoreTests.insert(store, 1, department: department)[0]
        try #require(person.key == department.key)
        let snapshot = store.snapshot
        let position = try #require(snapshot.layout.position(ofRoot: SampleSchema.person))
        let edit = IndexEdit(base: snapshot.indexes[position])
        edit.set(person.key, try snapshot.locate(department))
        var indexes = snapshot.indexes
        indexes[position] = try edit.finish()
        let forged = Snapshot(
            sequence: snapshot.sequence, timestampNanoseconds: 0, layout: snapshot.layout, indexes: indexes,
            postings: snapshot.postings, counts: snapshot.counts, source: snapshot.source, end: snapshot.end,
            checksum: snapshot.checksum)
        let state = try store.withWriter { writer throws(StoreError) in writer.storeState }
        try Checkpoint.write(number: 9, snapshot: forged, storeState: state)
        try store.close()
        let again = try Self.open(files)
        #expect(again.recovery.checkpoint == 9)
        let error = #expect(throws: StoreError.self) { try again.compact() }
        #expect(error?.code == .corruption && error?.message.contains("not its own") == true)
    }

    /// What was compacted away lies before it, so that it goes on with later transactions.
    @Test func aSegmentBehindAHoleDoesNotGoBack() throws {
        let store = try Self.open(try Self.files())
        for _ in 0..<3 { _ = try StoreTests.insert(store, 1, department: .null) }
        let snapshot = store.snapshot
        for (sequence, isNext) in [(snapshot.sequence - 1, false), (snapshot.sequence, true)] {
            var replayer = LogReplayer(base: snapshot, storeState: StoreState(), durable: snapshot.end)
            let header = SegmentHeader(
                storeUUID: Self.uuid, segment: 3, previousSegment: 2, previousValidByteCount: 64,
                previousSequence: sequence, previousChecksum: 0)
            if isNext {
                try replayer.jump(to: header)
            } else {
                let error = #expect(throws: StoreError.self) { try replayer.jump(to: header) }
                #expect(error?.code == .corruption && error?.segment == 3)
            }
        }
    }

    /// A location would have no room for it.
    @Test func thereIsNoSegmentBehindTheLast() throws {
        let files = try Self.files()
        let store = try Self.open(files)
        let snapshot = store.snapshot
        var mayReappear = false
        let number = Location.maximumSegment + 1
        let error = #expect(throws: StoreError.self) {
            try OpenSegment.create(
                number, after: LogWriter.End(position: snapshot.end, sequence: 0, checksum: 0), files: files,
                source: snapshot.source, options: StoreTests.options(), storeState: StoreState(),
                mayReappear: &mayReappear)
        }
        #expect(error?.code == .tooLarge && !mayReappear)
        #expect(try files.fileSystem.attributes(files.segment(number)) == nil)
    }

    /// Whatever a header or an archive names; and one that was cut off since it was measured.
    @Test func aSegmentIsReadWithinItsBounds() throws {
        let files = try Self.files()
        let file = try files.fileSystem.open(files.segment(1), .create)
        try file.truncate(to: 4096)
        func reader() throws(StoreError) -> RecordReader {
            try RecordReader(files: files, storeUUID: Self.uuid, segment: 1, file: file)
        }
        for (offset, count, isRead) in [
            (0, 4096, true), (4088, 8, true), (4096, 0, true), (4089, 8, false), (-8, 8, false), (8, -8, false),
            (4097, 0, false), (0, .max, false),
        ] {
            #expect(try (reader().bytes(at: offset, count: count) != nil) == isRead, "\(count) bytes at \(offset)")
        }
        let before = try reader()
        try file.truncate(to: 1024)
        #expect(try before.bytes(at: 1016, count: 8) != nil)
        #expect(try before.bytes(at: 1020, count: 8) == nil)
    }

    /// What no reader would take is not written.
    @Test func transactionsThatAreTooLargeAreRefused() {
        let most = TransactionBody.maximumCount
        for (objects, relationships, isTaken) in [(most, most, true), (most + 1, 0, false), (0, most + 1, false)] {
            let result: Void? = try? PreparedTransaction.check(objects: objects, relationships: relationships)
            #expect((result != nil) == isTaken)
        }
        let longest = RecordHeader.maximumByteCount - LogWriter.preambleReserveByteCount
        for (byteCount, isTaken) in [(longest, true), (longest + 1, false)] {
            let result: Void? = try? PreparedTransaction.check(byteCount: byteCount)
            #expect((result != nil) == isTaken)
        }
    }

    /// The index has no key 0.
    @Test func blocksOfObjectsWithoutKeyAreRefused() {
        let layout = makeLayout([.int32])
        for keys in [[0], [0, 1], [5, 0]] as [[UInt64]] {
            let rows = keys.map { FormatRow(key: $0, sequence: nil, values: [.int32(5)]) }
            #expect(throws: StoreError.self) { try load(stamped(encode(rows, layout)).bytes, layout) }
        }
    }

    /// A few hundred bytes that stand for gigabytes.
    @Test func aBodyDoesNotGrowWithoutLimit() {
        let groupCount = TransactionBody.maximumCount / TransactionBody.groupMaximumCount
        #expect(throws: Never.self) {
            try ClaimTests.millionsOfDeletions(groupCount: groupCount).withBytes { bytes throws(MalformedBytes) in
                try TransactionBody(bytes)
            }
        }
        let bytes = ClaimTests.millionsOfDeletions(groupCount: groupCount + 1)
        #expect(bytes.count < 400)
        #expect(throws: MalformedBytes.self) {
            try bytes.withBytes { bytes throws(MalformedBytes) in try TransactionBody(bytes) }
        }
    }
}
