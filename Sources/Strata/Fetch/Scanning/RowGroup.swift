import StrataLog

/// The rows of a row group as column chunks: which rows they are, and those of their columns that scans have asked for.
/// Immutable; with another column it is made anew.
final class RowGroup: Sendable {
    let entity: UInt16
    let runs: [RowRun]
    /// For each run the first of its rows in the column chunks; and the number of all rows.
    let starts: [Int32]
    /// Runs that follow each other in one block are a segment: the first run of each.
    private let segments: [Int32]
    private let columns: [Int: ColumnChunk]

    /// Of more segments zone maps are not kept: asking them would take longer than asking the rows.
    static let segmentsWithZonesMaximum = 2_048

    var rowCount: Int { Int(starts[runs.count]) }

    /// How many blocks the rows come from; those that come up again and again count each time.
    var blockCount: Int { segments.count }

    init(entity: UInt16, runs: [RowRun], columns: [Int: ColumnChunk]) {
        self.entity = entity
        self.runs = runs
        self.columns = columns
        var starts: [Int32] = [0]
        starts.reserveCapacity(runs.count + 1)
        var segments: [Int32] = []
        var last = Location.absent
        var rows: Int32 = 0
        for (index, run) in runs.enumerated() {
            rows += Int32(run.count)
            starts.append(rows)
            let block = run.location.block
            if block != last { segments.append(Int32(index)) }
            last = block
        }
        self.starts = starts
        self.segments = segments
    }

    private init(_ other: RowGroup, columns: [Int: ColumnChunk]) {
        entity = other.entity
        runs = other.runs
        starts = other.starts
        segments = other.segments
        self.columns = columns
    }

    /// The same rows with further columns.
    func adding(_ more: [Int: ColumnChunk]) -> RowGroup {
        RowGroup(self, columns: columns.merging(more) { first, _ in first })
    }

    /// The same rows without some columns.
    func removing(_ slots: [Int]) -> RowGroup {
        RowGroup(self, columns: columns.filter { !slots.contains($0.key) })
    }

    func column(_ slot: Int) -> ColumnChunk? { columns[slot] }

    var slots: some Collection<Int> { columns.keys }

    func hasColumns(_ slots: [Int]) -> Bool { slots.allSatisfy { columns[$0] != nil } }

    /// Removes the rows that the zone maps of their blocks rule out. Returns how many blocks and rows those are.
    func prune(_ rows: RowBits, _ program: CompiledPredicate.Node) -> (blocks: Int, rows: Int) {
        var pruned = (blocks: 0, rows: 0)
        guard blockCount <= Self.segmentsWithZonesMaximum,
            program.slots.contains(where: { columns[$0]?.hasZones ?? false })
        else { return pruned }
        for segment in segments.indices {
            let verdict = program.verdict { test in
                guard test.hasZones, let zone = columns[test.slot]?.zone(segment) else { return .some }
                return test.verdict(zone)
            }
            guard verdict == .none else { continue }
            let end = segment + 1 < segments.count ? Int(segments[segment + 1]) : runs.count
            let range = Int(starts[Int(segments[segment])])..<Int(starts[end])
            rows.remove(range)
            pruned.blocks += 1
            pruned.rows += range.count
        }
        return pruned
    }

    /// The run that a row belongs to.
    /// - Complexity: O(log runs).
    func run(ofRow row: Int) -> Int { Self.last(of: starts[..<runs.count], upTo: Int32(row)) }

    /// The segment that a run belongs to.
    /// - Complexity: O(log segments).
    func segment(ofRun run: Int) -> Int { Self.last(of: segments[...], upTo: Int32(run)) }

    /// The index of the last of ascending numbers that is not greater than a number; the first is not.
    private static func last(of numbers: ArraySlice<Int32>, upTo number: Int32) -> Int {
        var (low, high) = (0, numbers.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if numbers[middle] <= number { low = middle } else { high = middle }
        }
        return low
    }

    func key(_ row: Int) -> UInt64 {
        let run = run(ofRow: row)
        return runs[run].firstKey + UInt64(row - Int(starts[run]))
    }

    /// Where the row is stored.
    func location(_ row: Int) -> Location {
        let run = run(ofRow: row)
        return Location(rawValue: runs[run].location.rawValue + UInt64(row - Int(starts[run])))
    }
}

/// What a compiled program is asked about: the rows of a block, or of a row group whose columns lie in column chunks.
enum ScanPart {
    case block(Block)
    case rowGroup(RowGroup)

    var rowCount: Int {
        switch self {
        case .block(let block): block.rowCount
        case .rowGroup(let rowGroup): rowGroup.rowCount
        }
    }

    var entity: UInt16 {
        switch self {
        case .block(let block): block.entity
        case .rowGroup(let rowGroup): rowGroup.entity
        }
    }

    /// The values of a slot; of column chunks only of those that the scan has asked for.
    func column(_ slot: Int) throws(StoreError) -> ColumnView {
        switch self {
        case .block(let block): return try block.column(slot)
        case .rowGroup(let rowGroup):
            guard let columnChunk = rowGroup.column(slot) else {
                preconditionFailure("the scan has not asked for slot \(slot)")
            }
            return columnChunk.view
        }
    }

    /// Whether all text of a slot is known to be ASCII.
    func isKnownASCII(_ slot: Int) -> Bool {
        switch self {
        case .block: false
        case .rowGroup(let rowGroup): rowGroup.column(slot)?.isASCII ?? false
        }
    }

    func key(_ row: Int) -> UInt64 {
        switch self {
        case .block(let block): block.key(row)
        case .rowGroup(let rowGroup): rowGroup.key(row)
        }
    }

    /// What zone maps say about all rows of a block; column chunks are asked before (``RowGroup/prune(_:_:)``).
    func verdict(_ test: ColumnPredicate) -> ColumnPredicate.Verdict {
        switch self {
        case .block(let block): test.hasZones ? test.verdict(ColumnZone(block, test.slot)) : .some
        case .rowGroup: .some
        }
    }
}
