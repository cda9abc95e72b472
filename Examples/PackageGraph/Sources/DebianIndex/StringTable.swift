/// Gives equal byte strings the same small number, and keeps one `String` for each.
///
/// Names occur hundreds of thousands of times in an index and are tens of thousands: looking them up by their bytes
/// makes a `String` only for the first.
struct StringTable {
    /// The strings in the order they were first seen.
    private(set) var strings: [String] = []
    /// Where each string's bytes end in `bytes`.
    private var ends: [Int] = []
    private var bytes: [UInt8] = []
    /// Open addressing with linear probing; the number plus one, 0 for a free place. The count is a power of two.
    private var places = [UInt32](repeating: 0, count: 1 << 12)

    /// The number of a byte string, which is added when it is new.
    ///
    /// - Complexity: O(`value.count`) on average.
    mutating func insert(_ value: Span<UInt8>) -> Int {
        if strings.count * 2 >= places.count { grow() }
        let mask = places.count - 1
        var place = Int(truncatingIfNeeded: Self.hash(value)) & mask
        while places[place] != 0 {
            let candidate = Int(places[place]) - 1
            if matches(candidate, value) { return candidate }
            place = (place + 1) & mask
        }
        for index in value.indices { bytes.append(value[index]) }
        ends.append(bytes.count)
        strings.append(value.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
        places[place] = UInt32(strings.count)
        return strings.count - 1
    }

    private func start(_ index: Int) -> Int { index == 0 ? 0 : ends[index - 1] }

    private func matches(_ index: Int, _ value: Span<UInt8>) -> Bool {
        let start = start(index)
        guard ends[index] - start == value.count else { return false }
        for offset in value.indices where bytes[start + offset] != value[offset] { return false }
        return true
    }

    private mutating func grow() {
        var larger = [UInt32](repeating: 0, count: places.count * 4)
        let mask = larger.count - 1
        for index in strings.indices {
            let value = bytes.span.extracting(start(index)..<ends[index])
            var place = Int(truncatingIfNeeded: Self.hash(value)) & mask
            while larger[place] != 0 { place = (place + 1) & mask }
            larger[place] = UInt32(index + 1)
        }
        places = larger
    }

    /// FNV-1a, with the high bits folded in since the table uses the low ones.
    private static func hash(_ value: Span<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for index in value.indices { hash = (hash ^ UInt64(value[index])) &* 0x100_0000_01b3 }
        return hash ^ (hash >> 29)
    }
}
