import StrataLog

/// How a store uses its disk.
///
/// Got from ``NSPersistentStoreCoordinator/space(of:)``. The log is a row of segments, files that are only appended to;
/// what lies between is taken back by compaction, which goes on by itself while the store is written, and by
/// `compact(_:progress:)` of the coordinator.
public struct StoreSpace: Sendable, Hashable, Codable {
    /// A part of the log, all counts in bytes.
    public struct Segment: Sendable, Hashable, Codable {
        /// Ascending in the order in which they were begun; never used twice.
        public var number: Int
        /// Of its records, without space reserved behind them.
        public var byteCount: Int
        /// Objects that are in the store, with their large values; estimated from how many of its rows are.
        public var liveByteCount: Int
        /// What the persistent history needs: who changed what, and values of deleted objects that are preserved.
        public var historyByteCount: Int
        /// Replaced and deleted rows, and history that is not kept: what a compaction takes back, now or later.
        public var deadByteCount: Int
        /// Of ``deadByteCount``, what contexts pinned to a generation and fetches that are running keep from being
        /// taken back now.
        public var pinnedByteCount: Int

        package init(_ statistics: SegmentStatistics) {
            number = Int(statistics.segment)
            byteCount = statistics.byteCount
            liveByteCount = statistics.liveByteCount
            historyByteCount = statistics.historyByteCount
            deadByteCount = statistics.deadByteCount
            pinnedByteCount = statistics.pinnedByteCount
        }
    }

    /// Ascending by number; with those that were compacted away and that somebody still reads.
    public var segments: [Segment]

    /// Of all segments. Checkpoints of the index, and the reserve for a full disk, come to it.
    public var byteCount: Int { segments.reduce(0) { $0 + $1.byteCount } }
    /// The ``Segment/liveByteCount`` of all segments.
    public var liveByteCount: Int { segments.reduce(0) { $0 + $1.liveByteCount } }
    /// The ``Segment/historyByteCount`` of all segments.
    public var historyByteCount: Int { segments.reduce(0) { $0 + $1.historyByteCount } }
    /// The ``Segment/deadByteCount`` of all segments.
    public var deadByteCount: Int { segments.reduce(0) { $0 + $1.deadByteCount } }
    /// The ``Segment/pinnedByteCount`` of all segments.
    public var pinnedByteCount: Int { segments.reduce(0) { $0 + $1.pinnedByteCount } }

    package init(_ statistics: [SegmentStatistics]) { segments = statistics.map(Segment.init) }
}
