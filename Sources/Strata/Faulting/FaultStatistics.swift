/// What reading objects of a context has cost: how many faults fired, and how many of them needed a search.
///
/// Useful to see whether a loop over the results of a fetch would profit from
/// `relationshipKeyPathsForPrefetching`: without it, each object at the other end of a relationship fires a fault of
/// its own.
public struct FaultStatistics: Sendable, Equatable {
    /// Fetches of objects.
    public internal(set) var fetches = 0
    /// Faults that fired in the context's life: rows that were attached to an object.
    public internal(set) var faultsFired = 0
    /// Faults that have fired since the last fetch of objects began.
    public internal(set) var faultsFiredSinceLastFetch = 0
    /// Faults that found their row ready, because a neighbour's fault or the fetch had looked it up along with its own.
    public internal(set) var faultsFromBatches = 0
    /// How often the rows of a batch of neighbours were looked up together.
    public internal(set) var batchLookups = 0

    mutating func beginFetch() {
        fetches += 1
        faultsFiredSinceLastFetch = 0
    }

    mutating func fired() {
        faultsFired += 1
        faultsFiredSinceLastFetch += 1
    }
}
