/// Reads a segment's records for what compaction needs to know.
struct SegmentScan {
    let source: BlockSource
    let layout: StoreLayout
    private var builders: [UInt16: KeyCover.Builder] = [:]
    private var info: SegmentInfo
    private var ageSum = 0.0

    /// - Parameter limit: where the segment's last record ends.
    /// - Complexity: reads the segment once; blocks only where there are large values.
    static func scan(
        _ segment: UInt32, limit: Int, source: BlockSource, layout: StoreLayout
    ) throws(StoreError) -> SegmentInfo {
        let reader = try RecordReader(
            files: source.files, storeUUID: source.storeUUID, segment: segment, file: try source.file(segment: segment),
            limit: limit)
        let header = try reader.segmentHeader()
        var scan = SegmentScan(source: source, layout: layout, segment, limit, header)
        try forEachRecord(reader) { record, offset, body, blocks throws(StoreError) in
            switch body {
            case .transaction(let body): scan.add(body, record)
            case .compaction(let body): scan.add(body, record)
            }
            try scan.add(body.pieces, blocks, of: offset..<offset + record.byteCount)
        }
        scan.info.cover = scan.builders.mapValues { $0.finish() }
        if scan.info.rowCount > 0 { scan.info.ageSequence = UInt64(scan.ageSum / Double(scan.info.rowCount)) }
        return scan.info
    }

    private init(
        source: BlockSource, layout: StoreLayout, _ segment: UInt32, _ limit: Int, _ header: SegmentHeader
    ) {
        self.source = source
        self.layout = layout
        info = SegmentInfo(
            segment: segment, byteCount: limit, previousSequence: header.previousSequence,
            lastSequence: header.previousSequence)
    }

    enum Body {
        case transaction(TransactionBody)
        case compaction(CompactionBody)

        fileprivate var pieces: RecordPieces {
            switch self {
            case .transaction(let body): RecordPieces(body)
            case .compaction(let body): RecordPieces(body)
            }
        }
    }

    /// Calls the body with each transaction and compaction record of a segment, in order, and where its blocks lie,
    /// counted from the record's start.
    static func forEachRecord(
        _ reader: RecordReader, _ visit: (RecordHeader, Int, Body, [Range<Int>]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var offset = SegmentHeader.byteCount
        while offset < reader.limit {
            func corrupt(_ what: String) -> StoreError {
                StoreError(.corruption, what, segment: reader.segment, offset: offset)
            }
            guard let header = try reader.header(at: offset) else { throw corrupt("no record where one should be") }
            if header.kind == .transaction || header.kind == .compaction {
                guard let bytes = try reader.bytes(at: offset + RecordHeader.byteCount, count: header.bodyByteCount),
                    checksum(bytes) == header.bodyChecksum
                else { throw corrupt("checksum mismatch in a record's body") }
                let body: Body
                do {
                    body =
                        header.kind == .transaction
                        ? .transaction(try TransactionBody(bytes)) : .compaction(try CompactionBody(bytes))
                } catch {
                    throw corrupt("a record's body contradicts itself: \(error.reason)")
                }
                guard let ranges = body.pieces.ranges(in: header) else {
                    throw corrupt("a record's pieces are longer than it")
                }
                try visit(header, offset, body, ranges.blocks)
            }
            offset += header.byteCount
        }
    }

    private mutating func add(_ body: TransactionBody, _ header: RecordHeader) {
        info.lastSequence = header.sequence
        info.historyByteCount += header.bodyByteCount
        for change in body.changes {
            guard let root = layout.root(ofEntity: change.entity) else { continue }
            if change.kind == .delete {
                info.deletionCount += change.keys.count
                continue
            }
            info.rowCount += change.keys.count
            ageSum += Double(header.sequence) * Double(change.keys.count)
            for key in change.keys { builders[root, default: .init()].insert(key) }
        }
    }

    private mutating func add(_ body: CompactionBody, _ header: RecordHeader) {
        if !body.transactions.isEmpty { info.historyByteCount += header.bodyByteCount }
        for group in body.absent { info.deletionCount += group.keys.count }
        for table in body.rows {
            guard let root = layout.root(ofEntity: table.entity) else { continue }
            info.rowCount += table.rowCount
            ageSum += Double(body.ageSequence) * Double(table.rowCount)
            builders[root, default: .init()].insert(table.keys)
        }
    }

    /// - Parameter blocks: where each block lies, counted from the record's start.
    private mutating func add(
        _ pieces: RecordPieces, _ blocks: [Range<Int>], of record: Range<Int>
    ) throws(StoreError) {
        for (piece, range) in zip(pieces.blocks, blocks) {
            if piece.role == .tombstone {
                info.historyByteCount += piece.byteCount
                continue
            }
            info.rowByteCount += piece.byteCount
            if pieces.largeValueByteCounts.isEmpty { continue }
            try addLargeValues(at: record.lowerBound + range.lowerBound, of: record)
        }
    }

    /// The large values that a block's rows have in the block's own record.
    private mutating func addLargeValues(at position: Int, of record: Range<Int>) throws(StoreError) {
        let block = try source.load(Location(segment: info.segment, byteOffset: position, row: 0))
        guard block.hasExternals else { return }
        for slot in 0..<block.slotCount where block.layout.slots[slot].kind.fixedWidth == 0 {
            let column = try block.column(slot)
            for row in 0..<block.rowCount where !column.isNull(row) && column.isExternal(row) {
                let value = column.external(row)
                guard value.segment == info.segment, record.contains(Int(value.byteOffset)) else { continue }
                info.largeValues.append(
                    .init(
                        ref: block.ref(row), slot: slot, byteOffset: value.byteOffset,
                        byteCount: Int(value.storedByteCount)))
            }
        }
    }
}
