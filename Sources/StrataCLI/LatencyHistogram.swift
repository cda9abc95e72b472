/// How long calls took, in a memory that does not grow: by powers of two, each in 64 parts, so within 1.6 %.
struct LatencyHistogram: Sendable {
    private static let partBits = 6
    private static let bucketCount = 64 << partBits

    private var counts = [Int](repeating: 0, count: bucketCount)
    private(set) var count = 0
    private(set) var maximum = Duration.zero

    mutating func add(_ duration: Duration) {
        counts[Self.bucket(Self.nanoseconds(duration))] += 1
        count += 1
        maximum = max(maximum, duration)
    }

    mutating func add(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
        maximum = max(maximum, other.maximum)
    }

    /// What a share of the calls took at most; nil of none.
    ///
    /// - Parameter share: from 0 to 1.
    func percentile(_ share: Double) -> Duration? {
        guard count > 0 else { return nil }
        let wanted = max(1, Int((share * Double(count)).rounded(.up)))
        var seen = 0
        for (index, one) in counts.enumerated() {
            seen += one
            if seen >= wanted { return min(maximum, .nanoseconds(Self.end(of: index))) }
        }
        return maximum
    }

    /// Whole ones; none of a time below zero.
    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return isTooLarge ? UInt64(Int64.max) : UInt64(whole) + UInt64(attoseconds / 1_000_000_000)
    }

    private static func bucket(_ value: UInt64) -> Int {
        let bits = UInt64.bitWidth - value.leadingZeroBitCount
        guard bits > partBits else { return Int(value) }
        let shift = bits - partBits - 1
        // The highest bit is that of the power, the next ones are the part.
        return (shift + 1) << partBits + Int(value >> UInt64(shift)) & (1 << partBits - 1)
    }

    /// The largest value that a bucket has.
    private static func end(of bucket: Int) -> Int64 {
        let (power, part) = (bucket >> partBits, bucket & (1 << partBits - 1))
        guard power > 0 else { return Int64(part) }
        let (end, isTooLarge) = Int64(1 << partBits + part + 1).multipliedReportingOverflow(by: 1 << (power - 1))
        return isTooLarge ? .max : end - 1
    }
}
