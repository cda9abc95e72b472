/// Gathers live rows, absent keys and change tables, and commits them record by record.
///
/// Rows are expected by entity and key, so that the blocks come out clustered. Memory is bounded by the length of a
/// step and what its blocks decode to.
final class CompactionBuilder {
    private let store: LogStore
    private let victims: SegmentSet
    private let stepByteCount: Int
    private var prepared = PreparedCompaction()
    private var open: [UInt16: OpenRows] = [:]
    /// The one that was appended to last.
    private var latest: OpenRows?
    /// Called after each record; throws to stop.
    var onRecord: (PreparedCompaction) throws(StoreError) -> Void = { _ in }

    private final class OpenRows {
        let buffer: RowBuffer
        var keys: [UInt64] = []
        var sources: [Location] = []
        /// How many of them were in the cache.
        var cachedCount = 0

        init(_ layout: EntityLayout, schemaVersion: UInt16) {
            buffer = RowBuffer(layout: layout, schemaVersion: schemaVersion)
        }
    }

    init(store: LogStore, victims: SegmentSet) {
        self.store = store
        self.victims = victims
        stepByteCount = min(store.options.compactionStepBytes, store.options.segmentMaximumBytes / 4)
    }

    /// A block to copy rows from, with its columns.
    struct Source {
        let block: Block
        let isCached: Bool
        fileprivate let columns: [ColumnView]

        init(_ block: Block, isCached: Bool) throws(StoreError) {
            self.block = block
            self.isCached = isCached
            var columns: [ColumnView] = []
            columns.reserveCapacity(block.slotCount)
            for slot in 0..<block.slotCount { columns.append(try block.column(slot)) }
            self.columns = columns
        }
    }

    private func rows(of block: Block) -> OpenRows {
        if let latest, latest.buffer.layout.id == block.entity { return latest }
        let rows = open[block.entity] ?? begin(block)
        latest = rows
        return rows
    }

    private func begin(_ block: Block) -> OpenRows {
        // Blocks show their rows as the newest schema that has the entity: what is written is lifted for good.
        let newest = store.newestSchema(with: block.entity)
        let rows: OpenRows
        if let newest, let layout = newest.schema.entity(block.entity) {
            rows = OpenRows(layout, schemaVersion: newest.version)
        } else {
            rows = OpenRows(block.layout, schemaVersion: block.schemaVersion)
        }
        open[block.entity] = rows
        return rows
    }

    /// Copies neighbouring rows of a block. Values that lie out of line in a victim are moved, too, and those that are
    /// not durable yet.
    func append(_ source: Source, rows range: Range<Int>) throws(StoreError) {
        let block = source.block
        guard range.upperBound <= block.rowCount else {
            throw StoreError(
                .corruption, "row \(range.upperBound - 1) of a block of \(block.rowCount)",
                segment: block.location.segment, offset: block.location.byteOffset)
        }
        let rows = rows(of: block)
        let slotCount = min(block.slotCount, rows.buffer.layout.slots.count)
        let target = rows.buffer.row
        for row in range {
            let (key, sequence) = (block.key(row), block.sequence(row))
            rows.buffer.beginRow(key: key, sequence: sequence)
            for slot in 0..<slotCount where !source.columns[slot].isNull(row) {
                try copy(slot, source.columns[slot], row, to: target)
            }
            rows.buffer.endRow()
            rows.keys.append(key)
            rows.sources.append(Location(rawValue: block.location.rawValue | UInt64(row)))
            if source.isCached { rows.cachedCount += 1 }
            prepared.sequenceSum += Double(sequence)
            if rows.buffer.shouldCut {
                cut(rows)
                try commitIfDue()
            }
        }
    }

    private func copy(_ slot: Int, _ column: ColumnView, _ row: Int, to target: OpenRow) throws(StoreError) {
        guard column.kind.fixedWidth == 0, column.isExternal(row) else {
            return target.copy(slot, from: column, row: row)
        }
        let value = column.external(row)
        // What is not flushed yet a failed flush could still move, and the reference would be left behind.
        guard victims.contains(value.segment) || !store.source.isDurable(value) else {
            return target.set(slot, external: value)
        }
        let stored = try store.source.readStored(value)
        prepared.largeValues.append((stored, Int(value.byteCount)))
        target.set(
            slot, external: .pending(number: UInt32(prepared.largeValues.count - 1), byteCount: value.byteCount))
    }

    private func cut(_ rows: OpenRows) {
        guard !rows.keys.isEmpty else { return }
        let pending = rows.buffer.take()
        let stays = rows.cachedCount * 2 >= rows.keys.count && !pending.rows.memory.hasExternals
        prepared.rows.append(
            .init(
                encoded: pending.encode(), rawByteCount: pending.rows.memory.rawByteCount, rows: stays ? pending : nil,
                layout: rows.buffer.layout, entity: pending.entity, keys: rows.keys, sources: rows.sources))
        rows.keys = []
        rows.sources = []
        rows.cachedCount = 0
    }

    func append(absent keys: IntegerList, entity: UInt16) throws(StoreError) {
        for start in stride(from: 0, to: keys.count, by: 1 << 16) {
            prepared.absent.append(
                .init(entity: entity, keys: keys.part(start..<min(start + 1 << 16, keys.count))))
            if prepared.absent.count >= 8 { try commit() }
        }
    }

    /// Archives a transaction. Those of one record have numbers that count up.
    ///
    /// - Parameters:
    ///   - tombstones: blocks of preserved values, in the order in which the changes count them.
    ///   - byteCount: roughly what the change tables take.
    func append(
        _ transaction: CompactionBody.ArchivedTransaction, tombstones: [Block], byteCount: Int
    ) throws(StoreError) {
        let changeCount = transaction.changes.reduce(0) { $0 + $1.keys.count }
        if let last = prepared.transactions.last,
            last.sequence + 1 != transaction.sequence
                || prepared.transactionChangeCount + changeCount > TransactionBody.maximumCount
        {
            try commit()
        }
        var transaction = transaction
        let first = prepared.tombstones.count
        for block in tombstones {
            prepared.tombstones.append(.init(encoded: try encoded(block), sequence: block.blockSequence))
        }
        for index in transaction.changes.indices {
            transaction.changes[index].tombstoneBlocks = transaction.changes[index].tombstoneBlocks.map { $0 + first }
        }
        prepared.transactions.append(transaction)
        prepared.transactionByteCount += byteCount
        prepared.transactionChangeCount += changeCount
        try commitIfDue()
    }

    /// A block of preserved values for another place; as it is, unless values have to be moved with it.
    private func encoded(_ block: Block) throws(StoreError) -> EncodedBlock {
        guard block.hasExternals else {
            let bytes = [UInt8](UnsafeRawBufferPointer(start: block.bytes, count: block.header.byteCount))
            return EncodedBlock(
                bytes: bytes, entity: block.entity, rowCount: block.rowCount, patches: [], patchedChunks: [])
        }
        let buffer = RowBuffer(layout: block.layout, schemaVersion: block.schemaVersion)
        for row in 0..<block.rowCount {
            buffer.beginRow(key: block.key(row))
            for slot in 0..<block.slotCount {
                let column = try block.column(slot)
                if !column.isNull(row) { try copy(slot, column, row, to: buffer.row) }
            }
            buffer.endRow()
        }
        return buffer.take().encode()
    }

    private func commitIfDue() throws(StoreError) {
        if prepared.gatheredByteCount >= stepByteCount { try commit() }
    }

    /// Writes what was gathered; rows that are open are part of it.
    func commit() throws(StoreError) {
        for entity in open.keys.sorted() { if let rows = open[entity] { cut(rows) } }
        guard !prepared.isEmpty else { return }
        let record = prepared
        prepared = PreparedCompaction()
        try store.commit(record)
        try onRecord(record)
    }
}
