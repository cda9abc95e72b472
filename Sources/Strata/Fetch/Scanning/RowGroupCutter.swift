import StrataLog

/// Cuts the runs of a scan into row groups.
///
/// Where row groups end does not depend on the number of cores, so that sums of floating-point numbers do not, either.
struct RowGroupCutter {
    /// What becomes a row group.
    struct Piece {
        let runs: [RowRun]
        /// Rows of the runs.
        let rowCount: Int
        /// Counted from 1.
        let number: Int
    }

    /// Row groups that have ended.
    private var rowGroups = 0
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
    /// - Parameter body: gets each row group that has ended; false stops.
    /// - Returns: false when the body wants no more.
    mutating func add(_ run: RowRun, _ body: (Piece) -> Bool) -> Bool {
        let end = (run.firstKey / Self.keysOfRowGroup + 1) * Self.keysOfRowGroup
        if run.firstKey + UInt64(run.count) <= end { return append(run, body) }
        var (first, second) = (run, run)
        first.count = Int(end - run.firstKey)
        second.firstKey = end
        second.count -= first.count
        second.location.rawValue += UInt64(first.count)
        return append(first, body) && append(second, body)
    }

    /// Ends the last row group, if it has rows.
    mutating func finish(_ body: (Piece) -> Bool) -> Bool { runs.isEmpty || endRowGroup(body) }

    /// Adds a run that passes no multiple of the keys of a row group.
    private mutating func append(_ run: RowRun, _ body: (Piece) -> Bool) -> Bool {
        if rows >= Self.rowsOfThinRowGroup, let last = runs.last,
            last.firstKey / Self.keysOfRowGroup != run.firstKey / Self.keysOfRowGroup, !endRowGroup(body)
        {
            return false
        }
        runs.append(run)
        rows += run.count
        let isFull = runs.count >= Self.runsOfRowGroup || rowGroups == 0 && rows >= Self.rowsOfFirstRowGroup
        return !isFull || endRowGroup(body)
    }

    private mutating func endRowGroup(_ body: (Piece) -> Bool) -> Bool {
        rowGroups += 1
        let ended = Piece(runs: runs, rowCount: rows, number: rowGroups)
        (runs, rows) = ([], 0)
        return body(ended)
    }
}
