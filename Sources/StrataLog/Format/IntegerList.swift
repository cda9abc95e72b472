/// Integers of a change table, held as they were stored: a million keys in a row, or the same transaction a million
/// times, are two numbers. So what a record says takes memory by its own length, whatever it claims.
public struct IntegerList: RandomAccessCollection, Sendable {
    /// Empty where the integers are a run.
    private let values: [UInt64]
    private let first: UInt64
    /// From one integer of a run to the next: 0 or 1.
    private let step: UInt64
    public let count: Int

    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// Holds each integer by itself.
    public init(_ values: [UInt64]) {
        self.values = values
        first = 0
        step = 0
        count = values.count
    }

    /// - Precondition: the last integer is below 2^64.
    init(from first: UInt64, step: UInt64, count: Int) {
        values = []
        self.first = first
        self.step = step
        self.count = count
    }

    init() { self.init([]) }

    public subscript(index: Int) -> UInt64 {
        precondition(index >= 0 && index < count, "index \(index) of \(count) integers")
        return values.isEmpty ? first + step * UInt64(index) : values[index]
    }

    /// Their range, where each integer is one more than that before it and they are held as such.
    var consecutiveRange: ClosedRange<UInt64>? {
        guard values.isEmpty, step == 1, count > 0 else { return nil }
        return first...first + UInt64(count - 1)
    }

    /// Whether it is one integer, said more than once, however it is held: what is read is what may be written.
    ///
    /// - Complexity: O(1) for what takes no room; else O(n) where it is one, and O(1) as a rule where it is none
    var isRepetition: Bool {
        guard count > 1 else { return false }
        return values.isEmpty ? step == 0 : values.allSatisfy { $0 == values[0] }
    }

    /// The least and the greatest; nil of none.
    ///
    /// - Complexity: O(1) for what takes no room; else O(n)
    var bounds: ClosedRange<UInt64>? {
        if count == 0 { return nil }
        if values.isEmpty { return first...first + step * UInt64(count - 1) }
        var (least, greatest) = (UInt64.max, UInt64.min)
        for value in values {
            least = Swift.min(least, value)
            greatest = Swift.max(greatest, value)
        }
        return least...greatest
    }

    /// Some of them, held as all are.
    func part(_ range: Range<Int>) -> IntegerList {
        values.isEmpty
            ? IntegerList(from: first + step * UInt64(range.lowerBound), step: step, count: range.count)
            : IntegerList(Array(values[range]))
    }

    /// How many integers it holds in memory.
    var storedCount: Int { values.count }
}

extension IntegerList: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: UInt64...) { self.init(elements) }
}

extension IntegerList: Equatable {
    public static func == (left: IntegerList, right: IntegerList) -> Bool { left.elementsEqual(right) }
}

extension IntegerList: CustomStringConvertible {
    public var description: String { Array(self).description }
}
