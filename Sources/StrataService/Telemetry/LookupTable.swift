/// Values by keys, as every event asks for. As long as there are few, each key is looked at: that costs less than to
/// hash one.
struct LookupTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// With more keys, they are hashed.
    static var fewMaximum: Int { 8 }

    private var few: [(key: Key, value: Value)] = []
    /// Empty while there are few.
    private var many: [Key: Value] = [:]

    subscript(_ key: Key) -> Value? {
        if !many.isEmpty { return many[key] }
        // By index: an iterator copies each entry, which costs more than to compare it.
        for index in few.indices where few[index].key == key { return few[index].value }
        return nil
    }

    /// Adds a value for a key that has none.
    mutating func add(_ value: Value, for key: Key) {
        if many.isEmpty, few.count < Self.fewMaximum { return few.append((key, value)) }
        for entry in few { many[entry.key] = entry.value }
        few = []
        many[key] = value
    }
}
