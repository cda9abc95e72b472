import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Ways in which compaction once lost data, never ended, or said less than the truth.
@Suite struct CompactionFaultTests {
    private typealias Change = TransactionBody.ChangeRecord

    private static func options() -> LogOptions {
        var options = StoreWorkload.options()
        options.checkpointTailBytes = 64 << 20
        options.retention.historyFloor = .max
        return options
    }

    private static func open(
        _ fileSystem: any FileSystem, _ options: LogOptions, schema: Schema = SampleSchema.schema
    ) throws(StoreError) -> LogStore {
        try LogStore.open(StoreWorkload.path, in: fileSystem, options: options, schema: schema)
    }

    private static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }

    private static func insert(_ store: LogStore, notes: [UInt8]) throws -> ObjectRef {
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        notes.withUnsafeBytes { writer.set(6, bytes: $0) }
        writer.endRow()
        _ = try store.commit(transaction)
        return ObjectRef(entity: SampleSchema.person, key: key)
    }

    private static func update(_ store: LogStore, _ ref: ObjectRef, notes: [UInt8]) throws {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        let row = try #require(try store.snapshot.row(ref))
        try writer.beginUpdate(key: ref.key, replacing: row.version, changed: SlotSet([6]))
        notes.withUnsafeBytes { writer.set(6, bytes: $0) }
        writer.endRow()
        _ = try store.commit(transaction)
    }

    /// An index that names a row which its block does not have: nothing else is copied in its place.
    @Test func aRowThatIsNotThereIsNotCopied() throws {
        let store = try Self.open(SimulatedFileSystem(), Self.options())
        let ref = try Self.insert(store, notes: [1, 2, 3])
        let location = try store.snapshot.locate(ref)
        let builder = CompactionBuilder(store: store, victims: SegmentSet([]))
        let source = try CompactionBuilder.Source(try store.block(at: location), isCached: true)
        let error = #expect(throws: StoreError.self) { try builder.append(source, rows: 0..<2) }
        #expect(error?.code == .corruption && error?.offset == location.byteOffset)
        try builder.append(source, rows: 0..<1)
    }

    /// A row that was moved because of one large value went on referring to another one whose transaction was not yet
    /// flushed. When that flush failed, transaction and value were written again elsewhere, and the reference was left
    /// behind.
    @Test func aValueThatAFailedFlushMayMoveIsNotReferredTo() throws {
        let fileSystem = SimulatedFileSystem()
        var options = Self.options()
        options.durability = .os
        options.segmentMaximumBytes = 1 << 20
        let store = try Self.open(fileSystem, options)
        let notes = Self.noise(100_000, seed: 1)
        let ref = try Self.insert(store, notes: notes)
        let other = try Self.insert(store, notes: Self.noise(100_000, seed: 2))
        let deletion = store.makeTransaction()
        try deletion.delete(other, replacing: try #require(try store.snapshot.row(other)).version)
        _ = try store.commit(deletion)
        try store.sync()
        // Refers to the notes where they are; the name is a large value of its own.
        let name = String(decoding: Self.noise(100_000, seed: 3).map { 97 + $0 % 26 }, as: UTF8.self)
        let row = try #require(try store.snapshot.row(ref))
        let update = store.makeTransaction()
        let writer = update.writer(for: SampleSchema.person)
        try writer.beginUpdate(key: ref.key, replacing: row.version, changed: SlotSet([0]))
        writer.set(0, name)
        try writer.copy(6, from: row, slot: 6)
        writer.endRow()
        var failure: (any Error)?
        var isCommitted = false
        let report = try store.compact { _ in
            guard !isCommitted else { return true }
            isCommitted = true
            do {
                _ = try store.commit(update)
                fileSystem.inject(.init(.fail(.ioError), of: .syncData))
            } catch {
                failure = error
            }
            return true
        }
        if let failure { throw failure }
        #expect(report.segments == 1)
        #expect(store.statistics.relocations == 1)
        try store.close()
        for seed in 0..<UInt64(5) {
            let opened = try Self.open(fileSystem.crashImage(policy: .strict, seed: seed), options)
            let found = try StoreModel.person(try #require(try opened.snapshot.row(ref)), opened)
            #expect(found.name == name, "seed \(seed)")
            #expect(found.notes == notes, "seed \(seed)")
        }
    }

    /// After a power loss the record that retires segments was there, and the one before it, with the rows that had
    /// been moved, was not. Without a checkpoint the segments were passed over all the same.
    @Test func aRetirementDoesNotOutliveWhatItGoesBy() throws {
        let fileSystem = SimulatedFileSystem()
        let options = Self.options()
        let store = try Self.open(fileSystem, options)
        var refs: [ObjectRef] = []
        for number in 0..<UInt64(30) { refs.append(try Self.insert(store, notes: Self.noise(12_000, seed: number))) }
        for ref in refs.dropFirst(2) { try Self.update(store, ref, notes: Self.noise(12_000, seed: ref.key)) }
        try store.checkpoint()
        var isArmed = false
        #expect(throws: StoreError.self) {
            try store.compact { _ in
                if isArmed { return true }
                isArmed = true
                fileSystem.inject(
                    .init(.fail(.ioError), of: .syncData, repetition: .always, flushLoss: .nothing))
                fileSystem.inject(.init(.fail(.ioError), of: .open, pathSuffix: ".seg", repetition: .always))
                return true
            }
        }
        #expect(isArmed)
        fileSystem.removeFaults()
        var lost = 0
        for seed in 0..<UInt64(100) {
            let image = fileSystem.crashImage(policy: .strict, seed: seed)
            for name in try image.list(StoreWorkload.path) where name.hasSuffix(".chk") {
                try image.unlink(StoreWorkload.path.appending(name))
            }
            let opened = try Self.open(image, options)
            for ref in refs where try opened.snapshot.row(ref) == nil { lost += 1 }
        }
        #expect(lost == 0, "\(lost) acknowledged objects are gone, silently")
    }

    /// Together with the one before it, a transaction of the greatest size made an archive that no reader takes.
    @Test func anArchiveHasNoMoreChangesThanCanBeRead() throws {
        let store = try Self.open(MemoryFileSystem(), Self.options())
        for _ in 0..<2 { _ = try Self.insert(store, notes: [1]) }
        func archived(_ sequence: UInt64, _ changes: [Change]) -> CompactionBody.ArchivedTransaction {
            .init(sequence: sequence, timestampNanoseconds: 0, author: nil, contextName: nil, changes: changes)
        }
        func group(_ keys: [UInt64]) -> Change {
            Change(
                entity: SampleSchema.person, kind: .insert, changed: SlotSet(), keys: IntegerList(keys),
                replacedSequences: [], tombstoneBlocks: [])
        }
        let largest = group(Array(1...UInt64(TransactionBody.groupMaximumCount)))
        let count = TransactionBody.maximumCount / TransactionBody.groupMaximumCount
        let builder = CompactionBuilder(store: store, victims: SegmentSet([]))
        try builder.append(archived(1, [group([1])]), tombstones: [], byteCount: 100)
        try builder.append(archived(2, Array(repeating: largest, count: count)), tombstones: [], byteCount: 1 << 20)
        try builder.commit()
        let problems = try store.verify().problems
        #expect(problems.isEmpty, "\(problems)")
    }

    /// The average of such ages is no number of a transaction: converting it trapped.
    @Test func anAgeThatNoTransactionHasIsRefused() {
        var body = CompactionBody()
        body.ageSequence = .max
        #expect(throws: MalformedBytes.self) {
            try body.encoded().withBytes { bytes throws(MalformedBytes) in try CompactionBody(bytes) }
        }
    }

    /// No record begins there, and what is read behind it trapped.
    @Test func anArchiveAtAnImpossiblePlaceIsRefused() {
        var state = CompactionState()
        state.add(.init(first: 1, last: 2, position: LogPosition(segment: 1, offset: 1000)))
        var writer = ByteWriter()
        state.append(to: &writer)
        #expect(throws: MalformedBytes.self) {
            try writer.bytes.withBytes { bytes throws(MalformedBytes) in
                var reader = ByteReader(bytes)
                return try CompactionState(from: &reader)
            }
        }
    }

    /// Looking for rows behind such blocks trapped.
    @Test func blocksThatEndBehindTheirRecordAreRefused() throws {
        let store = try Self.open(MemoryFileSystem(), Self.options())
        var body = TransactionBody()
        body.blocks = [
            .init(role: .tombstone, byteCount: 0x3FFF_FFFF * Location.alignmentBytes),
            .init(role: .updated, byteCount: Location.alignmentBytes),
        ]
        body.largeValueByteCounts = [Location.alignmentBytes]
        let bytes = body.encoded()
        try store.withWriter { writer throws(StoreError) in
            try writer.makeRoom(for: 4096)
            try writer.append(.transaction, body: bytes) { _ in }
            try writer.leaveSegment()
            try store.publishEnd(writer)
        }
        let error = #expect(throws: StoreError.self) { try store.segmentStatistics() }
        #expect(error?.code == .corruption)
    }

    /// The row was moved, its object's place was not, and so on until the disk was full.
    @Test func anIndexThatNamesAnotherObjectsRowIsNoticed() throws {
        let store = try Self.open(MemoryFileSystem(), Self.options())
        let refs = try StoreTests.insert(store, 3, department: .null)
        var edit = SnapshotEdit(base: store.snapshot)
        try edit.place(refs[0], at: try store.snapshot.locate(refs[1]))
        let end = store.snapshot
        store.publish(try edit.finish(end: end.end, checksum: end.checksum))
        var steps = 0
        let error = #expect(throws: StoreError.self) {
            try store.compact { _ in
                steps += 1
                return steps < 50
            }
        }
        #expect(error?.code == .corruption)
    }

    /// The number of a row past the end of a block fits the key of the next object, which lies elsewhere.
    @Test(arguments: [false, true]) func anIndexThatNamesARowPastItsBlockIsNoticed(hasLargeValue: Bool) throws {
        let store = try Self.open(MemoryFileSystem(), Self.options())
        let first = try StoreTests.insert(store, 3, department: .null)[0]
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        writer.set(0, String(repeating: "x", count: hasLargeValue ? 100_000 : 1))
        writer.endRow()
        _ = try store.commit(transaction)
        #expect(key == first.key + 3)
        var edit = SnapshotEdit(base: store.snapshot)
        let location = Location(rawValue: try store.snapshot.locate(first).rawValue + 3)
        try edit.place(ObjectRef(entity: SampleSchema.person, key: key), at: location)
        let end = store.snapshot
        store.publish(try edit.finish(end: end.end, checksum: end.checksum))
        let error = #expect(throws: StoreError.self) { try store.compact() }
        #expect(error?.code == .corruption)
    }

    /// What was dropped from the history in between was passed over: the states seemed to differ in less than they do.
    @Test func aDifferenceThatTheHistoryDoesNotReachIsRefused() throws {
        let store = try Self.open(MemoryFileSystem(), Self.options())
        let refs = try [Self.insert(store, notes: [1]), Self.insert(store, notes: [2])]
        let pinned = store.snapshot
        try Self.update(store, refs[0], notes: [3])
        #expect(try store.compact().segments == 1)
        let compacted = store.snapshot
        try Self.update(store, refs[1], notes: [4])
        let error = #expect(throws: StoreError.self) {
            var difference = try store.difference(from: pinned, to: store.snapshot)
            while try difference.next() != nil {}
        }
        #expect(error?.code == .expired)
        var later = try store.difference(from: store.snapshot, to: compacted)
        #expect(try later.next()?.ref == refs[1])
        #expect(try later.next() == nil)
        // Between a state and itself there is nothing, whatever the history has.
        var none = try store.difference(from: pinned, to: pinned)
        #expect(try none.next() == nil)
    }

    /// Rows of an entity that the newest schema lacks got the shape of the oldest of them.
    @Test func rowsOfAnEntityThatIsGoneKeepAllSlots() throws {
        let fileSystem = MemoryFileSystem()
        let person = try #require(SampleSchema.schema.entity(SampleSchema.person))
        let department = try #require(SampleSchema.schema.entity(SampleSchema.department))
        var longer = person
        longer.slots.append(SlotLayout(.string))
        var refs: [ObjectRef] = []
        for layout in [person, longer] {
            let store = try Self.open(fileSystem, Self.options(), schema: Schema(entities: [department, layout]))
            let key = try store.allocateKeys(root: person.id, count: 1)
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: person.id)
            writer.beginInsert(key: key)
            if layout.slots.count > 8 { writer.set(8, "kept") }
            writer.endRow()
            _ = try store.commit(transaction)
            refs.append(ObjectRef(entity: person.id, key: key))
            try store.close()
        }
        let store = try Self.open(fileSystem, Self.options(), schema: Schema(entities: [department]))
        #expect(try store.compact().segments == 1)
        let row = try #require(try store.snapshot.row(refs[1]))
        #expect(row.block.slotCount == 9)
        if row.block.slotCount == 9 {
            #expect([UInt8](try row.block.column(8).bytes(row.index)) == Array("kept".utf8))
        }
        #expect(try store.snapshot.row(refs[0])?.ref == refs[0])
    }

    /// Places in segments that are gone were remembered as long as the store was open.
    @Test func placesInRetiredSegmentsAreForgotten() throws {
        let store = try Self.open(MemoryFileSystem(), Self.options())
        _ = try Self.insert(store, notes: [1])
        #expect(store.source.transactionOffsets.mark(in: 1, notAfter: .max) != nil)
        #expect(try store.compact().segments == 1)
        #expect(store.source.transactionOffsets.mark(in: 1, notAfter: .max) == nil)
    }
}
