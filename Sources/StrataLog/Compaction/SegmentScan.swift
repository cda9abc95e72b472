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
        try forEachRecord(reader) { record, offset, body throws(StoreError) in
            switch body {
            case .transaction(let body): try scan.add(body, record, at: offset)
            case .compaction(let body): try scan.add(body, record, at: offset)
            }
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

        fileprivate var pieces: Pieces {
            switch self {
            case .transaction(let body): Pieces(blocks: body.blocks, largeValues: body.largeValueByteCounts)
            case .compaction(let body): Pieces(blocks: body.blocks, largeValues: body.largeValueByteCounts)
            }
        }
    }

    /// What follows a record's body.
    fileprivate struct Pieces {
        var blocks: [TransactionBody.Piece]
        var largeValues: [Int]

        /// Whether they end before the record does.
        func fit(_ header: RecordHeader) -> Bool {
            var room = header.byteCount - RecordFooter.byteCount - header.blocksOffset
            func take(_ byteCount: Int) -> Bool {
                room -= min(byteCount, room + 1)
                return room >= 0
            }
            return blocks.allSatisfy { take($0.byteCount) } && largeValues.allSatisfy(take)
        }
    }

    /// Calls the body with each transaction and compaction record of a segment, in order.
    static func forEachRecord(
        _ reader: RecordReader, _ visit: (RecordHeader, Int, Body) throws(StoreError) -> Void
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
                guard body.pieces.fit(header) else { throw corrupt("a record's pieces are longer than it") }
                try visit(header, offset, body)
            }
            offset += header.byteCount
        }
    }

    private mutating func add(
        _ body: TransactionBody, _ header: RecordHeader, at offset: Int
    ) throws(StoreError) {
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
        try add(body.blocks, hasLargeValues: !body.largeValueByteCounts.isEmpty, header, at: offset)
    }

    private mutating func add(
        _ body: CompactionBody, _ header: RecordHeader, at offset: Int
    ) throws(StoreError) {
        if !body.transactions.isEmpty { info.historyByteCount += header.bodyByteCount }
        for group in body.absent { info.deletionCount += group.keys.count }
        for table in body.rows {
            guard let root = layout.root(ofEntity: table.entity) else { continue }
            info.rowCount += table.rowCount
            ageSum += Double(body.ageSequence) * Double(table.rowCount)
            builders[root, default: .init()].insert(table.keys)
        }
        try add(body.blocks, hasLargeValues: !body.largeValueByteCounts.isEmpty, header, at: offset)
    }

    private mutating func add(
        _ blocks: [TransactionBody.Piece], hasLargeValues: Bool, _ header: RecordHeader, at offset: Int
    ) throws(StoreError) {
        var position = offset + header.blocksOffset
        for piece in blocks {
            if piece.role == .tombstone {
                info.historyByteCount += piece.byteCount
            } else {
                info.rowByteCount += piece.byteCount
                if hasLargeValues { try addLargeValues(at: position, of: offset..<offset + header.byteCount) }
            }
            position += piece.byteCount
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
