import StrataLog

/// Gathers columns of the rows of one row group into column chunks. Belongs to one thread.
final class RowGroupBuilder {
    /// So many blocks tell whether zone maps rule out most of a row group's.
    private static let probedBlocks = 16

    private let log: LogStore
    private let runs: [RowRun]
    private let slots: [Int]
    private let pages: ColumnPages
    private let rowCount: Int
    private let control: RequestControl?
    /// Column row groups of the same columns from before some of the rows changed their places.
    private let old: RowGroup?
    private var oldRun = 0
    /// In the order of the slots; made with the first rows.
    private var builders: [ColumnChunkBuilder] = []
    /// For each slot what zone maps say, by segment.
    private var zones: [[ColumnZone?]] = []
    /// The segment of the rows that come next, and its block.
    private var segment = -1
    private var segmentBlock = Location.absent
    private lazy var reader = log.passingBlocks()
    private var block: Block?
    private var readBlocks = 0
    private var prunedBlocks = 0
    /// How many of the blocks that were read were in memory already.
    private(set) var cachedBlocks = 0
    /// Of all rows; nil before the first.
    private(set) var entity: UInt16?

    init(
        _ log: LogStore, _ runs: [RowRun], _ slots: [Int], _ pages: ColumnPages, copying old: RowGroup?,
        _ control: RequestControl?
    ) {
        self.control = control
        self.log = log
        self.runs = runs
        self.slots = slots
        self.pages = pages
        self.old = old.flatMap { $0.hasColumns(slots) ? $0 : nil }
        rowCount = runs.reduce(0) { $0 + $1.count }
    }

    /// The column chunks by slot; nil when the rows cannot lie in column chunks, or had better not.
    ///
    /// - Parameter program: when zone maps let it rule out most of the first blocks, the rest is not read.
    func columns(
        unlessPrunedBy program: CompiledPredicate.Node?, entities: EntityNumbers
    ) throws(StoreError) -> [Int: ColumnChunk]? {
        zones = slots.map { _ in [] }
        for run in runs {
            begin(run)
            var rest = run
            while rest.count > 0 {
                var piece = rest
                if let first = oldRow(of: &piece), let old {
                    let rows = first..<first + piece.count
                    guard try take(old.entity, rows, entities, { old.column($0)?.view }) else { return nil }
                    recordZones { old.column($0)?.zone(old.segment(ofRun: oldRun)) }
                } else {
                    guard try takeFromBlock(piece, program, entities) else { return nil }
                }
                rest.firstKey += UInt64(piece.count)
                rest.location.rawValue += UInt64(piece.count)
                rest.count -= piece.count
            }
        }
        var columns: [Int: ColumnChunk] = [:]
        for (index, slot) in slots.enumerated() {
            let isComplete = zones[index].count == segment + 1 && segment < RowGroup.segmentsWithZonesMaximum
            columns[slot] = ColumnChunk(builders[index], isComplete ? zones[index] : [])
        }
        return columns
    }

    /// Begins a segment if the run lies in another block than the one before.
    private func begin(_ run: RowRun) {
        if run.location.block == segmentBlock { return }
        segmentBlock = run.location.block
        segment += 1
    }

    /// Records what zone maps say of the segment.
    private func recordZones(_ zone: (Int) -> ColumnZone?) {
        guard segment < RowGroup.segmentsWithZonesMaximum else { return }
        for (index, slot) in slots.enumerated() where zones[index].count == segment { zones[index].append(zone(slot)) }
    }

    /// The row of the old column chunks that the first of a piece is, with the piece cut to what they have of it; nil
    /// when they do not have the first, with the piece cut to where they may go on.
    private func oldRow(of piece: inout RowRun) -> Int? {
        guard let old else { return nil }
        while oldRun < old.runs.count, end(old.runs[oldRun]) <= piece.firstKey { oldRun += 1 }
        guard oldRun < old.runs.count else { return nil }
        let run = old.runs[oldRun]
        if run.firstKey > piece.firstKey {
            piece.count = min(piece.count, Int(clamping: run.firstKey - piece.firstKey))
            return nil
        }
        piece.count = min(piece.count, Int(end(run) - piece.firstKey))
        let offset = piece.firstKey - run.firstKey
        guard run.location.rawValue + offset == piece.location.rawValue else { return nil }
        return Int(old.starts[oldRun]) + Int(offset)
    }

    private func end(_ run: RowRun) -> UInt64 { run.firstKey + UInt64(run.count) }

    private func takeFromBlock(
        _ piece: RowRun, _ program: CompiledPredicate.Node?, _ entities: EntityNumbers
    ) throws(StoreError) -> Bool {
        let location = piece.location.block
        let current: Block
        if let block, block.location == location {
            current = block
        } else {
            var wasCached = false
            try control?.checkRead()
            current = try reader.block(at: location, wasCached: &wasCached)
            block = current
            readBlocks += 1
            if wasCached { cachedBlocks += 1 }
            // Rows of an entity above or beside have other slots, or not as many: nothing of theirs may be asked.
            guard entities.contains(current.entity) else { return false }
            if let program, readBlocks <= Self.probedBlocks {
                if program.verdict({ ScanPart.block(current).verdict($0) }) == .none { prunedBlocks += 1 }
                if readBlocks == Self.probedBlocks, prunedBlocks * 2 > readBlocks { return false }
            }
        }
        let first = piece.location.row
        guard first + piece.count <= current.rowCount else {
            throw StoreError(
                .corruption, "row \(first + piece.count - 1) of a block with fewer", segment: location.segment,
                offset: location.byteOffset)
        }
        let isTaken = try take(current.entity, first..<first + piece.count, entities) { slot throws(StoreError) in
            slot < current.slotCount ? try current.column(slot) : nil
        }
        if isTaken { recordZones { ColumnZone(current, $0) } }
        return isTaken
    }

    /// Takes in some rows; false when they cannot lie in column chunks.
    private func take(
        _ entity: UInt16, _ rows: Range<Int>, _ entities: EntityNumbers,
        _ column: (Int) throws(StoreError) -> ColumnView?
    ) throws(StoreError) -> Bool {
        if self.entity == nil { self.entity = entity }
        guard self.entity == entity, entities.contains(entity) else { return false }
        for (index, slot) in slots.enumerated() {
            guard let view = try column(slot) else { return false }
            if index == builders.count { builders.append(ColumnChunkBuilder(view.kind, rowCount: rowCount, pages)) }
            guard builders[index].append(view, rows) else { return false }
        }
        return true
    }
}
