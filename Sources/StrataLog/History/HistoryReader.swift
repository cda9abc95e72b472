internal import StrataSupport
internal import SystemPackage

/// Reads committed transactions in order, up to the snapshot that was the newest when the reader was made.
///
/// The log is the history: this reads its change tables, and of the blocks only those with preserved values. Where
/// segments were compacted away it reads the change tables that compaction wrote down again.
public struct HistoryReader {
    private let source: BlockSource
    /// Keeps the segments that are being read.
    private var epoch: SegmentEpoch
    private var end: LogPosition
    /// The last transaction that the snapshot shows: of one of the past the log goes on behind it.
    private var newest: UInt64
    /// The last transaction returned; only later ones are wanted.
    private var returned: UInt64
    /// The last transaction passed in the segment being read: the next has the next number.
    private var last: UInt64 = 0
    /// Segments yet to be read, ascending.
    private var segments: [UInt32]
    private var reader: RecordReader?
    private var offset = 0
    /// Transactions of an archive that are yet to be returned, the next one last.
    private var archived: [HistoryTransaction] = []

    /// - Parameters:
    ///   - snapshot: how far the log is read.
    ///   - sequence: later transactions are returned, of those that are retained.
    package init(snapshot: Snapshot, after sequence: UInt64) throws(StoreError) {
        source = snapshot.source
        epoch = snapshot.epoch
        end = snapshot.end
        newest = snapshot.sequence
        returned = max(sequence, snapshot.epoch.compaction.historyFloor)
        segments = epoch.compaction.holes.remaining(1, through: end.segment)
        try skipSegments()
    }

    /// Leaves out segments that end before the first transaction wanted: each header names the last sequence before it.
    private mutating func skipSegments() throws(StoreError) {
        var low = 0
        var high = segments.count
        while high - low > 1 {
            let middle = (low + high) / 2
            let header = try reader(of: segments[middle]).segmentHeader()
            if header.previousSequence <= returned { low = middle } else { high = middle }
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
        while returned < newest {
            if let transaction = archived.popLast() {
                guard transaction.sequence > returned else { continue }
                returned = transaction.sequence
                return transaction
            }
            guard let reader = try currentReader() else {
                if archived.isEmpty { return nil }
                continue
            }
            guard let header = try reader.header(at: offset) else {
                throw corrupt("no record where one should be", reader.segment)
            }
            let start = offset
            if header.kind == .transaction {
                guard header.sequence == last + 1 else {
                    throw corrupt("transaction \(header.sequence) follows \(last)", reader.segment)
                }
                last = header.sequence
            }
            guard header.kind == .transaction, header.sequence > returned else {
                offset += header.byteCount
                continue
            }
            offset += header.byteCount
            let transaction = try transaction(header, at: start, in: reader)
            returned = header.sequence
            return transaction
        }
        return nil
    }

    /// From now on the reader ends with the newest transaction of a later snapshot of the same store; it goes on where
    /// it is. Transactions up to that snapshot's history floor are passed over.
    ///
    /// - Complexity: O(1) but for the segments that have come since.
    public mutating func advance(to snapshot: Snapshot) throws(StoreError) {
        guard let reader, archived.isEmpty else {
            self = try HistoryReader(snapshot: snapshot, after: returned)
            return
        }
        let current = reader.segment
        let holes = snapshot.epoch.compaction.holes
        let limit = try validByteCount(of: current, in: holes, before: snapshot.end)
        guard limit >= offset, !holes.contains(current), reader.segment <= snapshot.end.segment else {
            // A flush failed, and what was read has been written again in a later segment; or the segment is no longer
            // part of the log.
            self = try HistoryReader(snapshot: snapshot, after: returned)
            return
        }
        epoch = snapshot.epoch
        end = snapshot.end
        newest = snapshot.sequence
        // What the history has let go of since is passed over, as by a new reader: segments may lack it.
        returned = max(returned, epoch.compaction.historyFloor)
        segments = holes.remaining(current + 1, through: end.segment)
        self.reader = try self.reader(of: current, limit: limit)
    }

    private mutating func currentReader() throws(StoreError) -> RecordReader? {
        if let reader, offset < reader.limit { return reader }
        reader = nil
        guard let segment = segments.first else { return nil }
        let first = try reader(of: segment).segmentHeader()
        let passed = max(last, returned)
        guard first.previousSequence <= passed else {
            try readArchive(of: passed + 1, before: segment)
            return nil
        }
        let limit = try validByteCount(of: segment, in: epoch.compaction.holes, before: end)
        let new = try reader(of: segment, limit: limit)
        guard new.limit == limit else {
            throw StoreError(
                .corruption, "the segment is \(limit - new.limit) bytes shorter than it was",
                path: source.files.segment(segment).string, segment: segment, offset: new.limit)
        }
        // What an archive had, too, is passed over.
        last = first.previousSequence
        segments.removeFirst()
        reader = new
        offset = SegmentHeader.byteCount
        if let position = source.transactionOffsets.mark(in: segment, notAfter: returned), position.offset <= limit {
            last = position.sequence
            offset = position.offset
        }
        if offset < limit { return new }
        return try currentReader()
    }

    /// How many bytes of a segment count. Of one that the log has left that is what the next one's header says, not
    /// what the file holds.
    private func validByteCount(
        of segment: UInt32, in holes: SegmentHoles, before end: LogPosition
    ) throws(StoreError) -> Int {
        guard segment < end.segment else { return end.offset }
        if let hole = holes.hole(at: segment + 1) { return hole.previousValidByteCount }
        return try reader(of: segment + 1).segmentHeader().previousValidByteCount
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
            let blocks = try tombstones(
                offsets.map { start + header.blocksOffset + $0 }, before: start + header.byteCount, in: reader.segment)
            body.setTombstones(blocks, ofGroup: group)
        }
        return HistoryTransaction(
            sequence: header.sequence, timestampNanoseconds: header.timestampNanoseconds, author: body.author,
            contextName: body.contextName, groups: body.groups)
    }

    /// The blocks with preserved values that begin at these offsets of a segment, all of them before `end`.
    private func tombstones(_ positions: [Int], before end: Int, in segment: UInt32) throws(StoreError) -> [Block] {
        var blocks: [Block] = []
        for position in positions {
            guard position < min(Location.segmentMaximumBytes, end) else {
                throw corrupt("a record's pieces are longer than it", segment)
            }
            // Which slots they preserve is for the schema to say that they were deleted under.
            blocks.append(try source.storedBlock(at: Location(segment: segment, byteOffset: position, row: 0)))
        }
        return blocks
    }

    /// Reads what compaction wrote down of transactions whose segment is gone.
    private mutating func readArchive(of sequence: UInt64, before segment: UInt32) throws(StoreError) {
        guard let archive = epoch.compaction.archive(of: sequence) else {
            throw corrupt("transaction \(sequence) is neither in the log nor in an archive", segment)
        }
        let position = archive.position
        let reader = try reader(of: position.segment)
        guard let header = try reader.header(at: position.offset), header.kind == .compaction,
            let bytes = try reader.bytes(at: position.offset + RecordHeader.byteCount, count: header.bodyByteCount),
            checksum(bytes) == header.bodyChecksum
        else { throw corrupt("the archive of transaction \(sequence) is damaged", position.segment) }
        let body: CompactionBody
        do {
            body = try CompactionBody(bytes)
        } catch {
            throw corrupt("an archive contradicts itself: \(error.reason)", position.segment)
        }
        guard let ranges = RecordPieces(body).ranges(in: header) else {
            throw corrupt("a record's pieces are longer than it", position.segment)
        }
        let positions = ranges.blocks.map { position.offset + $0.lowerBound }
        for transaction in body.transactions.reversed() where transaction.sequence >= sequence {
            var groups: [ChangeGroup] = []
            for change in transaction.changes {
                let blocks = try tombstones(
                    change.tombstoneBlocks.map { positions[$0] }, before: position.offset + header.byteCount,
                    in: position.segment)
                groups.append(ChangeGroup(change, tombstones: blocks))
            }
            archived.append(
                HistoryTransaction(
                    sequence: transaction.sequence, timestampNanoseconds: transaction.timestampNanoseconds,
                    author: transaction.author, contextName: transaction.contextName, groups: groups))
        }
        guard archived.last?.sequence == sequence else {
            throw corrupt("the archive lacks transaction \(sequence)", position.segment)
        }
    }
}
