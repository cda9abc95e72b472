/// What one or several neighbouring transactions added to and removed from an index, sorted.
protocol SortedRun: Sendable {
    associatedtype Failure: Error

    /// How many entries it has, removals included.
    var count: Int { get }
    /// The number of the newest transaction in it.
    var generation: UInt64 { get }

    /// How many of the newest runs are due to be merged into one: below two for none.
    ///
    /// - Parameter runs: neighbours that may be merged, oldest first; not empty.
    static func dueCount(_ runs: ArraySlice<Self>) -> Int

    /// Several neighbours as one run, of the newest one's generation.
    static func merged(_ runs: ArraySlice<Self>) throws(Failure) -> Self
}

/// What changed in an index since its base was written: the runs of a log-structured merge tree, in memory.
///
/// One version; versions share the runs.
struct SortedRuns<Run: SortedRun>: Sendable {
    /// Oldest first, none of them empty.
    private(set) var list: [Run] = []
    /// Counts the versions of the index.
    private(set) var generation: UInt64 = 0
    /// Runs up to this generation stay apart from later ones, so that they can be dropped when they are in a
    /// checkpoint.
    private(set) var border: UInt64 = 0

    init() {}

    /// - Precondition: the run's generation is the next one.
    mutating func append(_ run: Run) throws(Run.Failure) {
        precondition(run.generation == generation + 1, "a version is missing")
        generation += 1
        try push(run)
    }

    private mutating func push(_ run: Run) throws(Run.Failure) {
        guard run.count > 0 else { return }
        list.append(run)
        while let last = list.last {
            let isSealed = last.generation <= border
            var start = list.count - 1
            while start > 0, (list[start - 1].generation <= border) == isSealed { start -= 1 }
            let due = Run.dueCount(list[start...])
            guard due > 1 else { return }
            let merged = try Run.merged(list.suffix(due))
            list.removeLast(due)
            if merged.count > 0 { list.append(merged) }
        }
    }

    /// These runs kept apart from all that come later.
    func sealed() throws(Run.Failure) -> SortedRuns {
        var result = SortedRuns()
        (result.generation, result.border) = (generation, generation)
        // Runs on both sides of the border before may be merged now.
        for run in list { try result.push(run) }
        return result
    }

    /// What came after the version that was sealed last.
    func afterSealing() -> SortedRuns {
        var result = self
        result.list.removeAll { $0.generation <= border }
        return result
    }
}
