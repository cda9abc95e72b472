import StrataLog

/// Finds the column chunks of a scan's row groups, or puts them together.
struct RowGroupSource: Sendable {
    private let cache: ColumnChunkCache
    private let handle: StoreHandle
    private let root: UInt16
    /// What the scan reads, by slot.
    private let ids: [ColumnID]
    private let scan: UInt64
    /// Makes column chunks of any row group.
    private let isForced: Bool

    /// What a scan reads of some rows.
    enum Answer {
        /// Column chunks.
        ///
        /// - `cachedBlocks`: how many of the blocks that are asked for were in memory; nil when none had to be read.
        case columns(ScannedColumns, cachedBlocks: Int?)
        /// Their blocks are better read one by one: they are few, or zone maps rule most blocks out.
        case blocks
        /// None is of an entity that is asked for.
        case nothing
    }

    /// Chunks of fewer rows stay blocks: where few are wanted, few should be read.
    private static let rowsMinimum = 4_096

    /// Nil when the scan reads no columns, or tests say so.
    ///
    /// - Parameters:
    ///   - shape: whose slots they are; nil for rows of a link.
    ///   - slots: what is read, ascending.
    init?(_ handle: StoreHandle, root: UInt16, _ shape: EntityShape?, slots: [Int]) {
        guard !slots.isEmpty, ColumnChunkUse.current != .never else { return nil }
        cache = handle.columnChunks
        self.handle = handle
        self.root = root
        ids = slots.map { ColumnID($0, of: shape) }
        scan = cache.beginScan()
        isForced = ColumnChunkUse.current == .always
    }

    private static func areFewRows(_ runs: [RowRun]) -> Bool {
        var count = 0
        for run in runs {
            count += run.count
            if count >= rowsMinimum { return false }
        }
        return true
    }

    /// The column chunks of some rows, whatever their entities.
    ///
    /// - Parameter wanted: the entities that are asked for.
    func rowGroup(
        _ runs: [RowRun], _ program: CompiledPredicate.Node, of wanted: EntityNumbers,
        _ control: RequestControl?
    ) throws(StoreError) -> Answer {
        guard let first = runs.first else { return .nothing }
        if !isForced, Self.areFewRows(runs) { return .blocks }
        let key = ColumnChunkCache.Key(root: root, number: first.firstKey >> 12)
        let known = cache.rowGroup(key, ids: ids, scan: scan)
        let isCurrent = known?.runs == runs
        if let known, isCurrent {
            if known.areAllOrNone(of: wanted) == false { return .nothing }
            if known.hasColumns(ids) { return .columns(ScannedColumns(known, ids), cachedBlocks: nil) }
        }
        var missing = ids
        if let known {
            if isCurrent {
                missing = ids.filter { known.column($0) == nil }
            } else {
                // Numbers that other scans have asked for are cheap to copy.
                missing += known.columnIDs.filter { !ids.contains($0) && (known.column($0)?.view.width ?? 0) > 0 }
            }
        }
        let builder = RowGroupBuilder(
            handle.log, runs, missing.map { ColumnLayout($0, handle) }, cache.pages, copying: isCurrent ? nil : known,
            of: wanted, control)
        guard let columns = try builder.columns(unlessPrunedBy: isForced ? nil : program) else { return .blocks }
        let rowGroup =
            if let known, isCurrent { known.adding(columns) } else {
                RowGroup(runs: runs, entities: builder.entities, columns: columns)
            }
        cache.keep(rowGroup, key, scan: scan)
        if rowGroup.areAllOrNone(of: wanted) == false { return .nothing }
        return .columns(ScannedColumns(rowGroup, ids), cachedBlocks: builder.cachedBlocks)
    }
}
