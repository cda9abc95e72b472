import StrataLog

/// Some tens of thousands of rows that were tested together: their blocks or column chunks, and which rows satisfy the
/// program.
///
/// The rows of a block may come in several runs, with those of other blocks between them: updated rows lie in later
/// blocks. Each block is tested once, and the matches are handed out in the order of the runs, which is that of keys.
/// Column row groups are one part, which has all rows in that order.
@usableFromInline
package final class ScannedRowGroup {
    /// No part has more.
    static let partMaximumRows = RowGroupCutter.rowsOfRowGroupMaximum

    @usableFromInline package let runs: [RowRun]
    @exclusivity(unchecked) package private(set) var parts: [ScanPart] = []
    @exclusivity(unchecked) package private(set) var statistics = ScanStatistics()
    /// For each run the index of its part; -1 when none of its rows matches.
    @exclusivity(unchecked) @usableFromInline private(set) var partIndexes: [Int32] = []
    /// The part's rows, if it has column chunks.
    @exclusivity(unchecked) @usableFromInline private(set) var gathered: RowGroup?
    @exclusivity(unchecked) @usableFromInline private(set) var bits: [RowBits] = []
    private let evaluator: ColumnEvaluator
    private var handle: StoreHandle { evaluator.handle }
    private var control: RequestControl? { evaluator.control }
    private let words: UnsafeMutablePointer<UInt64>

    package init(
        _ runs: [RowRun], _ scan: CompiledScan, _ evaluator: ColumnEvaluator
    ) throws(StoreError) {
        self.runs = runs
        self.evaluator = evaluator
        var cachedBlocks: Int?
        do {
            let answer = try scan.rowGroups?.rowGroup(
                runs, scan.predicate.program, of: scan.entities, evaluator.control)
            switch answer {
            case .columns(let columns, let cached)?:
                gathered = columns.rowGroup
                parts = [.rowGroup(columns)]
                cachedBlocks = cached
            case .nothing?: partIndexes = Array(repeating: -1, count: runs.count)
            case .blocks?, nil: (parts, partIndexes) = try Self.load(runs, scan, evaluator.control, &statistics)
            }
        }
        let wordCount = max(1, parts.reduce(0) { $0 + RowBits.wordCount(rows: $1.rowCount) })
        words = .allocate(capacity: wordCount)
        words.initialize(repeating: 0, count: wordCount)
        var next = words
        bits.reserveCapacity(parts.count)
        for part in parts {
            let count = RowBits.wordCount(rows: part.rowCount)
            bits.append(RowBits(words: next, wordCount: count))
            next += count
        }
        if case .rowGroup(let columns)? = parts.first {
            mark(columns, scan, cachedBlocks)
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
        statistics.rowsInterpreted += evaluator.rowsInterpreted
    }

    /// Marks the rows of column chunks that have to be tested.
    private func mark(_ columns: ScannedColumns, _ scan: CompiledScan, _ cachedBlocks: Int?) {
        let wanted = columns.rowGroup.insertRows(of: scan.entities, into: bits[0])
        statistics.blocks += wanted.segments
        statistics.cachedBlocks += cachedBlocks ?? wanted.segments
        let pruned = columns.prune(bits[0], scan.predicate.program, of: scan.entities)
        statistics.prunedBlocks += pruned.blocks
        statistics.rowsTested += wanted.rows - pruned.rows
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
    package var count: Int { bits.reduce(0) { $0 + $1.count } }

    /// How many rows of a part match.
    package func count(inPart index: Int) -> Int { bits[index].count }

    /// Calls the body with the matching rows of a part, ascending.
    @inline(__always)
    package func forEachRow(inPart index: Int, _ body: (Int) -> Void) {
        bits[index].forEach(in: 0..<parts[index].rowCount, body)
    }

    /// Leaves out the matches of a part for which the test does not hold.
    @inline(__always)
    package func filter(inPart index: Int, _ holds: (Int) -> Bool) {
        let rows = bits[index]
        rows.forEach(in: 0..<parts[index].rowCount) { if !holds($0) { rows.remove($0) } }
    }

    /// What an expression gives for the matches of a part, also where values lie out of line.
    ///
    /// - Throws: `NotCompiled` when the values are too long to be held together, or not all of them of one kind.
    package func column(_ expression: RowExpression, ofPart index: Int) throws -> ComputedColumn {
        if let slot = expression.plainSlot { return try column(slot, ofPart: index) }
        let column = try RowComputation(evaluator: evaluator, part: parts[index], rows: bits[index]).column(expression)
        guard column.exceptions.isEmpty else { throw NotCompiled() }
        return column
    }

    private func column(_ slot: Int, ofPart index: Int) throws -> ComputedColumn {
        let column = try parts[index].column(slot)
        guard column.externals != nil else { return ComputedColumn(column) }
        let rows = bits[index]
        guard (0..<column.rowCount).contains(where: { column.isExternal($0) && rows.contains($0) }) else {
            return ComputedColumn(column)
        }
        let builder = ColumnChunkBuilder(column.kind, rowCount: column.rowCount, handle.columnChunks.pages)
        var taken = 0
        for row in 0..<column.rowCount where column.isExternal(row) {
            guard builder.append(column, taken..<row) else { throw NotCompiled() }
            if rows.contains(row) {
                try control?.checkRead()
                guard builder.append(try handle.log.read(column.external(row))) else { throw NotCompiled() }
            } else {
                builder.appendNothing(1)
            }
            taken = row + 1
        }
        guard builder.append(column, taken..<column.rowCount) else { throw NotCompiled() }
        return ComputedColumn(builder)
    }

    /// Calls the body with each run that may have matches: its position, the index of its part, and its rows there.
    @inlinable @inline(__always)
    func forEachRun<Failure: Error>(
        _ body: (_ position: Int, _ part: Int, _ rows: Range<Int>) throws(Failure) -> Void
    ) throws(Failure) {
        for position in runs.indices {
            let run = runs[position]
            let index = gathered == nil ? Int(partIndexes[position]) : 0
            guard index >= 0 else { continue }
            let first = gathered.map { Int($0.starts[position]) } ?? run.location.row
            try body(position, index, first..<first + run.count)
        }
    }

    /// Calls the body with the matches of each run: the index of the part, and the key and row of each.
    @inlinable @inline(__always)
    package func forEach<Failure: Error>(
        _ body: (_ part: Int, _ row: Int, _ key: UInt64) throws(Failure) -> Void
    ) throws(Failure) {
        try forEachRun { position, part, rows throws(Failure) in
            let firstKey = runs[position].firstKey
            try bits[part].forEach(in: rows) { row throws(Failure) in
                try body(part, row, firstKey + UInt64(row - rows.lowerBound))
            }
        }
    }

    /// As ``forEach(_:)``, with the objects in the place of their keys.
    @inline(__always)
    func forEachRef<Failure: Error>(
        _ body: (_ part: Int, _ row: Int, _ ref: ObjectRef) throws(Failure) -> Void
    ) throws(Failure) {
        try forEachRun { position, part, rows throws(Failure) in
            let firstKey = runs[position].firstKey
            let entity = entity(ofRun: position, part)
            try bits[part].forEach(in: rows) { row throws(Failure) in
                try body(part, row, ObjectRef(entity: entity, key: firstKey + UInt64(row - rows.lowerBound)))
            }
        }
    }

    /// Appends the objects of the matches until there are so many.
    func appendRefs(to refs: inout [ObjectRef], upTo maximum: Int) {
        struct Full: Error {}
        do throws(Full) {
            try forEachRef { _, _, ref throws(Full) in
                if refs.count >= maximum { throw Full() }
                refs.append(ref)
            }
        } catch {}
    }

    @inline(__always)
    private func entity(ofRun position: Int, _ part: Int) -> UInt16 {
        if let gathered { return gathered.entity(ofRun: position) }
        guard case .block(let block) = parts[part] else { preconditionFailure("columns without their rows") }
        return block.entity
    }

    /// Calls the body with the positions of the runs that have a match.
    @inline(__always)
    func forEachMatchingRun(_ body: (_ position: Int) -> Void) {
        forEachRun { position, part, rows in
            if rows.contains(where: { bits[part].contains($0) }) { body(position) }
        }
    }
}
