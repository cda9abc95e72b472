import StrataLog

/// Tests rows that an index hands out one by one for what the index does not say, until enough of them match.
///
/// Rows are tested a part at a time, since they lie scattered and each block is taken once a part. The first part is
/// little larger than what is wanted, so that a page of a list does not read hundreds of rows; each further one is twice
/// as large as the one before.
struct ResidualTest {
    private static let firstPartMinimumCount = 32
    private static let firstPartMaximumCount = 256
    private static let partMaximumCount = 16_384

    private let scan: CompiledScan
    private let evaluator: ColumnEvaluator
    private let control: RequestControl?
    private let limit: Int
    private var part: [ObjectRef] = []
    private var partCount: Int
    /// The rows that match, in the order they came; no more than were asked for.
    private(set) var matches: [ObjectRef] = []
    private(set) var statistics = ScanStatistics()

    init(_ scan: CompiledScan, _ evaluator: ColumnEvaluator, limit: Int, _ control: RequestControl?) {
        self.scan = scan
        self.evaluator = evaluator
        self.limit = limit
        self.control = control
        partCount = min(max(limit, Self.firstPartMinimumCount / 2), Self.firstPartMaximumCount / 2) * 2
        part.reserveCapacity(partCount)
    }

    /// Takes a row. False as soon as enough rows match.
    mutating func add(_ ref: ObjectRef) throws(StoreError) -> Bool {
        part.append(ref)
        if part.count < partCount { return true }
        try testPart()
        partCount = min(partCount * 2, Self.partMaximumCount)
        return matches.count < limit
    }

    /// Tests what is left, if it is needed.
    mutating func finish() throws(StoreError) {
        if matches.count < limit, !part.isEmpty { try testPart() }
    }

    private mutating func testPart() throws(StoreError) {
        try control?.checkRead()
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
        let chunk = try ScannedChunk(runs, scan, evaluator)
        var holds = [Bool](repeating: false, count: part.count)
        chunk.forEachMatchingRun { holds[order[$0].position] = true }
        statistics.add(chunk.statistics)
        for position in part.indices where holds[position] {
            if matches.count == limit { break }
            matches.append(part[position])
        }
        part.removeAll(keepingCapacity: true)
    }
}
