import StrataLog

/// Cuts the runs of a scan into row groups.
///
/// Where row groups end does not depend on the number of cores, so that sums of floating-point numbers do not, either.
package struct RowGroupCutter {
    /// What becomes a row group.
    package struct Piece: Sendable {
        package let runs: [RowRun]
        /// Rows of the runs.
        package let rowCount: Int
        /// Counted from 1.
        package fileprivate(set) var number: Int
    }

    /// Whether runs are cut where a key begins, so that what comes before does not depend on what follows.
    static func cutsRuns(at key: UInt64) -> Bool { key % keysOfRowGroup == 0 }

    /// Row groups that have ended and were not taken yet.
    private var ended: [Piece] = []
    /// Row groups that have ended.
    private var endedCount = 0
    private var runs: [RowRun] = []
    /// Rows of the runs.
    private var rows = 0

    /// Rows of the first row group, for those who want few results.
    private static let rowsOfFirstRowGroup = 4_096
    /// Row groups end where keys pass a multiple of this, so that rows that come or go elsewhere do not shift their
    /// ends.
    private static let keysOfRowGroup: UInt64 = 1 << 16
    /// A row group that has fewer rows goes on, since many objects were deleted there.
    private static let rowsOfThinRowGroup = 16_384
    /// A row group has fewer rows than this.
    static let rowsOfRowGroupMaximum = 1 << 17
    /// Runs of a row group, however short: what lies scattered takes more time.
    private static let runsOfRowGroup = 32_768

    /// Adds the next run in the order of keys.
    ///
    /// - Returns: whether row groups have ended: see ``takeEnded()``. No body is called with them, as a closure would
    ///   be made, with what it holds, for each of thousands of runs.
    package mutating func add(_ run: RowRun) -> Bool {
        let end = (run.firstKey / Self.keysOfRowGroup + 1) * Self.keysOfRowGroup
        if run.firstKey + UInt64(run.count) <= end {
            append(run)
        } else {
            var (first, second) = (run, run)
            first.count = Int(end - run.firstKey)
            second.firstKey = end
            second.count -= first.count
            second.location.rawValue += UInt64(first.count)
            append(first)
            append(second)
        }
        return !ended.isEmpty
    }

    /// Ends the last row group, if it has rows.
    package mutating func finish() {
        if !runs.isEmpty { endRowGroup() }
    }

    /// The row groups that have ended since the last call.
    mutating func takeEnded() -> [Piece] {
        defer { ended = [] }
        return ended
    }

    /// A row group of an earlier scan in the place of the next.
    package mutating func repeating(_ piece: Piece) -> Piece {
        endedCount += 1
        var piece = piece
        piece.number = endedCount
        return piece
    }

    /// The first key of the row group that is being cut; nil before it has one.
    package var firstKey: UInt64? { runs.first?.firstKey }

    /// Forgets what was added to the row group that is being cut.
    mutating func startAgain() { (runs, rows) = ([], 0) }

    /// Adds a run that passes no multiple of the keys of a row group.
    private mutating func append(_ run: RowRun) {
        if rows >= Self.rowsOfThinRowGroup, let last = runs.last,
            last.firstKey / Self.keysOfRowGroup != run.firstKey / Self.keysOfRowGroup
        {
            endRowGroup()
        }
        runs.append(run)
        rows += run.count
        if runs.count >= Self.runsOfRowGroup || endedCount == 0 && rows >= Self.rowsOfFirstRowGroup { endRowGroup() }
    }

    private mutating func endRowGroup() {
        endedCount += 1
        ended.append(Piece(runs: runs, rowCount: rows, number: endedCount))
        startAgain()
    }
}
