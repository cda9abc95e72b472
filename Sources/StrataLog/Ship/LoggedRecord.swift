/// What a record says of itself, for whoever carries the log elsewhere and looks into no row.
package struct LoggedRecord: Sendable, Hashable {
    /// What a record says of the segments that the log no longer has.
    package enum Holes: Sendable, Hashable {
        /// Nothing.
        case unchanged
        /// These are all, ascending: a preamble.
        case all([ClosedRange<UInt32>])
        /// These, too: a retirement.
        case more([UInt32])
    }

    /// The bytes in its segment.
    package let range: Range<Int>
    /// Whether it is a transaction; otherwise ``sequence`` is that of the last one before.
    package let isTransaction: Bool
    package let sequence: UInt64
    package let timestampNanoseconds: Int64
    /// The checksum of the record before.
    package let previousChecksum: UInt32
    /// What the next record repeats.
    package let checksum: UInt32
    /// Up to where the log was known to be durable when the record was written.
    package let durable: LogPosition
    package let holes: Holes

    /// The record at the beginning of these bytes, of which header, body and footer are checked; blocks are not.
    ///
    /// - Parameter bytes: of the segment, from `offset` on.
    /// - Returns: nil where there is no complete record.
    /// - Throws: `.unsupportedFormat` for one that a later version wrote, `.corruption` for one that contradicts
    ///   itself.
    /// - Complexity: O(n) in the length of the body.
    package init?(
        _ bytes: UnsafeRawBufferPointer, storeUUID: StoreUUID, segment: UInt32, offset: Int
    ) throws(StoreError) {
        guard bytes.count >= RecordHeader.byteCount,
            let header = try RecordHeader.parse(
                UnsafeRawBufferPointer(rebasing: bytes[..<RecordHeader.byteCount]), storeUUID: storeUUID,
                segment: segment, offset: offset),
            header.byteCount >= RecordHeader.byteCount + RecordFooter.byteCount, bytes.count >= header.byteCount
        else { return nil }
        let body = UnsafeRawBufferPointer(
            rebasing: bytes[RecordHeader.byteCount..<RecordHeader.byteCount + header.bodyByteCount])
        let footer = UnsafeRawBufferPointer(
            rebasing: bytes[header.byteCount - RecordFooter.byteCount..<header.byteCount])
        let sum = UInt32(littleEndian: footer.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        guard StrataLog.checksum(body) == header.bodyChecksum,
            RecordFooter.matches(footer, recordByteCount: header.byteCount, checksum: sum)
        else { return nil }
        range = offset..<offset + header.byteCount
        isTransaction = header.kind == .transaction
        sequence = header.sequence
        timestampNanoseconds = header.timestampNanoseconds
        previousChecksum = header.previousChecksum
        checksum = sum
        durable = header.durable
        do {
            var reader = ByteReader(body)
            switch header.kind {
            case .preamble:
                _ = try StoreState(from: &reader)
                let state = try CompactionState(fromPreamble: &reader)
                holes = .all(state.holes.holes.map { $0.first...$0.last })
            case .retirement: holes = .more(try Retirement(from: &reader).segments.map(\.segment))
            case .transaction, .schema, .metadata, .compaction, .migration: holes = .unchanged
            }
        } catch {
            throw StoreError(
                .corruption, "a record's body contradicts itself: \(error.reason)",
                segment: segment, offset: offset)
        }
    }

    /// Whether these are the first bytes of a record's header, and how long the record is; nil if not.
    package static func byteCount(
        _ bytes: UnsafeRawBufferPointer, storeUUID: StoreUUID, segment: UInt32, offset: Int
    ) throws(StoreError) -> Int? {
        guard bytes.count >= RecordHeader.byteCount else { return nil }
        return try RecordHeader.parse(
            UnsafeRawBufferPointer(rebasing: bytes[..<RecordHeader.byteCount]), storeUUID: storeUUID,
            segment: segment, offset: offset)?.byteCount
    }

    /// The length of a record's header.
    package static let headerByteCount = RecordHeader.byteCount
}

/// What a segment's header says.
package struct SegmentStart: Sendable, Hashable {
    /// The length of a segment's header; its records begin behind it.
    package static let byteCount = SegmentHeader.byteCount

    package let storeUUID: StoreUUID
    package let segment: UInt32
    /// 0 for the first.
    package let previousSegment: UInt32
    /// So much of the segment before counts.
    package let previousValidByteCount: Int
    package let previousSequence: UInt64
    package let previousChecksum: UInt32

    /// - Throws: `.corruption`, or `.unsupportedFormat` for what a later version wrote.
    package init(_ bytes: UnsafeRawBufferPointer, segment: UInt32) throws(StoreError) {
        guard bytes.count >= SegmentHeader.byteCount else {
            throw StoreError(.corruption, "segment header: too short", segment: segment, offset: 0)
        }
        let header = try SegmentHeader(
            UnsafeRawBufferPointer(rebasing: bytes[..<SegmentHeader.byteCount]), segment: segment)
        storeUUID = header.storeUUID
        self.segment = header.segment
        previousSegment = header.previousSegment
        previousValidByteCount = header.previousValidByteCount
        previousSequence = header.previousSequence
        previousChecksum = header.previousChecksum
    }
}

/// Where a checkpoint ends, without its pages.
package struct CheckpointSummary: Sendable, Hashable {
    package let number: UInt32
    package let end: LogPosition
    package let sequence: UInt64
    package let timestampNanoseconds: Int64
    /// That of the last record before ``end``.
    package let checksum: UInt32
    package let byteCount: Int64
}
