/// From hashes to the objects whose values have them: an open-addressing table of 12 bytes an entry.
///
/// It keeps no values: who finds an object under a hash reads its row to see whether the values are equal.
struct UniqueTable: ~Copyable {
    private var hashes: UnsafeMutablePointer<UInt32>
    /// 0 where the entry is free.
    private var refs: UnsafeMutablePointer<UInt64>
    private var mask: Int
    private(set) var count = 0
    /// Where a hash has many objects, since a store that grew without the constraint has equal values: those that
    /// came after the first ones, with how often. In the table each would be searched behind all others.
    private var crowds: [UInt32: [UInt64: Int]] = [:]
    private static let crowdCount = 16

    init(minimumCapacity: Int = 0) {
        var capacity = 64
        while minimumCapacity * 3 > capacity * 2 { capacity *= 2 }
        hashes = .allocate(capacity: capacity)
        hashes.initialize(repeating: 0, count: capacity)
        refs = .allocate(capacity: capacity)
        refs.initialize(repeating: 0, count: capacity)
        mask = capacity - 1
    }

    deinit {
        hashes.deallocate()
        refs.deallocate()
    }

    var memoryByteCount: Int { (mask + 1) * 12 + crowds.values.reduce(0) { $0 + $1.count * 16 } }

    /// Calls `body` with each object under the hash until it returns false.
    func forEach(_ hash: UInt32, _ body: (ObjectRef) throws(StoreError) -> Bool) throws(StoreError) {
        var index = Int(hash) & mask
        while refs[index] != 0 {
            if hashes[index] == hash, try !body(ObjectRef(rawValue: refs[index])) { return }
            index = (index + 1) & mask
        }
        guard !crowds.isEmpty, let crowd = crowds[hash] else { return }
        for ref in crowd.keys {
            if try !body(ObjectRef(rawValue: ref)) { return }
        }
    }

    mutating func insert(_ hash: UInt32, _ ref: ObjectRef) {
        if (count + 1) * 3 > (mask + 1) * 2 { grow() }
        if place(hash, ref.rawValue) {
            count += 1
        } else {
            crowds[hash, default: [:]][ref.rawValue, default: 0] += 1
        }
    }

    /// False if the hash has so many entries that this one has to go to its crowd.
    private func place(_ hash: UInt32, _ ref: UInt64) -> Bool {
        var index = Int(hash) & mask
        var equalCount = 0
        while refs[index] != 0 {
            if hashes[index] == hash {
                equalCount += 1
                if equalCount == Self.crowdCount { return false }
            }
            index = (index + 1) & mask
        }
        hashes[index] = hash
        refs[index] = ref
        return true
    }

    /// Removes one entry with this hash and object, if there is one.
    mutating func remove(_ hash: UInt32, _ ref: ObjectRef) {
        var hole = Int(hash) & mask
        while refs[hole] != 0, refs[hole] != ref.rawValue || hashes[hole] != hash { hole = (hole + 1) & mask }
        guard refs[hole] != 0 else { return leaveCrowd(hash, ref) }
        count -= 1
        // Entries behind the hole move up, so that searches need no marks where something once was.
        var index = hole
        while true {
            index = (index + 1) & mask
            if refs[index] == 0 { break }
            let home = Int(hashes[index]) & mask
            if (index &- home) & mask >= (index &- hole) & mask {
                hashes[hole] = hashes[index]
                refs[hole] = refs[index]
                hole = index
            }
        }
        refs[hole] = 0
    }

    private mutating func leaveCrowd(_ hash: UInt32, _ ref: ObjectRef) {
        guard let times = crowds[hash]?[ref.rawValue] else { return }
        crowds[hash]?[ref.rawValue] = times > 1 ? times - 1 : nil
        if crowds[hash]?.isEmpty == true { crowds[hash] = nil }
    }

    private mutating func grow() {
        let (oldHashes, oldRefs, oldCapacity) = (hashes, refs, mask + 1)
        let capacity = oldCapacity * 2
        hashes = .allocate(capacity: capacity)
        hashes.initialize(repeating: 0, count: capacity)
        refs = .allocate(capacity: capacity)
        refs.initialize(repeating: 0, count: capacity)
        mask = capacity - 1
        // No hash has more entries here than it was let in with.
        for index in 0..<oldCapacity where oldRefs[index] != 0 { _ = place(oldHashes[index], oldRefs[index]) }
        oldHashes.deallocate()
        oldRefs.deallocate()
    }
}
