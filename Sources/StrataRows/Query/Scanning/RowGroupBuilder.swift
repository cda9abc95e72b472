import StrataLog

/// Gathers columns of the rows of one row group into column chunks. Belongs to one thread.
final class RowGroupBuilder {
    /// So many blocks tell whether zone maps rule out most of a row group's.
    private static let probedBlocks = 16

    private let runs: [RowRun]
    private let layouts: [ColumnLayout]
    private let pages: ColumnPages
    private let rowCount: Int
    private let control: RequestControl?
    /// The entities that are asked for.
    private let wanted: EntityNumbers
    /// Column row groups of the same columns from before some of the rows changed their places.
    private let old: RowGroup?
    private var oldRun = 0
    /// For each column; nil as long as no row has it.
    private var builders: [ColumnChunkBuilder?]
    /// Rows so far.
    private var count = 0
    /// For each column what zone maps say, by segment.
    private var zones: [[ColumnZone?]]
    /// The segment of the rows that come next, and its block.
    private var segment = -1
    private var segmentBlock = Location.absent
    private let reader: PassingBlocks
    private var lastBlock: Block?
    /// Rows of several entities take turns, and so do their blocks.
    private var recentBlocks: [Block] = []
    private var nextRecent = 0
    private static let recentMaximum = 16
    /// Of those that were read, so many have rows that are asked for.
    private var readBlocks = 0
    private var prunedBlocks = 0
    /// How many of these were in memory already.
    private(set) var cachedBlocks = 0
    /// The entities of the runs' rows.
    private(set) var entities: [UInt16] = []

    init(
        _ log: LogStore, _ runs: [RowRun], _ layouts: [ColumnLayout], _ pages: ColumnPages, copying old: RowGroup?,
        of wanted: EntityNumbers, _ control: RequestControl?
    ) {
        self.control = control
        self.runs = runs
        self.layouts = layouts
        self.pages = pages
        self.wanted = wanted
        self.old = old.flatMap { $0.hasColumns(layouts.map(\.id)) ? $0 : nil }
        rowCount = runs.reduce(0) { $0 + $1.count }
        builders = layouts.map { _ in nil }
        zones = layouts.map { _ in [] }
        reader = log.passingBlocks()
        entities.reserveCapacity(runs.count)
    }

    /// The column chunks, that of a column which no row has without any; nil when the rows cannot lie in column chunks,
    /// or had better not.
    ///
    /// - Parameter program: when zone maps let it rule out most of the first blocks, the rest is not read.
    func columns(unlessPrunedBy program: CompiledPredicate.Node?) throws(StoreError) -> [ColumnID: ColumnChunk]? {
        for run in runs {
            begin(run)
            var entity: UInt16 = 0
            var rest = run
            while rest.count > 0 {
                var piece = rest
                if let first = oldRow(of: &piece), let old {
                    entity = old.entity(ofRun: oldRun)
                    guard try take(first..<first + piece.count, from: old) else { return nil }
                } else {
                    let block = try block(at: piece.location, program)
                    guard let block, try take(piece, from: block) else { return nil }
                    entity = block.entity
                }
                rest.firstKey += UInt64(piece.count)
                rest.location.rawValue += UInt64(piece.count)
                rest.count -= piece.count
            }
            entities.append(entity)
        }
        var columns: [ColumnID: ColumnChunk] = [:]
        for (index, layout) in layouts.enumerated() {
            let isComplete = zones[index].count == segment + 1 && segment < RowGroup.segmentsWithZonesMaximum
            let builder = builders[index] ?? ColumnChunkBuilder(layout.kind, rowCount: 0, pages)
            columns[layout.id] = ColumnChunk(builder, isComplete ? zones[index] : [])
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
    private func recordZones(_ zone: (ColumnLayout) -> ColumnZone?) {
        guard segment < RowGroup.segmentsWithZonesMaximum else { return }
        for (index, layout) in layouts.enumerated() where zones[index].count == segment {
            zones[index].append(zone(layout))
        }
    }

    // MARK: Rows from before

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

    /// Takes in rows that have not changed their places; false when they cannot lie in column chunks.
    private func take(_ rows: Range<Int>, from old: RowGroup) throws(StoreError) -> Bool {
        let isTaken = try take(rows, of: old.entity(ofRun: oldRun)) { old.column($0.id)?.view }
        if isTaken { recordZones { old.column($0.id)?.zone(old.segment(ofRun: oldRun)) } }
        return isTaken
    }

    /// Takes in rows of an entity; false when they cannot lie in column chunks.
    private func take(
        _ rows: Range<Int>, of entity: UInt16, _ column: (ColumnLayout) throws(StoreError) -> ColumnView?
    ) throws(StoreError) -> Bool {
        for (index, layout) in layouts.enumerated() {
            guard layout.isHeld(by: entity) else {
                builders[index]?.appendNothing(rows.count)
                continue
            }
            guard let view = try column(layout), builder(at: index).append(view, rows) else { return false }
        }
        count += rows.count
        return true
    }

    private func builder(at index: Int) -> ColumnChunkBuilder {
        if let builder = builders[index] { return builder }
        let builder = ColumnChunkBuilder(layouts[index].kind, rowCount: rowCount, pages)
        if count > 0 { builder.appendNothing(count) }
        builders[index] = builder
        return builder
    }

    // MARK: Rows from blocks

    /// The block with some rows; nil when zone maps have ruled out most of the first ones.
    private func block(
        at place: Location, _ program: CompiledPredicate.Node?
    ) throws(StoreError) -> Block? {
        let location = place.block
        if let lastBlock, lastBlock.location == location { return lastBlock }
        if let recent = recentBlocks.first(where: { $0.location == location }) {
            if wanted.contains(recent.entity) { cachedBlocks += 1 }
            lastBlock = recent
            return recent
        }
        var wasCached = false
        try control?.checkRead()
        let block = try reader.block(at: location, wasCached: &wasCached)
        lastBlock = block
        if recentBlocks.count < Self.recentMaximum {
            recentBlocks.append(block)
        } else {
            recentBlocks[nextRecent] = block
            nextRecent = (nextRecent + 1) % Self.recentMaximum
        }
        guard wanted.contains(block.entity) else { return block }
        readBlocks += 1
        if wasCached { cachedBlocks += 1 }
        if let program, readBlocks <= Self.probedBlocks {
            if program.verdict({ ScanPart.block(block).verdict($0) }) == .none { prunedBlocks += 1 }
            if readBlocks == Self.probedBlocks, prunedBlocks * 2 > readBlocks { return nil }
        }
        return block
    }

    /// Takes in rows of a block; false when they cannot lie in column chunks.
    private func take(_ piece: RowRun, from block: Block) throws(StoreError) -> Bool {
        let first = piece.location.row
        guard first + piece.count <= block.rowCount else {
            throw StoreError(
                .corruption, "row \(first + piece.count - 1) of a block with fewer", segment: block.location.segment,
                offset: block.location.byteOffset)
        }
        let isTaken = try take(first..<first + piece.count, of: block.entity) { layout throws(StoreError) in
            layout.slot < block.slotCount ? try block.column(layout.slot) : nil
        }
        if isTaken { recordZones { $0.isHeld(by: block.entity) ? ColumnZone(block, $0.slot) : nil } }
        return isTaken
    }
}
