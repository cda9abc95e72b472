import Testing

@testable import StrataLog

/// Numbers that no compaction writes, each by itself, in bytes that are sound otherwise: they are refused where they
/// are read, and not met by whoever goes by them.
@Suite struct CompactionFormatTests {
    private static let segments = Location.maximumSegment
    private static let sequences = RecordHeader.maximumSequence
    private static let byteCounts = UInt64(Location.segmentMaximumBytes)

    private static func isRead<R>(
        _ writer: ByteWriter, _ read: (inout ByteReader) throws(MalformedBytes) -> R
    ) -> Bool {
        (try? writer.bytes.withBytes { bytes throws(MalformedBytes) in
            var reader = ByteReader(bytes)
            return try read(&reader)
        }) != nil
    }

    private static func isRead(_ body: CompactionBody) -> Bool {
        (try? body.encoded().withBytes { bytes throws(MalformedBytes) in try CompactionBody(bytes) }) != nil
    }

    @Test func missingSegments() {
        typealias Hole = (first: UInt32, last: UInt32, byteCount: UInt64)
        func isRead(_ holes: [Hole]) -> Bool {
            var writer = ByteWriter()
            writer.append(UInt32(holes.count))
            for hole in holes {
                writer.append(hole.first)
                writer.append(hole.last)
                writer.append(hole.byteCount)
            }
            return Self.isRead(writer) { reader throws(MalformedBytes) in try SegmentHoles(from: &reader) }
        }
        let sound: [[Hole]] = [[(1, 3, 64), (5, Self.segments - 1, Self.byteCounts)]]
        let refused: [[Hole]] = [
            [(0, 3, 64)],
            [(3, 2, 64)],
            [(1, Self.segments, 64)],
            [(1, 3, Self.byteCounts + 1)],
            // What lies side by side is one hole, and they come in order.
            [(1, 3, 64), (4, 5, 64)],
            [(5, 6, 64), (1, 3, 64)],
        ]
        for holes in sound { #expect(isRead(holes)) }
        for holes in refused { #expect(!isRead(holes), "\(holes)") }
    }

    @Test func archivesAndTheHistorysFloor() {
        typealias Archive = (first: UInt64, last: UInt64, segment: UInt32, offset: UInt64)
        func isRead(floor: UInt64, _ archives: [Archive]) -> Bool {
            var writer = ByteWriter()
            writer.append(UInt32(0))
            writer.append(floor)
            writer.append(UInt32(archives.count))
            for archive in archives {
                writer.append(archive.first)
                writer.append(archive.last)
                writer.append(archive.segment)
                writer.append(archive.offset)
            }
            return Self.isRead(writer) { reader throws(MalformedBytes) in try CompactionState(from: &reader) }
        }
        let sound: [(UInt64, [Archive])] = [(Self.sequences, [(1, Self.sequences, Self.segments, 64)])]
        let refused: [(UInt64, [Archive])] = [
            (Self.sequences + 1, []),
            (0, [(0, 1, 1, 64)]),
            (0, [(2, 1, 1, 64)]),
            (0, [(1, Self.sequences + 1, 1, 64)]),
            (0, [(1, 1, 0, 64)]),
            (0, [(1, 1, Self.segments + 1, 64)]),
            (0, [(1, 1, 1, Self.byteCounts)]),
            (0, [(1, 1, 1, 65)]),
        ]
        for (floor, entries) in sound { #expect(isRead(floor: floor, entries)) }
        for (floor, entries) in refused { #expect(!isRead(floor: floor, entries), "\(floor), \(entries)") }
    }

    @Test func retirements() {
        typealias Entry = (segment: UInt32, byteCount: UInt64)
        func isRead(floor: UInt64, _ segments: [Entry]) -> Bool {
            var writer = ByteWriter()
            writer.append(floor)
            writer.append(UInt32(segments.count))
            for entry in segments {
                writer.append(entry.segment)
                writer.append(entry.byteCount)
            }
            return Self.isRead(writer) { reader throws(MalformedBytes) in try Retirement(from: &reader) }
        }
        let sound: [(UInt64, [Entry])] = [(Self.sequences, [(1, Self.byteCounts), (Self.segments - 1, 64)])]
        let refused: [(UInt64, [Entry])] = [
            (Self.sequences + 1, []),
            (0, [(0, 64)]),
            (0, [(Self.segments, 64)]),
            (0, [(1, Self.byteCounts + 1)]),
        ]
        for (floor, entries) in sound { #expect(isRead(floor: floor, entries)) }
        for (floor, entries) in refused { #expect(!isRead(floor: floor, entries), "\(floor), \(entries)") }
    }

    @Test func tablesOfRows() {
        func isRead(rows: Int, _ keys: ClosedRange<UInt64>, excluded: [UInt64] = []) -> Bool {
            var body = CompactionBody()
            body.blocks = [.init(role: .updated, byteCount: 64)]
            body.rows = [.init(entity: 1, rowCount: rows, keys: keys, excluded: excluded)]
            return Self.isRead(body)
        }
        #expect(isRead(rows: BlockFormat.rowsMaximum, 1...ObjectRef.maximumKey, excluded: [0, 2]))
        #expect(!isRead(rows: 0, 1...5))
        #expect(!isRead(rows: BlockFormat.rowsMaximum + 1, 1...5))
        #expect(!isRead(rows: 3, 0...5))
        #expect(!isRead(rows: 3, 1...ObjectRef.maximumKey + 1))
        #expect(!isRead(rows: 3, 1...5, excluded: [3]))
        #expect(!isRead(rows: 3, 1...5, excluded: [1, 0]))
        #expect(!isRead(rows: 3, 1...5, excluded: [1, 1]))
    }

    /// One whose keys end before they begin, and one with more excluded rows than rows: a few bytes that stand for many
    /// numbers, so that they are not even looked at.
    @Test func tablesOfRowsThatContradictThemselves() {
        func reason(low: UInt64, high: UInt64, excluded: UInt32) -> String? {
            var body = CompactionBody()
            body.blocks = [.init(role: .updated, byteCount: 64)]
            body.rows = [.init(entity: 1, rowCount: 3, keys: 1...1)]
            var bytes = body.encoded()
            // Count of blocks, a block, count of large values, age; then entity and count of rows.
            let keys = 4 + 4 + 4 + 8 + 2 + 4
            bytes.withUnsafeMutableBytes {
                $0.storeBytes(of: low.littleEndian, toByteOffset: keys, as: UInt64.self)
                $0.storeBytes(of: high.littleEndian, toByteOffset: keys + 8, as: UInt64.self)
                $0.storeBytes(of: excluded.littleEndian, toByteOffset: keys + 16, as: UInt32.self)
            }
            do throws(MalformedBytes) {
                _ = try bytes.withBytes { bytes throws(MalformedBytes) in try CompactionBody(bytes) }
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(reason(low: 5, high: 5, excluded: 0) == nil)
        #expect(reason(low: 6, high: 5, excluded: 0) == "table of 3 rows")
        #expect(reason(low: 5, high: 5, excluded: 4) == "table of 3 rows")
    }

    /// Compaction inserts nothing: such a block would be counted once more.
    @Test func blocksOfInsertedRows() {
        for (role, expected) in [(.updated, true), (.tombstone, true), (.inserted, false)]
            as [(TransactionBody.BlockRole, Bool)]
        {
            var body = CompactionBody()
            body.blocks = [.init(role: role, byteCount: 64)]
            if role == .updated { body.rows = [.init(entity: 1, rowCount: 1, keys: 1...1)] }
            #expect(Self.isRead(body) == expected, "\(role)")
        }
    }

    @Test func aSegmentIsMissingOnce() {
        var holes = SegmentHoles()
        for segment in 4...6 as ClosedRange<UInt32> { holes.insert(segment, previousValidByteCount: 64) }
        let before = holes
        for segment in 4...6 as ClosedRange<UInt32> { holes.insert(segment, previousValidByteCount: 128) }
        #expect(holes == before)
    }

    /// A row would refer to a value that is gone.
    @Test func nothingRefersToWhatIsBeingCompacted() {
        let references = SegmentReferences()
        references.close([1])
        #expect(!references.hold(1) && references.hold(2))
        #expect(!references.areHeld([1]) && references.areHeld([1, 2]))
        references.release([2])
        references.reopen([1])
        #expect(references.hold(1) && references.areHeld([1]) && !references.areHeld([2]))
    }

    /// Each preamble and checkpoint repeats what is known already.
    @Test func anArchiveIsKnownOnce() {
        var state = CompactionState()
        for _ in 0..<2 {
            state.add(.init(first: 1, last: 2, position: LogPosition(segment: 3, offset: 64)))
            state.add(.init(first: 1, last: 2, position: LogPosition(segment: 4, offset: 64)))
        }
        #expect(state.archives.map(\.position.segment).sorted() == [3, 4])
    }

    @Test func absentKeys() {
        func isRead(_ groups: [[UInt64]]) -> Bool {
            var body = CompactionBody()
            body.absent = groups.map { .init(entity: 1, keys: IntegerList($0)) }
            return Self.isRead(body)
        }
        #expect(isRead([[1, ObjectRef.maximumKey]]))
        #expect(!isRead([[0]]))
        #expect(!isRead([[ObjectRef.maximumKey + 1]]))
        // A few bytes that stand for many keys.
        let group = Array(1...UInt64(TransactionBody.groupMaximumCount))
        let count = TransactionBody.maximumCount / TransactionBody.groupMaximumCount
        #expect(isRead(Array(repeating: group, count: count)))
        #expect(!isRead(Array(repeating: group, count: count) + [[1]]))
    }

    @Test func archivedTransactions() {
        func isRead(_ sequences: [UInt64]) -> Bool {
            var body = CompactionBody()
            body.transactions = sequences.map {
                .init(sequence: $0, timestampNanoseconds: 0, author: nil, contextName: nil, changes: [])
            }
            return Self.isRead(body)
        }
        #expect(isRead([Self.sequences - 1, Self.sequences]))
        #expect(!isRead([0]))
        #expect(!isRead([Self.sequences + 1]))
        #expect(!isRead([3, 5]))
        #expect(!isRead([3, 3]))
    }
}
