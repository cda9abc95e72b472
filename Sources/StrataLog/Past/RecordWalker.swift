internal import SystemPackage

/// Goes through the records of one kind in a log, as far as a snapshot shows it, from somewhere in the middle on.
struct RecordWalker {
    private let source: BlockSource
    private let end: LogPosition
    /// Keeps the segments that are read.
    private let epoch: SegmentEpoch
    private var segments: [UInt32]
    private var reader: RecordReader?
    private var offset = 0
    /// The offset in the segment that was recorded last for those who come later.
    private var recorded = 0
    private static let recordDistanceBytes = 256 << 10
    /// Where to begin in the first segment, if that is known.
    private var after: UInt64?

    /// Begins with the first transaction after one, or somewhat before it.
    init(snapshot: Snapshot, after sequence: UInt64) throws(StoreError) {
        try self.init(snapshot: snapshot) { header, _ in header.previousSequence <= sequence }
        after = sequence
    }

    /// Begins with the last segment that `isEarly` says begins before what is wanted, or with the first one there is.
    ///
    /// - Parameter isEarly: given a segment's header and that of its first record; true for all segments up to one.
    init(
        snapshot: Snapshot, isEarly: (SegmentHeader, RecordHeader?) throws(StoreError) -> Bool
    ) throws(StoreError) {
        source = snapshot.source
        end = snapshot.end
        epoch = snapshot.epoch
        segments = epoch.compaction.holes.remaining(1, through: end.segment)
        var low = 0
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            let reader = try reader(of: segments[middle])
            let header = try reader.segmentHeader()
            if try isEarly(header, try reader.header(at: SegmentHeader.byteCount)) {
                low = middle
            } else {
                high = middle
            }
        }
        segments.removeFirst(low)
    }

    /// The next record of a kind, of which only the header has been read; nil at the end.
    mutating func next(_ kind: RecordHeader.Kind = .transaction) throws(StoreError) -> LogRecord? {
        while true {
            if let reader, offset < reader.limit, let header = try reader.header(at: offset) {
                defer { offset += header.byteCount }
                guard header.kind == kind else { continue }
                let position = LogPosition(segment: reader.segment, offset: offset)
                if kind == .transaction, offset - recorded >= Self.recordDistanceBytes {
                    recorded = offset
                    source.transactionOffsets.record(position, after: header.sequence - 1)
                }
                return LogRecord(header: header, offset: offset, reader: reader, source: source)
            }
            guard !segments.isEmpty else { return nil }
            let segment = segments.removeFirst()
            var limit = segment == end.segment ? end.offset : nil
            if let hole = epoch.compaction.holes.hole(at: segment + 1) {
                limit = hole.previousValidByteCount
            } else if let next = segments.first {
                let header = try reader(of: next).segmentHeader()
                if header.previousSegment == segment { limit = header.previousValidByteCount }
            }
            reader = try reader(of: segment, limit: limit)
            offset = SegmentHeader.byteCount
            recorded = 0
            if let after, let mark = source.transactionOffsets.mark(in: segment, notAfter: after) {
                offset = mark.offset
            }
            after = nil
        }
    }

    private func reader(of segment: UInt32, limit: Int? = nil) throws(StoreError) -> RecordReader {
        try RecordReader(
            files: source.files, storeUUID: source.storeUUID, segment: segment, file: try source.file(segment: segment),
            limit: limit)
    }
}
