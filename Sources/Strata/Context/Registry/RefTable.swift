import CStrataSupport
import StrataLog
import StrataSupport

/// An open-addressing table from object references to unretained objects.
///
/// References that follow each other lie beside each other, four to a cache line: objects are mostly made, found, saved
/// and released in the order of their keys, and a table of a million objects is in no cache.
struct RefTable: ~Copyable {
    private struct Entry {
        var key: UInt64
        var object: UnsafeMutableRawPointer?
    }

    /// So that four entries are one line of the processor's caches.
    private static let lineBytes = 64

    /// The one free entry of all tables that nothing was ever put into: many contexts live for one request.
    private nonisolated(unsafe) static let none = allocate(1)
    /// Many contexts have few objects.
    private static let initialCapacity = 16
    /// Tables of so many entries begin where the heap has room: one that is aligned costs as much as filling it.
    private static let unalignedMaximum = 64

    private var entries: UnsafeMutablePointer<Entry>
    private var mask: Int
    private(set) var count = 0
    /// How many entries have a key: also those whose objects have been removed while others lay behind them.
    private var used = 0

    init() {
        entries = Self.none
        mask = 0
    }

    deinit {
        if mask > 0 { entries.deallocate() }
    }

    private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: capacity * MemoryLayout<Entry>.stride,
            alignment: capacity <= unalignedMaximum ? MemoryLayout<Entry>.alignment : lineBytes)
        let entries = bytes.bindMemory(to: Entry.self, capacity: capacity)
        entries.initialize(repeating: Entry(key: 0, object: nil), count: capacity)
        return entries
    }

    @inline(__always)
    private var probing: Probing { Probing(capacity: capacity) }

    /// Where a key's search begins. References are never 0, which marks a free entry.
    @inline(__always)
    private func home(_ key: UInt64) -> Int {
        let line = Hashing.spread(key &>> 2) &>> 20
        return probing.home(line &<< 2 | key & 3)
    }

    @inline(__always)
    private func find(_ key: UInt64) -> Int {
        let entries = entries
        return probing.first(from: home(key)) { entries[$0].key == key || entries[$0].key == 0 }
    }

    func object(_ ref: ObjectRef) -> UnsafeMutableRawPointer? {
        entries[find(ref.rawValue)].object
    }

    /// Asks the processor for where a search begins.
    func prefetch(_ ref: ObjectRef) {
        strata_prefetch(entries + home(ref.rawValue))
    }

    /// Asks the processor for where objects that follow in the order of their references are going to be.
    @inline(__always)
    func prefetchNext(_ ref: ObjectRef) {
        strata_prefetch(entries + home(ref.rawValue &+ Self.refsAhead))
    }

    private static let refsAhead: UInt64 = 16

    /// Sets the object, replacing what was there.
    mutating func set(_ ref: ObjectRef, _ object: UnsafeMutableRawPointer) {
        var index = find(ref.rawValue)
        if entries[index].key == 0 {
            if (used + 1) * 3 > (mask + 1) * 2 {
                // Where most have been removed, the others have room enough.
                grow(to: max(count * 3 > mask + 1 ? (mask + 1) * 2 : mask + 1, Self.initialCapacity))
                index = find(ref.rawValue)
            }
            used += 1
        }
        if entries[index].object == nil { count += 1 }
        entries[index] = Entry(key: ref.rawValue, object: object)
    }

    /// Removes the entry if it still holds this object: a dying object may already have been replaced.
    mutating func remove(_ ref: ObjectRef, _ object: UnsafeMutableRawPointer) {
        _ = take(ref, object)
    }

    /// As ``remove(_:_:)``; returns whether the entry held this object.
    @inline(__always)
    mutating func take(_ ref: ObjectRef, _ object: UnsafeMutableRawPointer) -> Bool {
        let index = find(ref.rawValue)
        guard entries[index].object == object else { return false }
        clear(index)
        return true
    }

    /// Removes the object of an entry.
    ///
    /// Searches for what lies behind it still pass the entry, which keeps its key. When nothing lies behind it any
    /// more, it is free, and so are those before it that were only passed: objects mostly go in the order in which they
    /// came, and then nothing has to be moved.
    @inline(__always)
    private mutating func clear(_ position: Int) {
        var index = position
        count -= 1
        entries[index].object = nil
        if entries[(index + 1) & mask].key != 0 { return }
        repeat {
            entries[index].key = 0
            used -= 1
            index = (index &- 1) & mask
        } while entries[index].object == nil && entries[index].key != 0
    }

    /// Removes some entries, hands each to the body, and returns how many there were: less than `limit` only if the
    /// table is empty then. `cursor` is where the next call goes on.
    mutating func takeSome(
        _ limit: Int, from cursor: inout Int, _ body: (ObjectRef, UnsafeMutableRawPointer) -> Void
    ) -> Int {
        var taken = 0
        cursor &= mask
        while count > 0, taken < limit {
            let entry = entries[cursor]
            if let object = entry.object {
                clear(cursor)
                body(ObjectRef(rawValue: entry.key), object)
                taken += 1
            }
            cursor = (cursor + 1) & mask
        }
        return taken
    }

    var capacity: Int { mask + 1 }

    /// Empties the table, which keeps its size.
    ///
    /// - Complexity: O(capacity)
    mutating func removeAll() {
        if used == 0 { return }
        entries.update(repeating: Entry(key: 0, object: nil), count: mask + 1)
        (count, used) = (0, 0)
    }

    mutating func reserve(_ additional: Int) {
        var capacity = max(mask + 1, Self.initialCapacity)
        while (count + additional) * 3 > capacity * 2 { capacity *= 2 }
        if capacity > mask + 1 || (used + additional) * 3 > capacity * 2 { grow(to: capacity) }
    }

    /// Gives the entries whose objects are there other memory.
    private mutating func grow(to capacity: Int) {
        let old = entries
        let oldCapacity = mask + 1
        entries = Self.allocate(capacity)
        mask = capacity - 1
        used = count
        for index in 0..<oldCapacity where old[index].object != nil { entries[find(old[index].key)] = old[index] }
        if oldCapacity > 1 { old.deallocate() }
    }

    func forEach(_ body: (UnsafeMutableRawPointer) -> Void) {
        if count == 0 { return }
        for index in 0...mask {
            if let object = entries[index].object { body(object) }
        }
    }
}
