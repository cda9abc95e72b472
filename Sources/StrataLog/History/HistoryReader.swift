internal import StrataIO
internal import SystemPackage

/// Reads committed transactions in order, up to the snapshot that was the newest when the reader was made.
///
/// The log is the history: this reads its change tables, and of the blocks only those with preserved values.
public struct HistoryReader {
    private let source: BlockSource
    private var end: LogPosition
    private let after: UInt64
    /// Number of the last transaction passed or returned, once that is known: the next has the next number.
    private var last: UInt64?
    private var segments: [UInt32]
    private var reader: RecordReader?
    private var offset = 0

    init(snapshot: Snapshot, after sequence: UInt64) throws(StoreError) {
        source = snapshot.source
        end = snapshot.end
        after = sequence
        segments = []
        let last = end.segment
        segments = try source.files.list().segments.filter { $0 <= last }
        try skipSegments()
    }

    /// Leaves out segments that end before the first transaction wanted: each header names the last sequence before it.
    private mutating func skipSegments() throws(StoreError) {
        var low = 0
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            let header = try reader(of: segments[middle]).segmentHeader()
            if header.previousSequence <= after { low = middle } else { high = middle }
        }
        segments.removeFirst(low)
    }

    private func reader(of segment: UInt32, limit: Int? = nil) throws(StoreError) -> RecordReader {
        try RecordReader(
            files: source.files, storeUUID: source.storeUUID, segment: segment, file: try source.file(segment: segment),
            limit: limit)
    }

    /// The next transaction, or nil at the end.
    ///
    /// - Throws: `.io` or `.corruption`, with segment and offset: nothing is left out silently.
    public mutating func next() throws(StoreError) -> HistoryTransaction? {
        while true {
            guard let reader = try currentReader() else { return nil }
            // A snapshot may end with a segment's header.
            guard offset < reader.limit else { continue }
            guard let header = try reader.header(at: offset) else {
                throw corrupt("no record where one should be", reader.segment)
            }
            let start = offset
            if header.kind == .transaction {
                guard header.sequence == last.map({ $0 + 1 }) ?? header.sequence else {
                    throw corrupt("transaction \(header.sequence) follows \(last ?? 0)", reader.segment)
                }
                last = header.sequence
            }
            guard header.kind == .transaction, header.sequence > after else {
                offset += header.byteCount
                continue
            }
            offset += header.byteCount
            return try transaction(header, at: start, in: reader)
        }
    }

    /// From now on the reader ends with the newest transaction of a later snapshot of the same store; it goes on where
    /// it is.
    ///
    /// - Complexity: O(1) but for the segments that have come since.
    public mutating func advance(to snapshot: Snapshot) throws(StoreError) {
        guard let reader else {
            self = try HistoryReader(snapshot: snapshot, after: last ?? after)
            return
        }
        let newest = snapshot.end.segment
        let current = reader.segment
        let later = try source.files.list().segments.filter { $0 > current && $0 <= newest }
        var limit = snapshot.end.offset
        if let next = later.first { limit = try self.reader(of: next).segmentHeader().previousValidByteCount }
        guard limit >= offset else {
            // A flush failed, and what was read has been written again in a later segment.
            self = try HistoryReader(snapshot: snapshot, after: last ?? after)
            return
        }
        end = snapshot.end
        segments = later
        self.reader = try self.reader(of: current, limit: limit)
    }

    private mutating func currentReader() throws(StoreError) -> RecordReader? {
        if let reader, offset < reader.limit { return reader }
        guard let segment = segments.first else { return nil }
        // Valid bytes of a segment that the log has left are what the next one's header says, not what the file holds.
        let limit =
            segments.count > 1 ? try reader(of: segments[1]).segmentHeader().previousValidByteCount : end.offset
        let new = try reader(of: segment, limit: limit)
        guard new.limit == limit else {
            throw StoreError(
                .corruption, "the segment is \(limit - new.limit) bytes shorter than it was",
                path: source.files.segment(segment).string, segment: segment, offset: new.limit)
        }
        let first = try new.segmentHeader()
        guard first.previousSequence == last ?? first.previousSequence else {
            throw StoreError(
                .corruption,
                "the segment begins after transaction \(first.previousSequence), the one before ends with \(last ?? 0)",
                path: source.files.segment(segment).string, segment: segment, offset: 0)
        }
        last = first.previousSequence
        segments.removeFirst()
        reader = new
        offset = SegmentHeader.byteCount
        if let place = source.places.place(in: segment, notAfter: after), place.offset <= limit {
            last = place.sequence
            offset = place.offset
        }
        if offset < limit { return new }
        return try currentReader()
    }

    private func corrupt(_ what: String, _ segment: UInt32) -> StoreError {
        StoreError(
            .corruption, what, path: source.files.segment(segment).string, segment: segment, offset: offset)
    }

    private func transaction(
        _ header: RecordHeader, at start: Int, in reader: RecordReader
    ) throws(StoreError) -> HistoryTransaction {
        let bodyStart = start + RecordHeader.byteCount
        guard let bytes = try reader.bytes(at: bodyStart, count: header.bodyByteCount),
            checksum(bytes) == header.bodyChecksum
        else { throw corrupt("checksum mismatch in a record's body", reader.segment) }
        var body: HistoryBody
        do {
            body = try HistoryBody(bytes)
        } catch {
            throw corrupt("a record's body contradicts itself: \(error.reason)", reader.segment)
        }
        for (group, offsets) in body.tombstones {
            var blocks: [Block] = []
            for offset in offsets {
                let position = start + header.blocksOffset + offset
                guard position < min(Location.segmentMaximumBytes, start + header.byteCount) else {
                    throw corrupt("a record's pieces are longer than it", reader.segment)
                }
                blocks.append(
                    try source.block(at: Location(segment: reader.segment, byteOffset: position, row: 0)))
            }
            body.setTombstones(blocks, ofGroup: group)
        }
        return HistoryTransaction(
            sequence: header.sequence, timestampNanoseconds: header.timestampNanoseconds, author: body.author,
            contextName: body.contextName, groups: body.groups)
    }
}
