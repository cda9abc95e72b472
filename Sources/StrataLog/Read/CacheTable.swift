internal import CStrataSupport

/// A hash table from block keys to blocks and node numbers: open addressing in entries of 24 bytes, linear probing,
/// removal by moving entries back. What a look-up needs lies in the entry: it touches no node.
struct CacheTable: ~Copyable {
    struct Entry {
        /// 0 for a free entry: no block is at the absent location.
        var key: UInt64
        /// The node's, without a reference; nil when only the memory of a block is left.
        var block: Unmanaged<Block>?
        var node: UInt32
        /// When the node was last counted as used.
        var tick: UInt32 = 0
    }

    private var entries: UnsafeMutablePointer<Entry>
    private var mask: Int
    private(set) var count = 0

    init() {
        mask = 63
        entries = .allocate(capacity: 64)
        entries.initialize(repeating: Self.free, count: 64)
    }

    deinit {
        entries.deallocate()
    }

    private static var free: Entry { Entry(key: 0, block: nil, node: 0) }

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

    /// The key's entry, which can be written until the table changes.
    @inline(__always)
    func find(_ key: UInt64, hash: UInt64) -> UnsafeMutablePointer<Entry>? {
        var index = home(hash)
        while entries[index].key != 0 {
            if entries[index].key == key { return entries + index }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Asks the processor for where a look-up begins.
    @inline(__always)
    func prefetch(hash: UInt64) {
        strata_prefetch(entries + home(hash))
    }

    /// - Precondition: the entry's key is not 0 and not in the table.
    mutating func insert(_ entry: Entry, hash: UInt64) {
        if (count + 1) * 4 > (mask + 1) * 3 { grow() }
        place(entry, hash: hash)
        count += 1
    }

    private func place(_ entry: Entry, hash: UInt64) {
        var index = home(hash)
        while entries[index].key != 0 { index = (index + 1) & mask }
        entries[index] = entry
    }

    private mutating func grow() {
        let old = entries
        let oldCount = mask + 1
        mask = oldCount * 2 - 1
        entries = .allocate(capacity: oldCount * 2)
        entries.initialize(repeating: Self.free, count: oldCount * 2)
        for index in 0..<oldCount where old[index].key != 0 { place(old[index], hash: Self.hash(old[index].key)) }
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
        entries[hole] = Self.free
        count -= 1
    }
}
