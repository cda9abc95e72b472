/// A set of slot indexes. The first 64 slots take no allocation.
public struct SlotSet: Hashable, Sendable {
    private var low: UInt64 = 0
    /// Slots from 64 up. The last word is never 0, so that equal sets compare equal.
    private var high: [UInt64] = []

    /// The empty set.
    public init() {}

    /// A set of these slots.
    ///
    /// - Precondition: each is at least 0 and below ``Schema/maximumSlots``.
    public init(_ slots: some Sequence<Int>) {
        for slot in slots { insert(slot) }
    }

    /// A set from its ``words``.
    public init(words: [UInt64]) {
        low = words.first ?? 0
        high = Array(words.dropFirst())
        while high.last == 0 { high.removeLast() }
    }

    /// Bit `slot % 64` of word `slot / 64` is set for each member; no trailing zero words.
    public var words: [UInt64] {
        high.isEmpty ? (low == 0 ? [] : [low]) : [low] + high
    }

    /// Adds a slot.
    ///
    /// - Precondition: 0 <= slot < ``Schema/maximumSlots``.
    public mutating func insert(_ slot: Int) {
        precondition(slot >= 0 && slot < Schema.maximumSlots, "slot out of range")
        if slot < 64 {
            low |= 1 << UInt64(slot)
            return
        }
        let word = slot / 64 - 1
        if high.count <= word { high.append(contentsOf: repeatElement(0, count: word + 1 - high.count)) }
        high[word] |= 1 << UInt64(slot % 64)
    }

    /// Whether a slot is a member; any number may be asked for. O(1).
    public func contains(_ slot: Int) -> Bool {
        guard slot >= 0 else { return false }
        if slot < 64 { return low >> UInt64(slot) & 1 != 0 }
        let word = slot / 64 - 1
        return word < high.count && high[word] >> UInt64(slot % 64) & 1 != 0
    }

    /// Whether there is no member. O(1).
    public var isEmpty: Bool { low == 0 && high.isEmpty }

    /// How many members there are.
    public var count: Int { high.reduce(low.nonzeroBitCount) { $0 + $1.nonzeroBitCount } }

    /// The members in ascending order.
    ///
    /// - Complexity: O(highest slot / 64 + count).
    public var slots: [Int] {
        var result: [Int] = []
        result.reserveCapacity(count)
        forEach { result.append($0) }
        return result
    }

    /// Calls `body` with each slot, ascending.
    public func forEach(_ body: (Int) -> Void) {
        Self.forEachBit(low, from: 0, body)
        for (index, word) in high.enumerated() { Self.forEachBit(word, from: (index + 1) * 64, body) }
    }

    private static func forEachBit(_ word: UInt64, from first: Int, _ body: (Int) -> Void) {
        var rest = word
        while rest != 0 {
            body(first + rest.trailingZeroBitCount)
            rest &= rest &- 1
        }
    }

    /// Adds the members of another set.
    public mutating func formUnion(_ other: SlotSet) {
        low |= other.low
        if high.count < other.high.count {
            high.append(contentsOf: repeatElement(0, count: other.high.count - high.count))
        }
        for index in other.high.indices { high[index] |= other.high[index] }
    }

    /// The slots that are in either set.
    public func union(_ other: SlotSet) -> SlotSet {
        var result = self
        result.formUnion(other)
        return result
    }
}
