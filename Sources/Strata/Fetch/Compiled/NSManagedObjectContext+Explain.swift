import Foundation

extension NSManagedObjectContext {
    /// Runs a fetch, or a count if the request says so, and tells how its results were found.
    ///
    /// The fetch takes place with all that belongs to it, so the figures are those of the same fetch without
    /// explanation; what it reads is in the cache afterwards.
    ///
    /// - Throws: as ``fetch(_:)-swift.method``.
    public final func explain<T>(_ request: NSFetchRequest<T>) throws -> FetchExplanation {
        let clock = ContinuousClock()
        let start = clock.now
        let executor = FetchExecutor(self, try FetchPlan(request, in: self))
        let count =
            switch try executor.results() {
            case .objects(let objects): objects.count
            case .objectIDs(let ids): ids.count
            case .dictionaries(let dictionaries): dictionaries.count
            case .counts(let counts): counts.first?.intValue ?? 0
            }
        let duration = start.duration(to: clock.now)
        let (report, found) = (executor.report, executor.report.statistics)
        return FetchExplanation(
            path: report.path ?? (link == nil ? .counters : .parentContext), index: report.index,
            rowsEstimated: report.rowsEstimated, sortsColumns: report.sortsColumns,
            groupsColumns: report.groupsColumns, blocks: found.blocks, blocksPruned: found.prunedBlocks,
            blocksDecoded: found.blocks - found.prunedBlocks, blocksCached: found.cachedBlocks,
            rowsTested: found.rowsTested, rowsInterpreted: found.rowsInterpreted, rowsMatched: found.rowsMatched,
            results: count, duration: duration)
    }
}
