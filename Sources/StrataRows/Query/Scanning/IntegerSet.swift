/// A set of integers for tests of many rows.
struct IntegerSet: Sendable {
    /// Sets that span no more are kept as bits, and those that are no thinner than one in 64.
    private static let spanMaximum: Int64 = 1 << 16

    let least: Int64
    let greatest: Int64
    let count: Int
    private let bits: [UInt64]
    private let members: Set<Int64>

    init(_ values: some Sequence<Int64>) {
        let values = Array(values)
        var (least, greatest) = (values.first ?? 0, values.first ?? -1)
        for value in values {
            least = min(least, value)
            greatest = max(greatest, value)
        }
        self.least = least
        self.greatest = greatest
        let (span, overflow) = greatest.subtractingReportingOverflow(least)
        guard !overflow, span < max(Self.spanMaximum, Int64(values.count) * 64) else {
            bits = []
            members = Set(values)
            count = members.count
            return
        }
        var bits = [UInt64](repeating: 0, count: Int(span) / 64 + 1)
        for value in values { bits[Int(value - least) >> 6] |= 1 << UInt64((value - least) & 63) }
        count = values.isEmpty ? 0 : bits.reduce(0) { $0 + $1.nonzeroBitCount }
        self.bits = bits
        members = []
    }

    /// Ascending.
    var values: [Int64] {
        if bits.isEmpty { return members.sorted() }
        var values: [Int64] = []
        values.reserveCapacity(count)
        for (index, word) in bits.enumerated() {
            var rest = word
            while rest != 0 {
                values.append(least + Int64(index * 64 + rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return values
    }

    @inline(__always)
    func contains(_ value: Int64) -> Bool {
        if value < least || value > greatest { return false }
        if bits.isEmpty { return members.contains(value) }
        let offset = Int(value &- least)
        return bits[offset >> 6] >> UInt64(offset & 63) & 1 != 0
    }
}
