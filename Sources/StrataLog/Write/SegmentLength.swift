internal import StrataIO
internal import StrataSupport
internal import SystemPackage

/// How long segments are made. A segment is moved and given back whole, so it has to be short compared with the store;
/// but each one that is begun costs the commit that begins it a flush of the directory.
struct SegmentLength {
    /// Segments are not made shorter than this,
    private(set) var minimumByteCount = 2 << 20
    /// nor than this part of the store.
    private var segmentsPerStore = 2
    /// Roughly what all segments hold; nil until somebody has to know.
    private var storeByteCount: Int?

    /// From now on segments are as short as automatic compaction wants them, so that a few of them can be moved without
    /// much space.
    ///
    /// - Parameter byteCount: what of the store is needed.
    mutating func compact(_ byteCount: Int) {
        minimumByteCount = 1 << 20
        segmentsPerStore = 8
        storeByteCount = byteCount
    }

    /// Longer than any store, and far from what would overflow.
    private static let unknownByteCount = 1 << 60

    /// Called when a segment is left that is so long.
    mutating func recordSegment(_ byteCount: Int) {
        if let known = storeByteCount { storeByteCount = known + byteCount }
    }

    /// Where a segment is left.
    mutating func byteCount(_ files: StoreFiles) -> Int {
        let known = storeByteCount ?? Self.measure(files)
        storeByteCount = known
        return max(minimumByteCount, known / segmentsPerStore)
    }

    /// What the segment files take; where that cannot be told, segments are not made shorter than they have to be.
    private static func measure(_ files: StoreFiles) -> Int {
        guard let listing = try? files.list() else { return unknownByteCount }
        return listing.segments.reduce(0) { sum, number in
            sum + Int((try? files.attributes(files.segment(number)))?.byteCount ?? 0)
        }
    }
}
