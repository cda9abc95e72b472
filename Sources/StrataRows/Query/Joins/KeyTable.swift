/// Values by primary key. Keys of a store are dense, so most are found by an index into an array.
package struct KeyTable<Value> {
    /// For each key one more than the place of its value, 0 for none.
    private var numbers: [Int32] = []
    /// The places of keys far beyond the number of objects.
    private var farNumbers: [Int64: Int32] = [:]
    private let nearMaximum: Int
    /// In the order of their coming, parallel to ``values``.
    package private(set) var keys: [Int64] = []
    package private(set) var values: [Value] = []

    /// - Parameter rows: about how many objects there are.
    package init(rows: Int) {
        nearMaximum = rows * 4 + 65_536
    }

    package subscript(key: Int64) -> Value? {
        let number = number(key)
        return number == 0 ? nil : values[Int(number) - 1]
    }

    /// Changes the value of a key, beginning with another where it has none.
    @inline(__always)
    package mutating func update(
        _ key: Int64, from first: @autoclosure () -> Value, _ change: (inout Value) -> Void
    ) {
        var number = number(key)
        if number == 0 {
            keys.append(key)
            values.append(first())
            number = Int32(values.count)
            keep(number, key)
        }
        change(&values[Int(number) - 1])
    }

    @inline(__always)
    private func number(_ key: Int64) -> Int32 {
        if key < numbers.count { return numbers[Int(key)] }
        return farNumbers.isEmpty ? 0 : farNumbers[key] ?? 0
    }

    private mutating func keep(_ number: Int32, _ key: Int64) {
        if key >= nearMaximum {
            farNumbers[key] = number
            return
        }
        if key >= numbers.count {
            let count = min(nearMaximum, max(Int(key) + 1, numbers.count * 2, 1_024))
            numbers.append(contentsOf: repeatElement(0, count: count - numbers.count))
        }
        numbers[Int(key)] = number
    }
}
