public import BenchSupport

/// What a line found.
public struct LoadResult: Sendable {
    public var seconds = 0.0
    public var latencies = Latencies()
    /// Of the readers beside the clients.
    public var besides = Latencies()
    /// The most threads that the process had at a time, the load's own included.
    public var threads = 0
    public var memory = MemoryUse()

    public var requestsPerSecond: Double { Double(latencies.count()) / seconds }
}
