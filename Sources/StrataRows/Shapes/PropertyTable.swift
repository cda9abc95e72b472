import StrataSupport

/// Finds an entity's properties by name for calls by key, where a dictionary's way to hash a text would take a quarter
/// of the time.
@usableFromInline
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
        let probing = Probing(capacity: count)
        for (position, name) in names.enumerated() {
            let bucket = probing.first(from: probing.home(Self.hash(name))) { buckets[$0] < 0 }
            buckets[bucket] = Int32(position)
        }
        self.buckets = buckets
    }

    @usableFromInline
    subscript(name: String) -> PropertyReference? {
        let probing = Probing(capacity: buckets.count)
        let bucket = probing.first(from: probing.home(Self.hash(name))) { bucket in
            buckets[bucket] < 0 || names[Int(buckets[bucket])] == name
        }
        // Texts may be equal though their bytes are not.
        return buckets[bucket] < 0 ? byName[name] : references[Int(buckets[bucket])]
    }

    private static func hash(_ name: String) -> UInt64 {
        let hash = name.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.reduce(0) { (hash: UInt64, byte) in hash &* 31 &+ UInt64(byte) }
        }
        // A text that is not in one piece, if there were one on Linux, would be found by the dictionary.
        return hash.map { $0 ^ ($0 >> 7) } ?? 0
    }
}
