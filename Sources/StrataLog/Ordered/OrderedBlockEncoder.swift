/// Makes the bytes of one block after the other; see ``OrderedIndex/encode(into:)`` for what they are.
struct OrderedBlockEncoder {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0
    private(set) var first: [UInt8] = []
    private(set) var last: [UInt8] = []
    private var entryByteCount = 0

    init() {
        bytes.reserveCapacity(OrderedBlock.fullByteCount)
        removeAll()
    }

    var isEmpty: Bool { count == 0 }

    /// Whether a block of this size is closed.
    var isFull: Bool { count == OrderedBlock.maximumEntries || entryByteCount >= OrderedBlock.fullByteCount }

    /// - Precondition: the entry lies behind the one before.
    mutating func append(_ entry: UnsafeRawBufferPointer) {
        let shared = last.withUnsafeBytes { OrderedBytes.sharedCount($0, entry, limit: entry.count) }
        put(shared)
        put(entry.count - shared)
        let tail = UnsafeRawBufferPointer(rebasing: entry[shared...])
        bytes.append(contentsOf: tail)
        last.removeSubrange(shared...)
        last.append(contentsOf: tail)
        if count == 0 { first = last }
        count += 1
        entryByteCount += entry.count
    }

    /// Completes the block's header: then ``bytes`` are the block.
    mutating func finish() {
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: UInt16(count).littleEndian, as: UInt16.self)
            bytes.storeBytes(of: UInt32(entryByteCount).littleEndian, toByteOffset: 4, as: UInt32.self)
        }
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: repeatElement(0, count: OrderedBlockCoding.headerByteCount))
        first.removeAll(keepingCapacity: true)
        last.removeAll(keepingCapacity: true)
        (count, entryByteCount) = (0, 0)
    }

    private mutating func put(_ value: Int) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
