import StrataLog

/// Tests rows that an index hands out one by one for what the index does not say, until enough of them match.
///
/// Rows are looked up a part at a time, so that they wait for memory together. The first part is little larger than
/// what is wanted, so that a page of a list does not read hundreds of rows; each further one is as large as it takes if
/// as many match as did so far, but no larger than twice the one before.
struct ResidualFilter {
    private static let firstPartMinimumCount = 32
    private static let firstPartMaximumCount = 256
    private static let partMaximumCount = 16_384

    private let scan: CompiledScan
    private let evaluator: ColumnEvaluator
    private let control: RequestControl?
    private let limit: Int
    /// Nil when rows are tested by their blocks' columns.
    private let predicate: RowPredicate?
    private var part: [ObjectRef] = []
    private var partCount: Int
    private var testedCount = 0
    /// The rows that match, in the order they came; no more than were asked for.
    private(set) var matches: [ObjectRef] = []
    private(set) var statistics = ScanStatistics()

    init(_ scan: CompiledScan, _ evaluator: ColumnEvaluator, limit: Int, _ control: RequestControl?) {
        self.scan = scan
        self.evaluator = evaluator
        self.limit = limit
        self.control = control
        predicate = RowPredicate.make(scan.predicate.program, scan.handle.log)
        partCount = min(max(limit, Self.firstPartMinimumCount / 2), Self.firstPartMaximumCount / 2) * 2
        part.reserveCapacity(partCount)
    }

    /// Takes a row. False as soon as enough rows match.
    mutating func add(_ ref: ObjectRef) throws(StoreError) -> Bool {
        part.append(ref)
        if part.count < partCount { return true }
        try testPart()
        if matches.count == limit { return false }
        let wanted =
            matches.isEmpty ? .infinity : Double(limit - matches.count) * Double(testedCount) / Double(matches.count)
        // A little more, as the rate is a guess.
        partCount = wanted * 1.25 < Double(partCount * 2) ? max(16, Int(wanted * 1.25)) : partCount * 2
        partCount = min(partCount, Self.partMaximumCount)
        return true
    }

    /// Tests what is left, if it is needed.
    mutating func finish() throws(StoreError) {
        if matches.count < limit, !part.isEmpty { try testPart() }
    }

    private mutating func testPart() throws(StoreError) {
        try control?.checkRead()
        // A test by rows pays as long as few of them share a block.
        if let predicate, part.count <= Self.firstPartMaximumCount {
            try testRows(predicate)
        } else {
            try testColumns()
        }
        testedCount += part.count
        part.removeAll(keepingCapacity: true)
    }

    // MARK: Row by row

    /// Tests the rows in their order until enough match.
    private mutating func testRows(_ test: RowPredicate) throws(StoreError) {
        let (scan, limit, part) = (scan, limit, part)
        var (matches, tested) = (matches, 0)
        self.matches = []
        defer { self.matches = matches }
        var found = try RowPart.forEach(part, scan.handle.log, scan.snapshot) { index, block, row throws(StoreError) in
            guard scan.entities.contains(block.entity) else { return true }
            tested += 1
            if try test.holds(block, row) { matches.append(part[index]) }
            return matches.count < limit
        }
        found.rowsTested = tested
        statistics.add(found)
    }

    // MARK: By columns

    private mutating func testColumns() throws(StoreError) {
        // By key, since neighbours lie in one block.
        var order: [(key: UInt64, position: Int)] = []
        order.reserveCapacity(part.count)
        for position in part.indices { order.append((part[position].key, position)) }
        order.sort { $0.key < $1.key }
        var runs: [RowRun] = []
        runs.reserveCapacity(order.count)
        for (key, position) in order {
            runs.append(RowRun(firstKey: key, count: 1, location: try scan.snapshot.locate(part[position])))
        }
        let rowGroup = try ScannedRowGroup(runs, scan, evaluator)
        var holds = [Bool](repeating: false, count: part.count)
        rowGroup.forEachMatchingRun { holds[order[$0].position] = true }
        statistics.add(rowGroup.statistics)
        for position in part.indices where holds[position] {
            if matches.count == limit { break }
            matches.append(part[position])
        }
    }
}
