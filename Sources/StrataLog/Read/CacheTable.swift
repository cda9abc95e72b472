/// A hash table from block keys to node numbers: open addressing in entries of 16 bytes, linear probing, removal by moving entries back.
struct CacheTable: ~Copyable {
    private struct Entry {
        /// 0 for a free entry: no block is at the absent location.
        var key: UInt64
        var node: UInt32
        var reserved: UInt32 = 0
    }

    private var entries: UnsafeMutablePointer<Entry>
    private var mask: Int
    private(set) var count = 0

    init() {
        mask = 63
        entries = .allocate(capacity: 64)
        entries.initialize(repeating: Entry(key: 0, node: 0), count: 64)
    }

    deinit {
        entries.deallocate()
    }

    /// Spreads a location over 64 bits. The lowest choose a shard, the upper half the table entry.
    @inline(__always)
    static func hash(_ key: UInt64) -> UInt64 {
        let mixed = (key ^ key >> 29) &* 0x9E37_79B9_7F4A_7C15
        return mixed ^ mixed >> 32
    }

    @inline(__always)
    private func home(_ hash: UInt64) -> Int {
        Int(truncatingIfNeeded: hash >> 24) & mask
    }

    @inline(__always)
    func find(_ key: UInt64, hash: UInt64) -> UInt32? {
        var index = home(hash)
        while entries[index].key != 0 {
            if entries[index].key == key { return entries[index].node }
            index = (index + 1) & mask
        }
        return nil
    }

    /// - Precondition: the key is not 0 and not in the table.
    mutating func insert(_ key: UInt64, hash: UInt64, node: UInt32) {
        if (count + 1) * 4 > (mask + 1) * 3 { grow() }
        place(key, hash: hash, node: node)
        count += 1
    }

    private func place(_ key: UInt64, hash: UInt64, node: UInt32) {
        var index = home(hash)
        while entries[index].key != 0 { index = (index + 1) & mask }
        entries[index] = Entry(key: key, node: node)
    }

    private mutating func grow() {
        let old = entries
        let oldCount = mask + 1
        mask = oldCount * 2 - 1
        entries = .allocate(capacity: oldCount * 2)
        entries.initialize(repeating: Entry(key: 0, node: 0), count: oldCount * 2)
        for index in 0..<oldCount where old[index].key != 0 {
            place(old[index].key, hash: Self.hash(old[index].key), node: old[index].node)
        }
        old.deallocate()
    }

    mutating func remove(_ key: UInt64) {
        var hole = home(Self.hash(key))
        while entries[hole].key != key {
            if entries[hole].key == 0 { return }
            hole = (hole + 1) & mask
        }
        var next = (hole + 1) & mask
        // An entry moves back into the hole unless its home lies behind the hole.
        while entries[next].key != 0 {
            let distance = (next - home(Self.hash(entries[next].key))) & mask
            if distance >= (next - hole) & mask {
                entries[hole] = entries[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        entries[hole] = Entry(key: 0, node: 0)
        count -= 1
    }
}
