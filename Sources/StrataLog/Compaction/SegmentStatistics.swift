/// What a segment of the log holds, in bytes.
public struct SegmentStatistics: Sendable, Hashable {
    /// The segment's number.
    public var segment: UInt32
    /// Of its records, without space reserved behind them.
    public var byteCount: Int
    /// Rows and large values that are live: estimated from how many of its rows are.
    public var liveByteCount: Int
    /// Change tables and preserved values that are retained.
    public var historyByteCount: Int
    /// What a compaction would free, pinned or not.
    public var deadByteCount: Int
    /// Of ``deadByteCount``, what cannot be freed now: the segment was compacted away, and snapshots keep its file;
    /// or ``LogRetention/rowsFloor`` keeps its replaced rows.
    public var pinnedByteCount: Int
    /// Number of the transaction that wrote a row of it, on average.
    var ageSequence: UInt64
    /// Whether the log goes on in it.
    public var isCurrent: Bool
    /// Whether ``LogRetention/rowsFloor`` or snapshots keep all of it: no compaction and no waiting helps.
    var isRetained = false

    var neededByteCount: Int { byteCount - deadByteCount }
    /// What compaction leaves where it is or writes elsewhere.
    var keptByteCount: Int { isRetained ? byteCount : neededByteCount }
    var utilization: Double { byteCount == 0 ? 1 : Double(neededByteCount) / Double(byteCount) }
}

/// Segments that have left the directory, and whose files snapshots keep open.
package struct SnapshotPins: Sendable, Hashable {
    package var byteCount: Int
    /// When the first of them was compacted away, in nanoseconds since 1970: a snapshot has been held since before.
    package var sinceNanoseconds: Int64?

    package init(byteCount: Int = 0, sinceNanoseconds: Int64? = nil) {
        self.byteCount = byteCount
        self.sinceNanoseconds = sinceNanoseconds
    }
}

/// Which segments are worth compacting.
struct CompactionPolicy {
    /// What is needed over what is used, above which nothing is done.
    var target: Double
    /// Number of the newest transaction.
    var sequence: UInt64
    /// Segments that are used as well as that are left alone.
    static let worthwhile = 0.95

    /// Victims for which no checkpoint has to be written, if they do; otherwise the best of all.
    ///
    /// - Parameter checkpoint: the segment that the newest checkpoint reaches to (rule 4).
    func victims(_ segments: [SegmentStatistics], before checkpoint: UInt32) -> [SegmentStatistics] {
        let (covered, isEnough) = choose(segments) { $0.segment < checkpoint }
        return isEnough ? covered : victims(segments)
    }

    /// The best segments first, as many as it takes to reach the target; and all that hold nothing needed.
    func victims(_ segments: [SegmentStatistics]) -> [SegmentStatistics] {
        choose(segments) { _ in true }.victims
    }

    private func choose(
        _ segments: [SegmentStatistics], from isCandidate: (SegmentStatistics) -> Bool
    ) -> (victims: [SegmentStatistics], isEnough: Bool) {
        var used = segments.reduce(0) { $0 + $1.byteCount }
        let needed = segments.reduce(0) { $0 + $1.keptByteCount }
        let candidates =
            segments
            .filter {
                !$0.isCurrent && $0.pinnedByteCount == 0 && $0.utilization < Self.worthwhile && isCandidate($0)
            }
            .map { (segment: $0, score: score($0)) }
            .sorted { ($0.score, $1.segment.segment) > ($1.score, $0.segment.segment) }
        var victims: [SegmentStatistics] = []
        for (segment, _) in candidates {
            guard segment.neededByteCount == 0 || Double(needed) < target * Double(used) else { continue }
            victims.append(segment)
            used -= segment.deadByteCount
        }
        return (victims, Double(needed) >= target * Double(used))
    }

    private func score(_ segment: SegmentStatistics) -> Double {
        let u = segment.utilization
        let age = sequence > segment.ageSequence ? Double(sequence - segment.ageSequence) : 0
        return (1 - u) * (age + 1) / (1 + u)
    }
}

/// How far a compaction is.
public struct CompactionProgress: Sendable, Hashable {
    /// Segments that are to be compacted away, in all.
    public var segments: Int
    /// Segments that are gone.
    public var completedSegments: Int
    /// Bytes that are expected to be written, in all.
    public var byteCount: Int
    /// Bytes that were written.
    public var completedByteCount: Int
}

/// What a compaction did.
public struct CompactionReport: Sendable, Hashable {
    /// Segments that are gone.
    public var segments = 0
    /// Bytes they took.
    public var freedByteCount = 0
    /// Bytes written to the log for it.
    public var writtenByteCount = 0
}
