extension FetchExplanation {
    /// - Parameter plan: nil where there was none.
    package init(path: Path, _ report: ScanReport, _ plan: FetchPlan?, results: Int, duration: Duration) {
        let found = report.statistics
        self.init(
            path: path, index: report.index, isDirect: report.isDirect, reusesPlan: plan?.isReused ?? false,
            parameterCount: plan?.parameters?.values.count ?? 0, rowsEstimated: report.rowsEstimated,
            semiJoins: report.semiJoins, sortsColumns: report.sortsColumns, groupsColumns: report.groupsColumns,
            blocks: found.blocks, blocksPruned: found.prunedBlocks, blocksDecoded: found.blocks - found.prunedBlocks,
            blocksCached: found.cachedBlocks, rowsTested: found.rowsTested, rowsInterpreted: found.rowsInterpreted,
            rowsMatched: found.rowsMatched, results: results, duration: duration)
    }

    /// What a store of the program's own did is not known.
    package init(ofCustomStore results: Int, in duration: Duration) {
        self.init(
            path: .customStore, index: nil, isDirect: false, reusesPlan: false, parameterCount: 0, rowsEstimated: 0,
            semiJoins: [],
            sortsColumns: false, groupsColumns: false,
            blocks: 0,
            blocksPruned: 0, blocksDecoded: 0, blocksCached: 0, rowsTested: 0, rowsInterpreted: 0, rowsMatched: 0,
            results: results, duration: duration)
    }
}
