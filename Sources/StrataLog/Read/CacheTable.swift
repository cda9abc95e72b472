internal import CStrataSupport
internal import StrataSupport
internal import Synchronization

/// A hash table from block keys to blocks and node numbers that is read without a lock: open addressing in entries of
/// 24 bytes, linear probing. What a look-up needs lies in the entry: it touches no node.
///
/// An entry never changes its key, so that a reader which has found the key has the entry of that key, whatever happens
/// meanwhile; what is removed leaves an entry without a block. When the entries are used up, those that are still
/// needed go into a new table, and the old one is freed when nobody reads it any more (``ReadGuard``).
///
/// This is the address of a table, with its size in the lowest bits: a reader takes both in one piece. Whoever writes
/// holds the lock of ``CacheQueues``.
struct CacheTable {
    struct Entry: ~Copyable {
        /// 0 for a free entry: no block is at the absent location.
        let key = Atomic<UInt64>(0)
        /// The node's, without a reference; 0 when only the memory of a block is left, or nothing.
        let block = Atomic<UInt>(0)
        /// When the block was last counted as used, and how often: see ``CacheTable/use(_:tick:)``.
        let mark = Atomic<UInt32>(0)
        /// Guarded by the lock; ``CacheTable/noNode`` for an entry that is no longer needed.
        var node: UInt32
    }

    static let noNode = UInt32.max
    static let usesMaximum: UInt32 = 3
    private static let usesBits: UInt32 = 2
    private static let minimumBits = 6
    /// The size lies in the bits of the address that its alignment leaves.
    private static let alignment = 64

    let word: UInt

    /// Makes an empty table with room for so many entries, and as many again.
    init(room: Int) {
        var bits = Self.minimumBits
        while 1 << bits < room * 2 { bits += 1 }
        let count = 1 << bits
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: count * MemoryLayout<Entry>.stride, alignment: Self.alignment)
        let entries = memory.bindMemory(to: Entry.self, capacity: count)
        for index in 0..<count { (entries + index).initialize(to: Entry(node: Self.noNode)) }
        word = UInt(bitPattern: memory) | UInt(bits)
    }

    @inline(__always)
    init(word: UInt) { self.word = word }

    func deallocate() {
        // Entries are words: there is nothing to be deinitialised.
        UnsafeMutableRawPointer(entries).deallocate()
    }

    @inline(__always)
    var entries: UnsafeMutablePointer<Entry> {
        // SAFETY: an address that `init(room:)` has bound, without the bits that its alignment leaves zero.
        UnsafeMutableRawPointer(bitPattern: word & ~UInt(Self.alignment - 1)).unsafelyUnwrapped
            .assumingMemoryBound(to: Entry.self)
    }

    @inline(__always)
    var capacity: Int { 1 &<< Int(word & UInt(Self.alignment - 1)) }

    /// Whether another key has room.
    func hasRoom(_ used: Int) -> Bool { (used + 1) * 4 <= capacity * 3 }

    /// Spreads a location over 64 bits. The lowest choose a shard, the upper half the table entry.
    @inline(__always)
    static func hash(_ key: UInt64) -> UInt64 {
        let mixed = Hashing.spread(key ^ key >> 29)
        return mixed ^ mixed >> 32
    }

    @inline(__always)
    private var probing: Probing { Probing(capacity: capacity) }

    @inline(__always)
    private func home(_ hash: UInt64) -> Int {
        probing.home(hash >> 24)
    }

    /// The key's entry.
    @inline(__always)
    func find(_ key: UInt64, hash: UInt64) -> UnsafeMutablePointer<Entry>? {
        let entries = entries
        var found: UInt64 = 0
        let index = probing.first(from: home(hash)) { index in
            found = (entries + index).pointee.key.load(ordering: .relaxed)
            return found == key || found == 0
        }
        return found == 0 ? nil : entries + index
    }

    /// Asks the processor for where a look-up begins.
    @inline(__always)
    func prefetch(hash: UInt64) {
        strata_prefetch(entries + home(hash))
    }

    /// A new entry for a key, with no block yet. Returns its index.
    ///
    /// - Precondition: the key is not 0 and not in the table, which has room.
    func insert(_ key: UInt64, hash: UInt64, node: UInt32) -> Int {
        let index = probing.first(from: home(hash)) { entries[$0].key.load(ordering: .relaxed) == 0 }
        entries[index].node = node
        // A reader that finds the key finds the entry as it was initialised: its words are atomic, too.
        entries[index].key.store(key, ordering: .relaxed)
        return index
    }

    // MARK: Uses

    /// Counts a use, once between two ticks. What several threads count at a time may count as one.
    @inline(__always)
    static func use(_ entry: UnsafeMutablePointer<Entry>, tick: UInt32) {
        let mark = entry.pointee.mark.load(ordering: .relaxed)
        if mark &>> usesBits == tick { return }
        let uses = min((mark & usesMaximum) &+ 1, usesMaximum)
        entry.pointee.mark.store(tick &<< usesBits | uses, ordering: .relaxed)
    }

    /// What ``use(_:tick:)`` has counted since it was last set.
    static func uses(_ entry: UnsafeMutablePointer<Entry>) -> UInt32 {
        entry.pointee.mark.load(ordering: .relaxed) & usesMaximum
    }

    static func setUses(_ entry: UnsafeMutablePointer<Entry>, _ uses: UInt32) {
        let mark = entry.pointee.mark.load(ordering: .relaxed)
        entry.pointee.mark.store(mark & ~usesMaximum | uses, ordering: .relaxed)
    }

    /// A use in the tick in which the block came in is the one that it came in for.
    static func begin(_ entry: UnsafeMutablePointer<Entry>, tick: UInt32) {
        entry.pointee.mark.store(tick &<< usesBits, ordering: .relaxed)
    }

    /// When it was used last, or came in.
    static func tick(_ entry: UnsafeMutablePointer<Entry>) -> UInt32 {
        entry.pointee.mark.load(ordering: .relaxed) &>> usesBits
    }

    /// How many ticks came after one up to another.
    static func distance(from earlier: UInt32, to later: UInt32) -> UInt32 { (later &- earlier) & (.max >> usesBits) }

    /// As many ticks are told apart.
    static func tick(after tick: UInt32) -> UInt32 { (tick &+ 1) & (.max >> usesBits) }
}
