internal import StrataSupport
internal import SystemPackage

/// One segment of the log, a file.
public struct SegmentSummary: Sendable, Hashable {
    /// The segment's number: from 1 up, never used twice.
    public var number: UInt32
    /// Bytes that count: reserved space is left out of the newest.
    public var byteCount: Int
    /// The last transaction before the segment.
    public var previousSequence: UInt64
}

extension LogStore {
    /// The files of the log as the newest snapshot shows it, oldest first.
    ///
    /// - Throws: `.io`, `.corruption`.
    /// - Complexity: reads one header for each segment.
    public func segmentSummaries() throws(StoreError) -> [SegmentSummary] {
        let snapshot = snapshot
        defer { withExtendedLifetime(snapshot) {} }
        let end = snapshot.end
        var summaries: [SegmentSummary] = []
        for number in snapshot.epoch.compaction.holes.remaining(1, through: end.segment) {
            let reader = try RecordReader(
                files: files, storeUUID: storeUUID, segment: number, file: try source.file(segment: number))
            summaries.append(
                SegmentSummary(
                    number: number, byteCount: number == end.segment ? end.offset : reader.limit,
                    previousSequence: try reader.segmentHeader().previousSequence))
        }
        return summaries
    }
}
