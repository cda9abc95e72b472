import StrataLog

/// What a compaction of a store did; see `compact(_:progress:)` of the coordinator.
public struct StoreCompaction: Sendable, Hashable, Codable {
    /// Segments of the log that are gone.
    public var segmentCount = 0
    /// Bytes that they took.
    public var freedByteCount = 0
    /// Bytes that had to be written elsewhere for it.
    public var writtenByteCount = 0

    package init() {}

    package init(_ report: CompactionReport) {
        segmentCount = report.segments
        freedByteCount = report.freedByteCount
        writtenByteCount = report.writtenByteCount
    }
}
