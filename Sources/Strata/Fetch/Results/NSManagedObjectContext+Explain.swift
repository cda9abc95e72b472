import Foundation

extension NSManagedObjectContext {
    /// Runs a fetch, or a count if the request says so, and tells how its results were found.
    ///
    /// The fetch takes place with all that belongs to it, so the figures are those of the same fetch without
    /// explanation; what it reads is in the cache afterwards.
    ///
    /// - Throws: as `fetch(_:)`.
    public final func explain<T>(_ request: NSFetchRequest<T>) throws -> FetchExplanation {
        try limited(request.timeLimit) { try explain(request, $0) }
    }

    private func explain<T>(_ request: NSFetchRequest<T>, _ control: RequestControl?) throws -> FetchExplanation {
        let clock = ContinuousClock()
        let start = clock.now
        if let custom = CustomFetch(self, request) {
            processChangesBeforeReading()
            let found = try custom.results()
            try control?.check()
            let count = request.resultType.contains(.countResultType) ? (found.first as? NSNumber)?.intValue : nil
            return FetchExplanation(ofCustomStore: count ?? found.count, in: start.duration(to: clock.now))
        }
        let plan = try plan(of: request)
        if plan.includesPendingChanges { processChangesBeforeReading() }
        let executor = FetchExecutor(self, plan, turn: turn(control, plan), report: ScanReport())
        let count =
            switch try directResults(plan, control, executor.report) ?? executor.results() {
            case .objects(let objects): objects.count
            case .objectIDs(let ids): ids.count
            case .dictionaries(let dictionaries): dictionaries.count
            case .counts(let counts): counts.first?.intValue ?? 0
            }
        let duration = start.duration(to: clock.now)
        return FetchExplanation(
            path: executor.report.path ?? (link == nil ? .counters : .parentContext), executor.report, plan,
            results: count, duration: duration)
    }
}
