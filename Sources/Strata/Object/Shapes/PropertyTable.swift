/// Finds an entity's properties by name for calls by key, where a dictionary's way to hash a text would take a quarter
/// of the time.
struct PropertyTable {
    private let byName: [String: PropertyReference]
    private let names: [String]
    /// Parallel to the names.
    private let references: [PropertyReference]
    /// Where in the names; -1 for none. At most half of them are taken, and their number is a power of two.
    private let buckets: [Int32]

    init(_ properties: [String: PropertyReference]) {
        byName = properties
        names = properties.keys.sorted()
        references = names.compactMap { properties[$0] }
        var count = 2
        while count < names.count * 2 { count *= 2 }
        var buckets = [Int32](repeating: -1, count: count)
        for (position, name) in names.enumerated() {
            var bucket = Self.hash(name) & (count - 1)
            while buckets[bucket] >= 0 { bucket = (bucket + 1) & (count - 1) }
            buckets[bucket] = Int32(position)
        }
        self.buckets = buckets
    }

    subscript(name: String) -> PropertyReference? {
        let mask = buckets.count - 1
        var bucket = Self.hash(name) & mask
        while buckets[bucket] >= 0 {
            let position = Int(buckets[bucket])
            if names[position] == name { return references[position] }
            bucket = (bucket + 1) & mask
        }
        // Texts may be equal though their bytes are not.
        return byName[name]
    }

    private static func hash(_ name: String) -> Int {
        let hash = name.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.reduce(0) { (hash: UInt, byte) in hash &* 31 &+ UInt(byte) }
        }
        // A text that is not in one piece, if there were one on Linux, would be found by the dictionary.
        return hash.map { Int(truncatingIfNeeded: $0 ^ ($0 >> 7)) } ?? 0
    }
}
