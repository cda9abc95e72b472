internal import StrataSupport

/// From hashes to the objects whose values have them: an open-addressing table of 12 bytes an entry.
///
/// It keeps no values: who finds an object under a hash reads its row to see whether the values are equal.
struct UniqueTable: ~Copyable {
    private var hashes: UnsafeMutablePointer<UInt32>
    /// 0 where the entry is free.
    private var refs: UnsafeMutablePointer<UInt64>
    private var capacity: Int
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
        self.capacity = capacity
    }

    deinit {
        hashes.deallocate()
        refs.deallocate()
    }

    var memoryByteCount: Int { capacity * 12 + crowds.values.reduce(0) { $0 + $1.count * 16 } }

    private var probing: Probing { Probing(capacity: capacity) }

    private func home(_ hash: UInt32) -> Int { probing.home(UInt64(hash)) }

    /// Calls `body` with each object under the hash until it returns false.
    func forEach(_ hash: UInt32, _ body: (ObjectRef) throws(StoreError) -> Bool) throws(StoreError) {
        let last = try probing.first(from: home(hash)) { (index) throws(StoreError) in
            if refs[index] == 0 { return true }
            if hashes[index] != hash { return false }
            return try !body(ObjectRef(rawValue: refs[index]))
        }
        if refs[last] != 0 { return }
        guard !crowds.isEmpty, let crowd = crowds[hash] else { return }
        for ref in crowd.keys {
            if try !body(ObjectRef(rawValue: ref)) { return }
        }
    }

    mutating func insert(_ hash: UInt32, _ ref: ObjectRef) {
        if (count + 1) * 3 > capacity * 2 { grow() }
        if place(hash, ref.rawValue) {
            count += 1
        } else {
            crowds[hash, default: [:]][ref.rawValue, default: 0] += 1
        }
    }

    /// False if the hash has so many entries that this one has to go to its crowd.
    private func place(_ hash: UInt32, _ ref: UInt64) -> Bool {
        var equalCount = 0
        let index = probing.first(from: home(hash)) { index in
            if refs[index] == 0 { return true }
            if hashes[index] == hash { equalCount += 1 }
            return equalCount == Self.crowdCount
        }
        if refs[index] != 0 { return false }
        hashes[index] = hash
        refs[index] = ref
        return true
    }

    /// Removes one entry with this hash and object, if there is one.
    mutating func remove(_ hash: UInt32, _ ref: ObjectRef) {
        let (hashes, refs) = (hashes, refs)
        let found = probing.first(from: home(hash)) { index in
            refs[index] == 0 || refs[index] == ref.rawValue && hashes[index] == hash
        }
        guard refs[found] != 0 else { return leaveCrowd(hash, ref) }
        count -= 1
        let hole = probing.close(found) { index in
            refs[index] == 0 ? nil : home(hashes[index])
        } move: { source, target in
            hashes[target] = hashes[source]
            refs[target] = refs[source]
        }
        refs[hole] = 0
    }

    private mutating func leaveCrowd(_ hash: UInt32, _ ref: ObjectRef) {
        guard let times = crowds[hash]?[ref.rawValue] else { return }
        crowds[hash]?[ref.rawValue] = times > 1 ? times - 1 : nil
        if crowds[hash]?.isEmpty == true { crowds[hash] = nil }
    }

    private mutating func grow() {
        let (oldHashes, oldRefs, oldCapacity) = (hashes, refs, capacity)
        capacity = oldCapacity * 2
        hashes = .allocate(capacity: capacity)
        hashes.initialize(repeating: 0, count: capacity)
        refs = .allocate(capacity: capacity)
        refs.initialize(repeating: 0, count: capacity)
        // No hash has more entries here than it was let in with.
        for index in 0..<oldCapacity where oldRefs[index] != 0 { _ = place(oldHashes[index], oldRefs[index]) }
        oldHashes.deallocate()
        oldRefs.deallocate()
    }
}
