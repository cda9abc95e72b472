import Testing

@testable import StrataLog

/// Numbers that no writer writes are refused, although the checksums are right: whoever reads them later relies on
/// them.
@Suite struct FormatBoundTests {
    private static let address = LogAddress(
        storeUUID: StoreUUID(high: 1, low: 2), segment: 3, offset: 4096, sequence: 5)

    /// Whatever length the bytes before it name.
    @Test(arguments: [(0, true), (3, true), (4, false), (.max, false), (-1, false), (.min, false)])
    func nothingIsReadBehindTheEnd(count: Int, isRead: Bool) {
        let result: Void? = try? ([1, 2, 3, 4] as [UInt8]).withBytes { bytes throws(MalformedBytes) in
            var reader = ByteReader(bytes)
            _ = try reader.read(UInt8.self)
            _ = try reader.read(count: count)
        }
        #expect((result != nil) == isRead)
    }

    @Test func numbersAreNotReadBehindTheEnd() throws {
        func read<Value: FixedWidthInteger>(_ type: Value.Type, from bytes: [UInt8]) -> Value? {
            // More bytes follow in memory, as in a record.
            try? (bytes + [UInt8](repeating: 1, count: 8)).withBytes { buffer throws(MalformedBytes) in
                var reader = ByteReader(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]))
                return try reader.read(type)
            }
        }
        #expect(read(UInt8.self, from: [1]) == 1 && read(UInt8.self, from: []) == nil)
        #expect(read(UInt16.self, from: [1, 0]) == 1 && read(UInt16.self, from: [1]) == nil)
        #expect(read(UInt64.self, from: [1, 0, 0, 0, 0, 0, 0, 0]) == 1)
        #expect(read(UInt64.self, from: [1, 0, 0, 0, 0, 0, 0]) == nil)
    }

    /// A count that a few bytes name and that none of them could follow: whoever reads it makes room for so many.
    @Test(arguments: [(2, 4, true), (3, 4, false), (.max, 4, false), (8, 1, true), (9, 0, false)])
    func countsOfWhatCannotBeThereAreRefused(count: UInt32, minimumByteCount: Int, isRead: Bool) {
        var writer = ByteWriter()
        writer.append(count)
        writer.append(UInt64(0))
        let result = try? writer.bytes.withBytes { bytes throws(MalformedBytes) in
            var reader = ByteReader(bytes)
            return try reader.readCount(minimumByteCount: minimumByteCount)
        }
        #expect(result == (isRead ? Int(count) : nil))
    }

    // MARK: Records

    /// A header with its checksum made right, after a number was put into it.
    private func isRead<Value: FixedWidthInteger>(_ value: Value, at offset: Int) throws -> Bool {
        let header = RecordHeader(
            kind: .transaction, sequence: 5, timestampNanoseconds: 1, byteCount: 4096, bodyByteCount: 100,
            previousChecksum: 9, durable: LogPosition(segment: 2, offset: 64), bodyChecksum: 7)
        var bytes = [UInt8](repeating: 0, count: RecordHeader.byteCount)
        return try bytes.withUnsafeMutableBytes { buffer in
            _ = header.write(to: buffer.baseAddress!, at: Self.address)
            buffer.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
            var address = Self.address
            address.sequence = UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            let crc = address.checksum(continuing: checksum(UnsafeRawPointer(buffer.baseAddress!), count: 60))
            buffer.storeBytes(of: crc.littleEndian, toByteOffset: 60, as: UInt32.self)
            return try RecordHeader.parse(
                UnsafeRawBufferPointer(buffer), storeUUID: address.storeUUID, segment: address.segment,
                offset: address.offset) != nil
        }
    }

    @Test func recordsWithImpossibleNumbersAreNone() throws {
        #expect(try isRead(RecordHeader.maximumSequence, at: 8))
        #expect(try !isRead(RecordHeader.maximumSequence + 1, at: 8))
        #expect(try isRead(UInt32(8192), at: 24))
        #expect(try !isRead(UInt32(8192 + 1), at: 24))
        #expect(try !isRead(UInt32.max / 64 * 64, at: 24))
        #expect(try isRead(UInt32(4096 - RecordHeader.byteCount - RecordFooter.byteCount), at: 28))
        #expect(try !isRead(UInt32(4096 - RecordHeader.byteCount - RecordFooter.byteCount + 1), at: 28))
        #expect(try isRead(UInt64(Location.segmentMaximumBytes), at: 48))
        #expect(try !isRead(UInt64(Location.segmentMaximumBytes) + 1, at: 48))
    }

    /// What follows in memory does not belong to it.
    @Test func headersThatAreCutOffAreNone() throws {
        let record = RecordHeader(
            kind: .transaction, sequence: 5, timestampNanoseconds: 1, byteCount: 4096, bodyByteCount: 100,
            previousChecksum: 9, durable: LogPosition(segment: 2, offset: 64), bodyChecksum: 7)
        var bytes = [UInt8](repeating: 0, count: RecordHeader.byteCount)
        bytes.withUnsafeMutableBytes { _ = record.write(to: $0.baseAddress!, at: Self.address) }
        let manifest = Manifest(
            number: 7, storeUUID: Self.address.storeUUID, segment: 3, checkpoint: 4,
            durable: LogPosition(segment: 3, offset: 4096)
        ).encoded()
        let segment = SegmentHeader(
            storeUUID: Self.address.storeUUID, segment: 3, previousSegment: 2, previousValidByteCount: 64,
            previousSequence: 1, previousChecksum: 5
        ).encoded()
        for count in [0, 4, 8, 59, 63, 64] {
            let isWhole = count == 64
            func part(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
                UnsafeRawBufferPointer(rebasing: bytes[..<count])
            }
            let header = try bytes.withBytes { bytes throws(StoreError) in
                try RecordHeader.parse(
                    part(bytes), storeUUID: Self.address.storeUUID, segment: 3, offset: Self.address.offset)
            }
            #expect((header != nil) == isWhole, "\(count) bytes")
            #expect((manifest.withUnsafeBytes { Manifest(part($0)) } != nil) == (count >= 60), "\(count) bytes")
            let isRead =
                (try? segment.withBytes { bytes throws(StoreError) in
                    try SegmentHeader(part(bytes), segment: 3)
                }) != nil
            #expect(isRead == isWhole, "\(count) bytes")
        }
    }

    /// A header of a segment with these numbers.
    private func isRead(validByteCount: Int, sequence: UInt64) -> Bool {
        let header = SegmentHeader(
            storeUUID: Self.address.storeUUID, segment: 3, previousSegment: 2, previousValidByteCount: validByteCount,
            previousSequence: sequence, previousChecksum: 5)
        return (try? header.encoded().withBytes { bytes throws(StoreError) in try SegmentHeader(bytes, segment: 3) })
            != nil
    }

    @Test func segmentsThatFollowWhatCannotBeAreRefused() {
        #expect(isRead(validByteCount: Location.segmentMaximumBytes, sequence: RecordHeader.maximumSequence))
        #expect(!isRead(validByteCount: Location.segmentMaximumBytes + 1, sequence: 1))
        #expect(!isRead(validByteCount: 64, sequence: RecordHeader.maximumSequence + 1))
    }

    @Test func manifestsOfWhatCannotBeAreRefused() {
        func isRead(number: UInt64 = 7, offset: Int = 64) -> Bool {
            let bytes = Manifest(
                number: number, storeUUID: Self.address.storeUUID, segment: 3, checkpoint: 4,
                durable: LogPosition(segment: 3, offset: offset)
            ).encoded()
            return bytes.withUnsafeBytes { Manifest($0) } != nil
        }
        #expect(isRead(number: .max / 2 - 1))
        #expect(!isRead(number: .max / 2))
        #expect(isRead(offset: Location.segmentMaximumBytes))
        #expect(!isRead(offset: Location.segmentMaximumBytes + 1))
    }

    /// Bytes of something else, however right their checksums are.
    @Test func otherMagicNumbersAreRefused() throws {
        func sealed(_ bytes: [UInt8], at end: Int) -> [UInt8] {
            var bytes = bytes
            put(bytes.withUnsafeBytes { checksum(UnsafeRawBufferPointer(rebasing: $0[..<end])) }, into: &bytes, at: end)
            return bytes
        }
        let manifest = Manifest(
            number: 7, storeUUID: Self.address.storeUUID, segment: 3, checkpoint: 4,
            durable: LogPosition(segment: 3, offset: 4096)
        ).encoded()
        let segment = SegmentHeader(
            storeUUID: Self.address.storeUUID, segment: 3, previousSegment: 2, previousValidByteCount: 64,
            previousSequence: 1, previousChecksum: 5
        ).encoded()
        let value = [UInt8](repeating: 7, count: 1_000).withUnsafeBytes { LargeValue.encode($0) }
        for bit in [0, 1] as [UInt8] {
            func changed(_ bytes: [UInt8]) -> [UInt8] { [bytes[0] ^ bit] + bytes[1...] }
            let isSame = bit == 0
            #expect((sealed(changed(manifest), at: 56).withUnsafeBytes { Manifest($0) } != nil) == isSame)
            let header = try? sealed(changed(segment), at: 60).withBytes { bytes throws(StoreError) in
                try SegmentHeader(bytes, segment: 3)
            }
            #expect((header != nil) == isSame)
            var value = changed(value)
            _ = LargeValue.stamp(&value, at: Self.address)
            #expect((value.withUnsafeBytes { LargeValue.verify($0, at: Self.address) } != nil) == isSame)
        }
        #expect(throws: StoreError.self) {
            try segment.withBytes { bytes throws(StoreError) in try SegmentHeader(bytes, segment: 4) }
        }
    }

    /// Nothing may be cut off there.
    @Test func recordsOfLaterVersionsAreNamedAsSuch() {
        for (offset, value) in [(4, 99), (32, 1)] as [(Int, UInt8)] {
            let error = #expect(throws: StoreError.self) { try isRead(value, at: offset) }
            #expect(error?.code == .unsupportedFormat, "byte \(offset)")
        }
    }

    /// A later version's segment is named as such: nothing of it may be taken for damage and cut off.
    @Test(arguments: [(8, 3), (8, 0), (12, 1)]) func segmentsOfLaterVersionsAreNamedAsSuch(offset: Int, byte: UInt8) {
        var bytes = SegmentHeader(
            storeUUID: Self.address.storeUUID, segment: 3, previousSegment: 2, previousValidByteCount: 64,
            previousSequence: 1, previousChecksum: 5
        ).encoded()
        bytes[offset] = byte
        bytes.withUnsafeMutableBytes { buffer in
            let crc = checksum(UnsafeRawPointer(buffer.baseAddress!), count: 60)
            buffer.storeBytes(of: crc.littleEndian, toByteOffset: 60, as: UInt32.self)
        }
        let error = #expect(throws: StoreError.self) {
            try bytes.withBytes { bytes throws(StoreError) in try SegmentHeader(bytes, segment: 3) }
        }
        #expect(error?.code == .unsupportedFormat)
    }

    // MARK: Schemas

    private func isRead(_ entities: [EntityLayout], isMigration: Bool = false) -> Bool {
        var writer = ByteWriter()
        // Set, as the initialiser puts them in order.
        var schema = Schema(entities: [], model: [1], isMigration: isMigration)
        schema.entities = entities
        schema.append(to: &writer)
        let result: Void? = try? writer.bytes.withBytes { bytes throws(MalformedBytes) in
            var reader = ByteReader(bytes)
            _ = try Schema(from: &reader)
        }
        return result != nil
    }

    private func entity(_ id: UInt16 = 1, root: UInt16 = 1, slots: [SlotLayout] = []) -> EntityLayout {
        EntityLayout(id: id, rootID: root, name: "E", slots: slots)
    }

    @Test func entitiesThatCannotBeAreRefused() {
        #expect(isRead([entity(1), entity(2)]))
        #expect(!isRead([entity(2), entity(1)]))
        #expect(!isRead([entity(1), entity(1)]))
        #expect(!isRead([entity(0)]))
        #expect(!isRead([entity(1, root: 0)]))
        let slots = Array(repeating: SlotLayout(.int16), count: Schema.maximumSlots)
        #expect(isRead([entity(slots: slots)]))
        #expect(!isRead([entity(slots: slots + [SlotLayout(.int16)])]))
        #expect(isRead([entity(slots: [SlotLayout(.reference, postingsID: 1)])]))
        var listed = SlotLayout(.int16)
        listed.postingsID = 1
        #expect(!isRead([entity(slots: [listed])]))
    }

    @Test func liftsThatCannotBeAreRefused() {
        func isRead(_ kind: ValueKind, _ lift: SlotLift) -> Bool {
            self.isRead([entity(slots: [SlotLayout(kind, lift: lift)])], isMigration: true)
        }
        #expect(isRead(.int16, SlotLift(source: Schema.maximumSlots - 1)))
        #expect(!isRead(.int16, SlotLift(source: Schema.maximumSlots)))
        #expect(isRead(.int16, SlotLift(source: nil, fill: [1, 2])))
        #expect(!isRead(.int16, SlotLift(source: nil, fill: [1, 2, 3])))
        #expect(!isRead(.reference, SlotLift(source: nil, fill: [UInt8](repeating: 1, count: 8))))
        #expect(isRead(.data, SlotLift(source: nil, fill: [UInt8](repeating: 1, count: SlotLift.fillMaximumByteCount))))
        var tooLong = SlotLift()
        tooLong.fill = [UInt8](repeating: 1, count: SlotLift.fillMaximumByteCount + 1)
        #expect(!isRead(.data, tooLong))
    }

    /// Such a schema could be written, and its store not be read again.
    @Test func schemasThatCouldNotBeReadStopTheProgram() async {
        await #expect(processExitsWith: .failure) { _ = SlotLayout(.int16, postingsID: 1) }
        await #expect(processExitsWith: .failure) {
            _ = SlotLift(fill: [UInt8](repeating: 1, count: SlotLift.fillMaximumByteCount + 1))
        }
    }

    @Test(arguments: [(1, true), (ObjectRef.maximumKey, true), (0, false), (ObjectRef.maximumKey + 1, false)])
    func nextKeysThatCannotBeAreRefused(key: UInt64, isRead: Bool) {
        var state = StoreState()
        state.nextKeys = [.init(root: 1, next: key)]
        var writer = ByteWriter()
        state.append(to: &writer)
        let result: Void? = try? writer.bytes.withBytes { bytes throws(MalformedBytes) in
            var reader = ByteReader(bytes)
            _ = try StoreState(from: &reader)
        }
        #expect((result != nil) == isRead)
    }

    /// An older checkpoint that is read again knows fewer of them than those who read rows meanwhile.
    @Test func schemasOnlyBecomeMore() {
        let older = [NumberedSchema(version: 1, schema: Schema(entities: [entity()]))]
        let newer =
            older + [NumberedSchema(version: 2, schema: Schema(entities: [entity(slots: [SlotLayout(.int16)])]))]
        var versions = SchemaVersions()
        for list in [older, newer, older] { _ = versions.set(list) }
        #expect(versions.list == newer && versions.target == 2)
    }

    // MARK: Checkpoints

    /// A checkpoint's directory for a file of 1,000 bytes.
    private func isRead(_ change: (inout Checkpoint.Directory) -> Void) -> Bool {
        var directory = Checkpoint.Directory(
            end: LogPosition(segment: 1, offset: 64), sequence: 1, timestampNanoseconds: 1, checksum: 1,
            storeState: StoreState())
        change(&directory)
        let result: Void? = try? directory.encoded().withBytes { bytes throws(MalformedBytes) in
            _ = try Checkpoint.Directory(bytes, fileByteCount: 1_000)
        }
        return result != nil
    }

    @Test func checkpointsOfWhatCannotBeAreRefused() {
        #expect(isRead { _ in })
        #expect(isRead { $0.end.segment = Location.maximumSegment })
        #expect(!isRead { $0.end.segment = Location.maximumSegment + 1 })
        #expect(!isRead { $0.end.segment = 0 })
        #expect(isRead { $0.end.offset = Location.segmentMaximumBytes })
        #expect(!isRead { $0.end.offset = Location.segmentMaximumBytes + Location.alignmentBytes })
        #expect(!isRead { $0.end.offset = 0 })
        #expect(!isRead { $0.end.offset = 65 })
        #expect(isRead { $0.sequence = RecordHeader.maximumSequence })
        #expect(!isRead { $0.sequence = RecordHeader.maximumSequence + 1 })
        #expect(isRead { $0.counts = [(1, ObjectRef.maximumKey)] })
        #expect(!isRead { $0.counts = [(1, ObjectRef.maximumKey + 1)] })
        for (offset, byteCount, expected) in [
            (0, 1_000, true), (1_000, 0, true), (-1, 1, false), (1_001, 0, false), (1, 1_000, false),
        ] {
            let section = CheckpointSection(offset: Int64(offset), byteCount: byteCount)
            #expect(isRead { $0.indexes = [(1, section)] } == expected)
            #expect(isRead { $0.postings = [(1, section)] } == expected)
            #expect(isRead { $0.ordered = [section] } == expected)
        }
    }

    // MARK: Changes

    /// A group of changes with one update, of so many slots with this number.
    private func isRead(slots: Int, slot: UInt16, key: UInt64 = 1, replaced: UInt64 = 1, blocks: Int = 1) -> Bool {
        var writer = ByteWriter()
        writer.append(UInt16(1))
        writer.append(ChangeKind.update.rawValue)
        writer.append(UInt32(1))
        IntegerColumn.append([key], to: &writer)
        IntegerColumn.append([replaced], to: &writer)
        writer.append(UInt16(slots))
        for _ in 0..<slots { writer.append(slot) }
        let result: Void? = try? writer.bytes.withBytes { bytes throws(MalformedBytes) in
            var reader = ByteReader(bytes)
            var bounds = ChangeBounds(insertedBlockCount: 0, updatedBlockCount: blocks)
            _ = try TransactionBody.readChange(&reader, blockCount: 0, &bounds)
        }
        return result != nil
    }

    @Test func changesThatCannotBeAreRefused() {
        #expect(isRead(slots: Schema.maximumSlots, slot: 1))
        #expect(!isRead(slots: Schema.maximumSlots + 1, slot: 1))
        #expect(isRead(slots: 1, slot: UInt16(Schema.maximumSlots - 1)))
        #expect(!isRead(slots: 1, slot: UInt16(Schema.maximumSlots)))
        #expect(isRead(slots: 1, slot: 1, key: ObjectRef.maximumKey))
        #expect(!isRead(slots: 1, slot: 1, key: ObjectRef.maximumKey + 1))
        #expect(!isRead(slots: 1, slot: 1, key: 0))
        #expect(!isRead(slots: 1, slot: 1, replaced: 0))
        #expect(!isRead(slots: 1, slot: 1, blocks: 0))
    }

    /// A few bytes stand for all keys of a group.
    @Test func groupsOfTooManyChangesAreRefused() {
        func isRead(_ count: Int) -> Bool {
            let change = TransactionBody.ChangeRecord(
                entity: 1, kind: .insert, changed: SlotSet(), keys: IntegerList(Array(1...UInt64(count))),
                replacedSequences: [], tombstoneBlocks: [])
            return Self.isRead(change)
        }
        #expect(isRead(TransactionBody.groupMaximumCount))
        #expect(!isRead(TransactionBody.groupMaximumCount + 1))
    }

    /// Whoever reads the history looks for preserved values in them.
    @Test func deletionsThatNameBlocksOfOtherRecordsAreRefused() {
        func isRead(_ blocks: [Int]) -> Bool {
            let change = TransactionBody.ChangeRecord(
                entity: 1, kind: .delete, changed: SlotSet(), keys: [1], replacedSequences: [1],
                tombstoneBlocks: blocks)
            return Self.isRead(change)
        }
        #expect(isRead([0, 1]))
        #expect(!isRead([2]))
    }

    /// Of a record with two blocks.
    private static func isRead(_ change: TransactionBody.ChangeRecord) -> Bool {
        var writer = ByteWriter()
        TransactionBodyWriter.append(change, to: &writer)
        let result: Void? = try? writer.bytes.withBytes { bytes throws(MalformedBytes) in
            var reader = ByteReader(bytes)
            var bounds = ChangeBounds()
            _ = try TransactionBody.readChange(&reader, blockCount: 2, &bounds)
        }
        return result != nil
    }
}
