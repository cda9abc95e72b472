/// Entries being gathered for one index, in any order: what a transaction adds and removes, or a part of a scan.
///
/// Plain memory, since an entry is made for each row written. Used by one thread at a time; the run-time checks for
/// overlapping accesses are turned off where they would cost more than the work.
final class OrderedBatch: @unchecked Sendable {
    // Unchecked: handed from one thread to the next, never shared.
    private struct Item {
        var start: UInt32
        var count: UInt32
        var isRemoval: Bool
    }

    private struct SortKey {
        /// Eight bytes behind what all entries begin with.
        var code: UInt64
        var index: UInt32
    }

    private static let maximumByteCount = 1 << 31

    @exclusivity(unchecked) private var bytes: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var pendingStart = 0
    @exclusivity(unchecked) private var items: [Item] = []
    /// Some values are longer than the index looks at.
    private(set) var isInexact = false
    /// There are more entries than a batch takes: it is useless.
    private(set) var isOverflowing = false

    init(capacity: Int = 256) {
        self.capacity = capacity
        bytes = .allocate(capacity: capacity)
    }

    deinit {
        bytes.deallocate()
    }

    var isEmpty: Bool { items.isEmpty }
    var entryCount: Int { items.count }
    var byteCount: Int { count }

    // MARK: The entry being made

    var pendingCount: Int { count - pendingStart }

    /// Valid until the batch is changed.
    var pendingBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + pendingStart, count: pendingCount)
    }

    func reserve(_ more: Int) {
        if count + more <= capacity { return }
        capacity = max(count + more, capacity * 2)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        grown.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = grown
    }

    /// - Precondition: room was reserved; so for the other ways to put something.
    @inline(__always)
    func put(_ byte: UInt8) {
        bytes[count] = byte
        count &+= 1
    }

    @inline(__always)
    func put(_ first: UInt8, _ second: UInt8) {
        put(first)
        put(second)
    }

    @inline(__always)
    func put<T: FixedWidthInteger>(bigEndian value: T) {
        UnsafeMutableRawPointer(bytes + count).storeBytes(of: value.bigEndian, as: T.self)
        count &+= MemoryLayout<T>.size
    }

    func put(copying source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        UnsafeMutableRawPointer(bytes + count).copyMemory(from: start, byteCount: source.count)
        count += source.count
    }

    /// Turns the bits of what was put since over.
    func invert(from start: Int) {
        for index in (pendingStart + start)..<count { bytes[index] = ~bytes[index] }
    }

    /// Forgets the entry being made.
    func discard() {
        count = pendingStart
    }

    func markInexact() { isInexact = true }

    /// Ends the entry being made.
    func end(_ ref: ObjectRef, isRemoval: Bool) {
        putReference(ref.rawValue)
        guard count < Self.maximumByteCount, items.count < Int(UInt32.max) else {
            isOverflowing = true
            items = []
            (count, pendingStart) = (0, 0)
            return
        }
        items.append(Item(start: UInt32(pendingStart), count: UInt32(count - pendingStart), isRemoval: isRemoval))
        pendingStart = count
    }

    func removeAll() {
        items.removeAll(keepingCapacity: true)
        (count, pendingStart, isInexact) = (0, 0, false)
    }

    // MARK: Sorting

    private func entry(_ item: Item) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(item.start), count: Int(item.count))
    }

    /// The entries in order, each once: what is added and removed again cancels out.
    ///
    /// - Complexity: O(n log n), O(n) for entries that come in order.
    func sorted() -> OrderedList {
        let builder = OrderedListBuilder()
        var previous: UnsafeRawBufferPointer?
        var net = 0
        for key in sortKeys() {
            let item = items[Int(key.index)]
            let next = entry(item)
            if let previous, OrderedBytes.compare(previous, next) != 0 {
                builder.append(previous, net: net)
                net = 0
            }
            previous = next
            net += item.isRemoval ? -1 : 1
        }
        if let previous { builder.append(previous, net: net) }
        return builder.finish(isInexact: isInexact)
    }

    private func sortKeys() -> [SortKey] {
        guard let first = items.first else { return [] }
        var shared = Int(first.count)
        let pattern = entry(first)
        for item in items.dropFirst() where shared > 0 {
            shared = OrderedBytes.sharedCount(pattern, entry(item), limit: shared)
        }
        var keys: [SortKey] = []
        keys.reserveCapacity(items.count)
        var isSorted = true
        for (index, item) in items.enumerated() {
            let key = SortKey(code: code(item, from: shared), index: UInt32(index))
            if isSorted, let last = keys.last { isSorted = last.code < key.code }
            keys.append(key)
        }
        if isSorted { return keys }
        let bytes = UnsafeRawPointer(bytes)
        items.withUnsafeBufferPointer { items in
            keys.sort { left, right in
                if left.code != right.code { return left.code < right.code }
                let (a, b) = (items[Int(left.index)], items[Int(right.index)])
                return OrderedBytes.compare(
                    UnsafeRawBufferPointer(start: bytes + Int(a.start), count: Int(a.count)),
                    UnsafeRawBufferPointer(start: bytes + Int(b.start), count: Int(b.count))) < 0
            }
        }
        return keys
    }

    private func code(_ item: Item, from start: Int) -> UInt64 {
        let rest = Int(item.count) - start
        let base = UnsafeRawPointer(bytes + Int(item.start) + start)
        if rest >= 8 { return UInt64(bigEndian: base.loadUnaligned(as: UInt64.self)) }
        var code: UInt64 = 0
        for index in 0..<rest { code = code << 8 | UInt64(base.load(fromByteOffset: index, as: UInt8.self)) }
        return rest == 0 ? 0 : code << UInt64(8 * (8 - rest))
    }
}
