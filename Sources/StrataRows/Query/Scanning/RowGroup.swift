import StrataLog

/// The rows of a row group as column chunks: which rows they are, of all entities of a hierarchy, and those of their
/// columns that scans have asked for. Immutable; with another column it is made anew.
@usableFromInline
package final class RowGroup: Sendable {
    let runs: [RowRun]
    /// For each run the first of its rows in the column chunks; and the number of all rows.
    @usableFromInline let starts: [Int32]
    /// The entities of the rows, each once.
    private let kinds: [UInt16]
    /// For each run the entity of its rows; empty where all are of one.
    private let entities: [UInt16]
    /// Runs that follow each other in one block are a segment: the first run of each.
    let segments: [Int32]
    private let columns: [ColumnID: ColumnChunk]

    /// Of more segments zone maps are not kept: asking them would take longer than asking the rows.
    static let segmentsWithZonesMaximum = 2_048

    var rowCount: Int { Int(starts[runs.count]) }

    /// - Parameter entities: of the runs.
    init(runs: [RowRun], entities: [UInt16], columns: [ColumnID: ColumnChunk]) {
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
        kinds = Array(Set(entities))
        self.entities = kinds.count > 1 ? entities : []
    }

    private init(_ other: RowGroup, columns: [ColumnID: ColumnChunk]) {
        runs = other.runs
        starts = other.starts
        kinds = other.kinds
        entities = other.entities
        segments = other.segments
        self.columns = columns
    }

    /// The same rows with further columns.
    func adding(_ more: [ColumnID: ColumnChunk]) -> RowGroup {
        RowGroup(self, columns: columns.merging(more) { first, _ in first })
    }

    /// The same rows without some columns.
    func removing(_ ids: [ColumnID]) -> RowGroup {
        RowGroup(self, columns: columns.filter { !ids.contains($0.key) })
    }

    func column(_ id: ColumnID) -> ColumnChunk? { columns[id] }

    var columnIDs: some Collection<ColumnID> { columns.keys }

    func hasColumns(_ ids: some Sequence<ColumnID>) -> Bool { ids.allSatisfy { columns[$0] != nil } }

    /// What it takes in memory.
    var byteCount: Int {
        let perRun = MemoryLayout<RowRun>.stride + MemoryLayout<Int32>.stride * 2
        return columns.values.reduce(runs.count * perRun + entities.count * MemoryLayout<UInt16>.stride) {
            $0 + $1.byteCount
        }
    }

    // MARK: Entities

    /// The entity of a run's rows.
    @inline(__always)
    func entity(ofRun run: Int) -> UInt16 { entities.isEmpty ? kinds[0] : entities[run] }

    /// Whether no row, or every row, is of one of some entities; nil when some are and others are not.
    func areAllOrNone(of wanted: EntityNumbers) -> Bool? {
        let count = kinds.count { wanted.contains($0) }
        return count == kinds.count ? true : count == 0 ? false : nil
    }

    /// Marks the rows of some entities, and counts them and the segments they lie in.
    func insertRows(of wanted: EntityNumbers, into rows: RowBits) -> (rows: Int, segments: Int) {
        switch areAllOrNone(of: wanted) {
        case true?:
            rows.insert(0..<rowCount)
            return (rowCount, segments.count)
        case false?: return (0, 0)
        case nil: break
        }
        var count = 0
        for run in runs.indices where wanted.contains(entities[run]) {
            rows.insert(Int(starts[run])..<Int(starts[run + 1]))
            count += runs[run].count
        }
        return (count, segments.count { wanted.contains(entities[Int($0)]) })
    }

    // MARK: Places

    /// The runs of a segment.
    func runs(ofSegment segment: Int) -> Range<Int> {
        Int(segments[segment])..<(segment + 1 < segments.count ? Int(segments[segment + 1]) : runs.count)
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
    package func location(_ row: Int) -> Location {
        let run = run(ofRow: row)
        return Location(rawValue: runs[run].location.rawValue + UInt64(row - Int(starts[run])))
    }
}
