import StrataLog

/// Finds the column chunks of a scan's row groups, or puts them together.
struct RowGroupSource: Sendable {
    private let cache: ColumnChunkCache
    private let log: LogStore
    private let root: UInt16
    /// What the scan reads.
    private let slots: [Int]
    private let scan: UInt64
    /// Makes column chunks of any row group.
    private let isForced: Bool

    /// Chunks of fewer rows stay blocks: where few are wanted, few should be read.
    private static let rowsMinimum = 4_096

    /// Nil when the scan reads no columns, or tests say so.
    init?(_ handle: StoreHandle, root: UInt16, slots: [Int]) {
        guard !slots.isEmpty, ColumnChunkUse.current != .never else { return nil }
        cache = handle.columnChunks
        log = handle.log
        self.root = root
        self.slots = slots
        scan = cache.beginScan()
        isForced = ColumnChunkUse.current == .always
    }

    /// The column chunks of some rows; nil when they are better read block by block: they are few, zone maps rule most
    /// blocks out, or a value lies out of line.
    ///
    /// - Parameter entities: those that are asked for.
    func rowGroup(
        _ runs: [RowRun], _ program: CompiledPredicate.Node, entities: EntityNumbers,
        _ control: RequestControl?, _ statistics: inout ScanStatistics
    ) throws(StoreError) -> RowGroup? {
        guard let first = runs.first else { return nil }
        if !isForced, runs.reduce(0, { $0 + $1.count }) < Self.rowsMinimum { return nil }
        let key = ColumnChunkCache.Key(root: root, number: first.firstKey >> 12)
        let known = cache.rowGroup(key, slots: slots, scan: scan)
        let isCurrent = known?.runs == runs
        if let known, isCurrent, known.hasColumns(slots) {
            record(known, known.blockCount, &statistics)
            return entities.contains(known.entity) ? known : nil
        }
        var wanted = slots
        if let known {
            if isCurrent {
                wanted = slots.filter { known.column($0) == nil }
            } else {
                // Numbers that other scans have asked for are cheap to copy.
                wanted += known.slots.filter { !slots.contains($0) && (known.column($0)?.view.width ?? 0) > 0 }
            }
        }
        let builder = RowGroupBuilder(
            log, runs, wanted, cache.pages, copying: isCurrent ? nil : known, control)
        let probed = isForced ? nil : program
        guard let columns = try builder.columns(unlessPrunedBy: probed, entities: entities), let entity = builder.entity
        else { return nil }
        let rowGroup =
            if let known, isCurrent { known.adding(columns) } else {
                RowGroup(entity: entity, runs: runs, columns: columns)
            }
        cache.keep(rowGroup, key, scan: scan)
        record(rowGroup, builder.cachedBlocks, &statistics)
        return rowGroup
    }

    private func record(_ rowGroup: RowGroup, _ cachedBlocks: Int, _ statistics: inout ScanStatistics) {
        statistics.blocks += rowGroup.blockCount
        statistics.cachedBlocks += cachedBlocks
    }
}
