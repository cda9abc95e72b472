/// Copies the live rows of blocks of few rows into full blocks, by key, with a compaction record that retires nothing.
///
/// Belongs to the thread that holds ``LogStore/compacting``. See docs/compaction.md.
struct FreshRowMerger {
    /// A block that holds less of both goes on being merged.
    private static let filledByteCount = BlockFormat.cutBytes / 2
    private static let filledRowCount = BlockFormat.cutRows / 2
    /// So many blocks are read between two looks whether the store is being closed.
    private static let stepCount = 64

    private let store: LogStore
    private let snapshot: Snapshot
    private let builder: CompactionBuilder

    /// A live row in one of the blocks that were read.
    private struct LiveRow {
        var key: UInt64
        var block: Int32
        var row: Int32
    }

    init(store: LogStore) {
        self.store = store
        snapshot = store.snapshot
        builder = CompactionBuilder(store: store, victims: SegmentSet([]))
    }

    /// Merges an entity's blocks, unless fewer than `minimum` of them have live rows.
    ///
    /// - Returns: blocks to be merged later: those that were left alone, and new ones that are less than half full.
    /// - Throws: errors of reading and writing; `.closed`. What was merged stays merged.
    /// - Complexity: reads the blocks, and writes their live rows.
    func merge(_ blocks: [Location], of entity: UInt16, minimum: Int) throws(StoreError) -> [Location] {
        var sources: [CompactionBuilder.Source] = []
        var rows: [LiveRow] = []
        var later: [Location] = []
        for (number, location) in blocks.enumerated() {
            if number % Self.stepCount == 0, store.isClosed { throw store.refusal }
            guard let source = try read(location) else { continue }
            let live = try liveRows(of: source.block, number: sources.count)
            guard !live.isEmpty else { continue }
            guard try hasFinalOffsets(source.block) else {
                later.append(location)
                continue
            }
            sources.append(source)
            rows += live
        }
        guard sources.count >= max(minimum, 2) else { return sources.map(\.block.location) + later }
        rows.sort { ($0.key, $0.block) < ($1.key, $1.block) }
        var unfilled: [Location] = []
        builder.onRecord = { record in
            for block in record.rows
            where block.rawByteCount < Self.filledByteCount && block.keys.count < Self.filledRowCount {
                unfilled.append(block.location)
            }
        }
        try append(rows, of: sources)
        try builder.commit()
        return unfilled + later
    }

    /// Nil when the block is gone: its segment was compacted away, or given up after a failed flush.
    private func read(_ location: Location) throws(StoreError) -> CompactionBuilder.Source? {
        guard !snapshot.epoch.compaction.holes.contains(location.segment), !snapshot.source.isAbandoned(location) else {
            return nil
        }
        if let cached = snapshot.source.cache.peek(location) { return try .init(cached, isCached: true) }
        return try .init(try snapshot.source.load(location), isCached: false)
    }

    private func liveRows(of block: Block, number: Int) throws(StoreError) -> [LiveRow] {
        var rows: [LiveRow] = []
        for row in 0..<block.rowCount
        where try snapshot.locate(block.ref(row)) == Location(rawValue: block.location.rawValue | UInt64(row)) {
            rows.append(LiveRow(key: block.key(row), block: Int32(number), row: Int32(row)))
        }
        return rows
    }

    /// Whether all values out of line are flushed: a copied row can refer to them where they are then.
    private func hasFinalOffsets(_ block: Block) throws(StoreError) -> Bool {
        guard block.hasExternals else { return true }
        for slot in 0..<block.slotCount where block.layout.slots[slot].kind.fixedWidth == 0 {
            let column = try block.column(slot)
            for row in 0..<block.rowCount where !column.isNull(row) && column.isExternal(row) {
                if !snapshot.source.isDurable(column.external(row)) { return false }
            }
        }
        return true
    }

    /// Neighbouring rows of a block are copied at once.
    private func append(_ rows: [LiveRow], of sources: [CompactionBuilder.Source]) throws(StoreError) {
        var start = 0
        while start < rows.count {
            var end = start + 1
            while end < rows.count, rows[end].block == rows[start].block,
                Int(rows[end].row) == Int(rows[start].row) + end - start
            {
                end += 1
            }
            let first = Int(rows[start].row)
            try builder.append(sources[Int(rows[start].block)], rows: first..<first + end - start)
            start = end
        }
    }
}
