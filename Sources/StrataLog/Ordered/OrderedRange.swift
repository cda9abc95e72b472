/// A range of byte strings in the order of their bytes.
public struct OrderedRange: Hashable, Sendable {
    /// The least string in the range.
    public var lower: [UInt8]
    /// The least string behind the range; nil when nothing bounds it.
    public var upper: [UInt8]?

    /// Every string.
    public static let all = OrderedRange(lower: [], upper: nil)

    /// The strings from `lower` on that come before `upper`; none when `upper` comes first.
    public init(lower: [UInt8], upper: [UInt8]?) {
        self.lower = lower
        self.upper = upper
    }

    /// All strings that begin with a prefix.
    public init(prefix: [UInt8]) {
        self.init(lower: prefix, upper: Self.successor(of: prefix))
    }

    /// The least string that is behind all strings that begin with a prefix; nil when there is none.
    public static func successor(of prefix: [UInt8]) -> [UInt8]? {
        var result = prefix
        while let last = result.last {
            if last < .max {
                result[result.count - 1] = last + 1
                return result
            }
            result.removeLast()
        }
        return nil
    }

    /// True when no string can be in it.
    public var isEmpty: Bool {
        guard let upper else { return false }
        return !lower.lexicographicallyPrecedes(upper)
    }

    /// What both ranges contain.
    func clamped(to other: OrderedRange) -> OrderedRange {
        var range = self
        if range.lower.lexicographicallyPrecedes(other.lower) { range.lower = other.lower }
        if let upper = other.upper, range.upper.map({ upper.lexicographicallyPrecedes($0) }) ?? true {
            range.upper = upper
        }
        return range
    }

    func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        let isBehind = lower.withUnsafeBytes { OrderedBytes.compare(key, $0) >= 0 }
        guard isBehind, let upper else { return isBehind }
        return upper.withUnsafeBytes { OrderedBytes.compare(key, $0) < 0 }
    }
}

/// Comparing byte strings.
enum OrderedBytes {
    /// Below, at or above 0 as the first string lies before, at or behind the second. Eight bytes at a time.
    @inline(__always)
    static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let count = min(left.count, right.count)
        guard count > 0, let a = left.baseAddress, let b = right.baseAddress else { return left.count - right.count }
        var index = 0
        while index &+ 8 <= count {
            let x = UInt64(bigEndian: a.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let y = UInt64(bigEndian: b.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            if x != y { return x < y ? -1 : 1 }
            index &+= 8
        }
        while index < count {
            let x = a.load(fromByteOffset: index, as: UInt8.self)
            let y = b.load(fromByteOffset: index, as: UInt8.self)
            if x != y { return x < y ? -1 : 1 }
            index &+= 1
        }
        return left.count - right.count
    }

    static func begins(_ string: UnsafeRawBufferPointer, with prefix: UnsafeRawBufferPointer) -> Bool {
        string.count >= prefix.count
            && compare(UnsafeRawBufferPointer(rebasing: string.prefix(prefix.count)), prefix) == 0
    }

    /// How many bytes both begin with.
    static func sharedCount(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, limit: Int) -> Int {
        let count = min(left.count, right.count, limit)
        var index = 0
        while index < count, left[index] == right[index] { index += 1 }
        return index
    }
}
