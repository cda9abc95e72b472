import StrataLog

/// Some tens of thousands of rows that were tested together: their blocks, and which rows satisfy the program.
///
/// The rows of a block may come in several runs, with those of other blocks between them: updated rows lie in later
/// blocks. Each block is tested once, and the matches are handed out in the order of the runs, which is that of keys.
final class ScannedChunk {
    let runs: [RowRun]
    private(set) var blocks: [Block] = []
    private(set) var statistics = ScanStatistics()
    /// For each run the index of its block; -1 when none of its rows matches.
    private var blockIndexes: [Int32] = []
    private var bits: [RowBits] = []
    private let words: UnsafeMutablePointer<UInt64>

    init(
        _ runs: [RowRun], _ scan: CompiledScan, _ evaluator: ColumnEvaluator
    ) throws(StoreError) {
        self.runs = runs
        var wordCount = 0
        do {
            (blocks, blockIndexes) = try Self.load(runs, scan, &statistics)
            for block in blocks { wordCount += RowBits.wordCount(rows: block.rowCount) }
        }
        words = .allocate(capacity: max(1, wordCount))
        words.initialize(repeating: 0, count: max(1, wordCount))
        var next = words
        bits.reserveCapacity(blocks.count)
        for block in blocks {
            let count = RowBits.wordCount(rows: block.rowCount)
            bits.append(RowBits(words: next, wordCount: count))
            next += count
        }
        for (run, index) in zip(runs, blockIndexes) where index >= 0 {
            bits[Int(index)].insert(run.location.row..<run.location.row + run.count)
            statistics.rowsTested += run.count
        }
        guard scan.predicate.isSelective else { return }
        for (index, block) in blocks.enumerated() {
            try evaluator.filter(bits[index], scan.predicate.program, block)
        }
    }

    deinit { words.deallocate() }

    private static func load(
        _ runs: [RowRun], _ scan: CompiledScan, _ statistics: inout ScanStatistics
    ) throws(StoreError) -> ([Block], [Int32]) {
        var blocks: [Block] = []
        var indexes: [Int32] = []
        indexes.reserveCapacity(runs.count)
        var known: [UInt64: Int32] = [:]
        var last: (place: Location, index: Int32) = (.absent, -1)
        for run in runs {
            let place = run.location.block
            if place != last.place {
                if let index = known[place.rawValue] {
                    last = (place, index)
                } else {
                    let index = Int32(blocks.count)
                    var wasCached = false
                    let block = try scan.handle.log.block(at: place, wasCached: &wasCached)
                    last = (place, -1)
                    if scan.wants(block.entity) {
                        statistics.blocks += 1
                        if wasCached { statistics.cachedBlocks += 1 }
                        if scan.predicate.program.verdict(block) == .none {
                            statistics.prunedBlocks += 1
                        } else {
                            last.index = index
                            blocks.append(block)
                        }
                    }
                    known[place.rawValue] = last.index
                }
            }
            guard last.index < 0 || run.location.row + run.count <= blocks[Int(last.index)].rowCount else {
                throw StoreError(
                    .corruption, "row \(run.location.row + run.count - 1) of a block with fewer",
                    segment: place.segment, offset: place.byteOffset)
            }
            indexes.append(last.index)
        }
        return (blocks, indexes)
    }

    /// How many rows match.
    var count: Int { bits.reduce(0) { $0 + $1.count } }

    /// Calls the body with the matching rows of a block, ascending.
    @inline(__always)
    func forEachRow(inBlock index: Int, _ body: (Int) -> Void) {
        bits[index].forEach(in: 0..<blocks[index].rowCount, body)
    }

    /// Calls the body with the matches of each run: the index of the block, and the key and row of each.
    @inline(__always)
    func forEach<Failure: Error>(
        _ body: (_ block: Int, _ row: Int, _ key: UInt64) throws(Failure) -> Void
    ) throws(Failure) {
        for (position, run) in runs.enumerated() {
            let index = Int(blockIndexes[position])
            guard index >= 0 else { continue }
            let first = run.location.row
            try bits[index].forEach(in: first..<first + run.count) { row throws(Failure) in
                try body(index, row, run.firstKey + UInt64(row - first))
            }
        }
    }
}
