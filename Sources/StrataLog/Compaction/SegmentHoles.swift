/// Which segments of the log are gone because compaction no longer needed them. Any other segment that is missing is
/// damage.
struct SegmentHoles: Hashable, Sendable {
    /// Neighbouring segments that are gone.
    struct Hole: Hashable, Sendable {
        var first: UInt32
        var last: UInt32
        /// Valid bytes of the segment before, which the header of the first missing one said.
        var previousValidByteCount: Int
    }

    /// Ascending; between two of them is at least one segment.
    private(set) var holes: [Hole] = []

    var isEmpty: Bool { holes.isEmpty }
    /// The highest number that is gone; 0 when none is.
    var last: UInt32 { holes.last?.last ?? 0 }

    /// The hole that a segment lies in.
    ///
    /// - Complexity: O(log holes)
    func hole(at segment: UInt32) -> Hole? {
        var low = 0
        var high = holes.count
        while low < high {
            let middle = (low + high) / 2
            if holes[middle].last < segment { low = middle + 1 } else { high = middle }
        }
        guard low < holes.count, holes[low].first <= segment else { return nil }
        return holes[low]
    }

    func contains(_ segment: UInt32) -> Bool { hole(at: segment) != nil }

    /// Adds a segment whose header says how long the one before it is.
    mutating func insert(_ segment: UInt32, previousValidByteCount: Int) {
        guard !contains(segment) else { return }
        var new = Hole(first: segment, last: segment, previousValidByteCount: previousValidByteCount)
        if let before = holes.firstIndex(where: { $0.last + 1 == segment }) {
            new.first = holes[before].first
            new.previousValidByteCount = holes[before].previousValidByteCount
            holes.remove(at: before)
        }
        if let after = holes.firstIndex(where: { $0.first == segment + 1 }) {
            new.last = holes[after].last
            holes.remove(at: after)
        }
        holes.insert(new, at: holes.firstIndex { $0.first > new.first } ?? holes.count)
    }

    /// The numbers from `first` to `last` that are not gone.
    func remaining(_ first: UInt32, through last: UInt32) -> [UInt32] {
        guard first <= last else { return [] }
        return (first...last).filter { !contains($0) }
    }

    func append(to writer: inout ByteWriter) {
        writer.append(UInt32(holes.count))
        for hole in holes {
            writer.append(hole.first)
            writer.append(hole.last)
            writer.append(UInt64(hole.previousValidByteCount))
        }
    }

    init() {}

    init(from reader: inout ByteReader) throws(MalformedBytes) {
        var next: UInt32 = 1
        for _ in 0..<(try reader.readCount(minimumByteCount: 16)) {
            let first = try reader.read(UInt32.self)
            let last = try reader.read(UInt32.self)
            let byteCount = try reader.read(UInt64.self)
            guard first >= next, last >= first, last < Location.maximumSegment,
                byteCount <= UInt64(Location.segmentMaximumBytes)
            else { throw reader.malformed("missing segments \(first) to \(last)") }
            next = last + 2
            holes.append(Hole(first: first, last: last, previousValidByteCount: Int(byteCount)))
        }
    }
}
