/// Values by number, in the order of the numbers.
///
/// It takes the place of a dictionary where stores are opened. The first dictionary of a process whose keys are of some
/// type makes Swift's runtime search the conformances of all libraries for that type's, which takes 400,000
/// instructions. This type asks nothing of its parameters, so that nothing is searched. It is inlined, as generic code
/// would be slow.
///
/// - Complexity: a number is found in O(log n); one that is not the highest so far is added or removed in O(n).
package struct NumberTable<Value> {
    /// The keys, in ascending order.
    @usableFromInline package var numbers: [UInt64] = []
    /// Parallel to the numbers.
    @usableFromInline package var values: [Value] = []

    @inlinable package init() {}

    @inlinable package var count: Int { numbers.count }
    @inlinable package var isEmpty: Bool { numbers.isEmpty }

    /// The value of a number; nil removes it.
    @inlinable
    package subscript(_ number: UInt64) -> Value? {
        get {
            let position = position(of: number)
            return position < numbers.count && numbers[position] == number ? values[position] : nil
        }
        set { set(newValue, for: number) }
    }

    @inlinable
    package subscript(_ number: UInt32) -> Value? {
        get { self[UInt64(number)] }
        set { set(newValue, for: UInt64(number)) }
    }

    @inlinable
    package subscript(_ number: UInt16) -> Value? {
        get { self[UInt64(number)] }
        set { set(newValue, for: UInt64(number)) }
    }

    /// Where a number is, or would be.
    @inlinable
    func position(of number: UInt64) -> Int {
        // Most are added in order.
        guard let last = numbers.last, last >= number else { return numbers.count }
        var (low, high) = (0, numbers.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    @inlinable
    mutating func set(_ value: Value?, for number: UInt64) {
        let position = position(of: number)
        let isThere = position < numbers.count && numbers[position] == number
        switch (value, isThere) {
        case (let value?, true): values[position] = value
        case (let value?, false) where position == numbers.count:
            // Not by way of inserting, which is not made for the type of the values and takes ten times as long.
            numbers.append(number)
            values.append(value)
        case (let value?, false):
            numbers.insert(number, at: position)
            values.insert(value, at: position)
        case (nil, true):
            numbers.remove(at: position)
            values.remove(at: position)
        case (nil, false): break
        }
    }

    /// The same numbers with other values.
    @inlinable
    package func mapValues<Other>(_ transform: (Value) -> Other) -> NumberTable<Other> {
        var other = NumberTable<Other>()
        for index in numbers.indices { other.set(transform(values[index]), for: numbers[index]) }
        return other
    }

    /// Removes the values that a closure returns true for.
    @inlinable
    package mutating func removeAll(where isUnwanted: (UInt64, Value) -> Bool) {
        var kept = NumberTable()
        for index in numbers.indices where !isUnwanted(numbers[index], values[index]) {
            kept.set(values[index], for: numbers[index])
        }
        self = kept
    }
}

extension NumberTable: Sendable where Value: Sendable {}
