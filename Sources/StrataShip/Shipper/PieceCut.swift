internal import StrataLog

/// What is shipped next: bytes of the segment that the log in the bucket ends in, cut behind a record.
struct PieceCut: Sendable {
    private(set) var bytes: [UInt8] = []
    private var records: [LoggedRecord] = []
    /// The next segment, if this one is over.
    private var next: UInt32?
    /// Whether the rest of the segment was compacted away before it was shipped.
    private var isGap = false
    /// What the segment's header says, if the cut begins with it.
    private var start: SegmentStart?

    /// So many segments are kept open for when compaction removes them.
    static let heldMaximum = 64

    /// Reads what follows a place. A flush comes before, so that it is on the disk.
    ///
    /// - Parameters:
    ///   - extent: How far the log goes, which is behind the place.
    ///   - firstSegment: What was compacted away before it was never to be shipped.
    init(
        _ scanner: LogScanner, _ extent: LogScanner.Extent, from place: ShipHead.Place, firstSegment: UInt32,
        maximumBytes maximum: Int
    ) throws(StoreError) {
        let later = try scanner.readableSegments().filter { $0 > place.segment && $0 <= extent.end.segment }
        for segment in later.prefix(Self.heldMaximum) { try scanner.hold(segment) }
        let isOver = extent.end.segment > place.segment
        guard try scanner.hold(place.segment) else {
            // Compacted away before it was shipped.
            guard isOver, let following = later.first else {
                throw StoreError(
                    .corruption, "the segment that the log goes on in is missing", segment: place.segment)
            }
            next = following
            isGap = true
            return
        }
        if place.offset == 0 { start = try scanner.start(of: place.segment) }
        var limit = extent.end.offset
        var isLimitKnown = !isOver
        if isOver {
            if later.first == place.segment + 1 {
                limit = try scanner.start(of: place.segment + 1).previousValidByteCount
                isLimitKnown = true
            } else {
                // The next segment, which says how long this one is, has gone: every sound record counts.
                limit = try scanner.byteCount(of: place.segment)
            }
        }
        if place.offset < limit {
            let previous = start.map(\.previousChecksum) ?? place.checksum
            // A flush first: what is read after it is on the disk.
            if !isOver, !extent.isDurable { try scanner.flush(place.segment) }
            let run = try scanner.run(
                from: place.position, upTo: limit, previousChecksum: previous, maximumBytes: maximum)
            bytes = run.bytes
            records = run.records
        }
        let end = place.offset + bytes.count
        if isOver, end >= limit || (!isLimitKnown && bytes.isEmpty) {
            // If the following one has been compacted away, a gap begins there.
            next = place.segment + 1 < firstSegment ? later.first : place.segment + 1
        } else if bytes.isEmpty {
            throw StoreError(
                .corruption, "no sound record lies where the log should go on", segment: place.segment,
                offset: place.offset)
        }
    }

    /// The header of the piece.
    func header(_ storeUUID: StoreUUID, epoch: UInt32, from place: ShipHead.Place) -> ObjectHeader {
        var header = ObjectHeader(
            kind: .piece, storeUUID: storeUUID, epoch: epoch, position: place.position,
            previousSequence: start?.previousSequence ?? place.sequence,
            sequence: records.last?.sequence ?? start?.previousSequence ?? place.sequence,
            previousTime: place.time, time: records.reduce(place.time) { max($0, $1.timestampNanoseconds) },
            checksum: records.last?.checksum ?? start?.previousChecksum ?? place.checksum)
        header.isGap = isGap
        if let next {
            header.nextSegment = next
            header.validByteCount = place.offset + bytes.count
        }
        header.payloadByteCount = bytes.count
        return header
    }
}
