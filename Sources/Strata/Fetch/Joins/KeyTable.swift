/// Values by primary key. Keys of a store are dense, so most are found by an index into an array.
struct KeyTable<Value> {
    /// For each key one more than the place of its value, 0 for none.
    private var places: [Int32] = []
    /// The places of keys far beyond the number of objects.
    private var farPlaces: [Int64: Int32] = [:]
    private let nearMaximum: Int
    /// In the order of their coming, parallel to ``values``.
    private(set) var keys: [Int64] = []
    private(set) var values: [Value] = []

    /// - Parameter rows: about how many objects there are.
    init(rows: Int) {
        nearMaximum = rows * 4 + 65_536
    }

    subscript(key: Int64) -> Value? {
        let place = place(key)
        return place == 0 ? nil : values[Int(place) - 1]
    }

    /// Changes the value of a key, beginning with another where it has none.
    @inline(__always)
    mutating func update(_ key: Int64, from first: Value, _ change: (inout Value) -> Void) {
        var place = place(key)
        if place == 0 {
            keys.append(key)
            values.append(first)
            place = Int32(values.count)
            keep(place, key)
        }
        change(&values[Int(place) - 1])
    }

    @inline(__always)
    private func place(_ key: Int64) -> Int32 {
        if key < places.count { return places[Int(key)] }
        return farPlaces.isEmpty ? 0 : farPlaces[key] ?? 0
    }

    private mutating func keep(_ place: Int32, _ key: Int64) {
        if key >= nearMaximum {
            farPlaces[key] = place
            return
        }
        if key >= places.count {
            let count = min(nearMaximum, max(Int(key) + 1, places.count * 2, 1_024))
            places.append(contentsOf: repeatElement(0, count: count - places.count))
        }
        places[Int(key)] = place
    }
}
