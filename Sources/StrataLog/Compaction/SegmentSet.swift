/// Some segments, as a bitmap: loops over all objects of a store ask it for each row.
struct SegmentSet: Sendable {
    private let first: UInt32
    private let words: [UInt64]

    init(_ segments: some Collection<UInt32>) {
        let least = segments.min() ?? 0
        var words = [UInt64](repeating: 0, count: segments.isEmpty ? 0 : Int((segments.max() ?? 0) - least) >> 6 + 1)
        for segment in segments { words[Int(segment - least) >> 6] |= 1 << UInt64((segment - least) & 63) }
        first = least
        self.words = words
    }

    @inline(__always)
    func contains(_ segment: UInt32) -> Bool {
        // A segment before the first wraps around to a number beyond the last.
        let index = segment &- first
        let word = Int(truncatingIfNeeded: index >> 6)
        return word < words.count && words[word] >> UInt64(index & 63) & 1 != 0
    }

    @inline(__always)
    func contains(location: UInt64) -> Bool { contains(Location(rawValue: location).segment) }
}

/// How many rows lie in each segment.
struct SegmentTally {
    private let first: UInt32
    private var counts: [Int]

    /// For rows in segments of this range; those elsewhere are not counted.
    init(_ segments: ClosedRange<UInt32>) {
        first = segments.lowerBound
        counts = Array(repeating: 0, count: segments.count)
    }

    @inline(__always)
    mutating func add(_ count: Int, at location: UInt64) {
        let index = Int(truncatingIfNeeded: Location(rawValue: location).segment &- first)
        if index < counts.count { counts[index] &+= count }
    }

    subscript(segment: UInt32) -> Int {
        let index = Int(truncatingIfNeeded: segment &- first)
        return index < counts.count ? counts[index] : 0
    }
}
