import StrataLog

/// Some tens of thousands of rows that were tested together: their blocks or column chunks, and which rows satisfy the
/// program.
///
/// The rows of a block may come in several runs, with those of other blocks between them: updated rows lie in later
/// blocks. Each block is tested once, and the matches are handed out in the order of the runs, which is that of keys.
/// Column row groups are one part, which has all rows in that order.
final class ScannedRowGroup {
    /// No part has more.
    static let partMaximumRows = RowGroupCutter.rowsOfRowGroupMaximum

    let runs: [RowRun]
    private(set) var parts: [ScanPart] = []
    private(set) var statistics = ScanStatistics()
    /// For each run the index of its part; -1 when none of its rows matches.
    private var partIndexes: [Int32] = []
    /// The part's rows, if it has column chunks.
    private var gathered: RowGroup?
    private var bits: [RowBits] = []
    private let words: UnsafeMutablePointer<UInt64>

    init(
        _ runs: [RowRun], _ scan: CompiledScan, _ evaluator: ColumnEvaluator
    ) throws(StoreError) {
        self.runs = runs
        var wordCount = 0
        do {
            gathered = try scan.rowGroups?.rowGroup(
                runs, scan.predicate.program, entities: scan.entities, evaluator.control, &statistics)
            if let gathered {
                parts = [.rowGroup(gathered)]
            } else {
                (parts, partIndexes) = try Self.load(runs, scan, evaluator.control, &statistics)
            }
            for part in parts { wordCount += RowBits.wordCount(rows: part.rowCount) }
        }
        words = .allocate(capacity: max(1, wordCount))
        words.initialize(repeating: 0, count: max(1, wordCount))
        var next = words
        bits.reserveCapacity(parts.count)
        for part in parts {
            let count = RowBits.wordCount(rows: part.rowCount)
            bits.append(RowBits(words: next, wordCount: count))
            next += count
        }
        if let gathered {
            bits[0].insert(0..<gathered.rowCount)
            let pruned = gathered.prune(bits[0], scan.predicate.program)
            statistics.prunedBlocks += pruned.blocks
            statistics.rowsTested += gathered.rowCount - pruned.rows
        } else {
            for (run, index) in zip(runs, partIndexes) where index >= 0 {
                bits[Int(index)].insert(run.location.row..<run.location.row + run.count)
                statistics.rowsTested += run.count
            }
        }
        guard scan.predicate.isSelective else { return }
        for (index, part) in parts.enumerated() {
            try evaluator.control?.checkRead()
            try evaluator.filter(bits[index], scan.predicate.program, part)
        }
    }

    deinit { words.deallocate() }

    private static func load(
        _ runs: [RowRun], _ scan: CompiledScan, _ control: RequestControl?, _ statistics: inout ScanStatistics
    ) throws(StoreError) -> ([ScanPart], [Int32]) {
        var blocks: [ScanPart] = []
        var indexes: [Int32] = []
        indexes.reserveCapacity(runs.count)
        var known: [UInt64: Int32] = [:]
        var last: (block: Location, index: Int32) = (.absent, -1)
        for run in runs {
            let location = run.location.block
            if location != last.block {
                if let index = known[location.rawValue] {
                    last = (location, index)
                } else {
                    let index = Int32(blocks.count)
                    try control?.checkRead()
                    var wasCached = false
                    let block = try scan.handle.log.block(at: location, wasCached: &wasCached)
                    last = (location, -1)
                    if scan.entities.contains(block.entity) {
                        statistics.blocks += 1
                        if wasCached { statistics.cachedBlocks += 1 }
                        if scan.predicate.program.verdict({ ScanPart.block(block).verdict($0) }) == .none {
                            statistics.prunedBlocks += 1
                        } else {
                            last.index = index
                            blocks.append(.block(block))
                        }
                    }
                    known[location.rawValue] = last.index
                }
            }
            guard last.index < 0 || run.location.row + run.count <= blocks[Int(last.index)].rowCount else {
                throw StoreError(
                    .corruption, "row \(run.location.row + run.count - 1) of a block with fewer",
                    segment: location.segment, offset: location.byteOffset)
            }
            indexes.append(last.index)
        }
        return (blocks, indexes)
    }

    /// How many rows match.
    var count: Int { bits.reduce(0) { $0 + $1.count } }

    /// How many rows of a part match.
    func count(inPart index: Int) -> Int { bits[index].count }

    /// Calls the body with the matching rows of a part, ascending.
    @inline(__always)
    func forEachRow(inPart index: Int, _ body: (Int) -> Void) {
        bits[index].forEach(in: 0..<parts[index].rowCount, body)
    }

    /// Calls the body with the matches of each run: the index of the part, and the key and row of each.
    @inline(__always)
    func forEach<Failure: Error>(
        _ body: (_ part: Int, _ row: Int, _ key: UInt64) throws(Failure) -> Void
    ) throws(Failure) {
        for position in runs.indices {
            let run = runs[position]
            let index = gathered == nil ? Int(partIndexes[position]) : 0
            guard index >= 0 else { continue }
            let first = gathered.map { Int($0.starts[position]) } ?? run.location.row
            try bits[index].forEach(in: first..<first + run.count) { row throws(Failure) in
                try body(index, row, run.firstKey + UInt64(row - first))
            }
        }
    }

    /// Calls the body with the positions of the runs that have a match.
    @inline(__always)
    func forEachMatchingRun(_ body: (_ position: Int) -> Void) {
        for position in runs.indices {
            let run = runs[position]
            let index = gathered == nil ? Int(partIndexes[position]) : 0
            guard index >= 0 else { continue }
            let first = gathered.map { Int($0.starts[position]) } ?? run.location.row
            for row in first..<first + run.count where bits[index].contains(row) {
                body(position)
                break
            }
        }
    }
}
