/// Ranges of primary keys that take in all keys of a set, and perhaps others.
struct KeyCover: Hashable, Sendable {
    /// Keys are told apart by groups of so many bits.
    private static let groupBits: UInt64 = 6
    static let maximumRangeCount = 1024

    /// Ascending and apart.
    private(set) var ranges: [ClosedRange<UInt64>] = []

    /// False only for keys that are not in the set.
    ///
    /// - Complexity: O(log ranges)
    func contains(_ key: UInt64) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(key)
    }

    /// The parts of a range that covers have, ascending and apart.
    ///
    /// - Complexity: O(n log n) in the covers' ranges
    static func parts(of range: ClosedRange<UInt64>, in covers: [KeyCover]) -> [ClosedRange<UInt64>] {
        let found = covers.flatMap(\.ranges).filter { $0.overlaps(range) }.map { $0.clamped(to: range) }
        return merged(found)
    }

    private static func merged(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
        var merged: [ClosedRange<UInt64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound + 1 {
                merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// Gathers keys and ranges, in any order.
    struct Builder {
        private var groups: Set<UInt64> = []
        private var ranges: [ClosedRange<UInt64>] = []

        mutating func insert(_ key: UInt64) { groups.insert(key >> KeyCover.groupBits) }

        mutating func insert(_ range: ClosedRange<UInt64>) { ranges.append(range) }

        func finish() -> KeyCover {
            let mask = (1 << KeyCover.groupBits) - 1 as UInt64
            let all = ranges + groups.map { $0 << KeyCover.groupBits...($0 << KeyCover.groupBits | mask) }
            return KeyCover(ranges: Self.reduced(KeyCover.merged(all)))
        }

        /// Joins ranges over the smallest gaps until there are few enough.
        private static func reduced(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
            guard ranges.count > KeyCover.maximumRangeCount else { return ranges }
            let gaps = zip(ranges, ranges.dropFirst()).map { $1.lowerBound - $0.upperBound }
            let limit = gaps.sorted()[ranges.count - KeyCover.maximumRangeCount - 1]
            var result = [ranges[0]]
            for (gap, range) in zip(gaps, ranges.dropFirst()) {
                if gap <= limit {
                    result[result.count - 1] = result[result.count - 1].lowerBound...range.upperBound
                } else {
                    result.append(range)
                }
            }
            return result
        }
    }
}
