internal import StrataIO
internal import StrataSupport

/// Entries in order, in blocks: all in memory, or in a checkpoint file and read a block at a time. Immutable.
final class OrderedList: @unchecked Sendable {
    // Unchecked: constant but for what `resident` guards.

    /// Where blocks of a checkpoint file lie.
    struct Directory {
        struct Entry {
            var offset: Int64
            var byteCount: UInt32
            var count: UInt16
            var checksum: UInt32
            /// Of its first entry in `keys`.
            var keyStart: Int
            var keyCount: UInt32
        }

        var entries: [Entry] = []
        var keys: [UInt8] = []
        var lastKey: [UInt8] = []
        var digest: UInt64
        var source: any PageSource
    }

    /// Blocks of the file that are in memory.
    private struct Resident {
        var blocks: [OrderedBlock?]
        /// Indexes of those that are, in the order in which they were read.
        var queue: [Int] = []
        var first = 0
        var byteCount = 0
    }

    /// As much of a checkpoint's blocks stays in memory, decoded, unless something else is asked for.
    static let residentMaximumByteCount = 32 << 20

    static let empty = OrderedList([], isInexact: false)

    /// Nil for a list in a file.
    private let blocks: [OrderedBlock]?
    let directory: Directory?
    private let resident: AdaptiveMutex<Resident>
    private let residentMaximumByteCount: Int
    let blockCount: Int
    let entryCount: Int
    /// Additions less removals.
    let netCount: Int
    /// Additions less removals in the blocks before each.
    private let netBefore: [Int]
    /// Some values are longer than the index looks at, so that the order of their entries is not that of the values.
    let isInexact: Bool

    init(_ blocks: [OrderedBlock], isInexact: Bool) {
        self.blocks = blocks
        directory = nil
        resident = AdaptiveMutex(Resident(blocks: []))
        residentMaximumByteCount = 0
        blockCount = blocks.count
        self.isInexact = isInexact
        var (entries, net) = (0, 0)
        var before: [Int] = []
        before.reserveCapacity(blocks.count)
        for block in blocks {
            before.append(net)
            entries += block.count
            net += block.netCount
        }
        (entryCount, netCount, netBefore) = (entries, net, before)
    }

    /// - Parameter residentMaximumByteCount: as much of the blocks stays in memory, decoded; the newest one always
    ///   does.
    init(_ directory: Directory, isInexact: Bool, residentMaximumByteCount: Int = residentMaximumByteCount) {
        self.residentMaximumByteCount = residentMaximumByteCount
        blocks = nil
        self.directory = directory
        resident = AdaptiveMutex(Resident(blocks: Array(repeating: nil, count: directory.entries.count)))
        blockCount = directory.entries.count
        self.isInexact = isInexact
        var net = 0
        var before: [Int] = []
        before.reserveCapacity(directory.entries.count)
        for entry in directory.entries {
            before.append(net)
            net += Int(entry.count)
        }
        (entryCount, netCount, netBefore) = (net, net, before)
    }

    var isEmpty: Bool { blockCount == 0 }

    var memoryByteCount: Int {
        if let blocks { return blocks.reduce(0) { $0 + $1.memoryByteCount } }
        guard let directory else { return 0 }
        return directory.keys.count + directory.entries.count * (MemoryLayout<Directory.Entry>.stride + 16)
            + resident.withLock { $0.byteCount }
    }

    // MARK: Blocks

    /// - Throws: `.io` or `.corruption` when the block has to be read and cannot be.
    func block(_ index: Int) throws(StoreError) -> OrderedBlock {
        if let blocks { return blocks[index] }
        if let block = resident.withLock({ $0.blocks[index] }) { return block }
        let block = try readBlock(index)
        resident.withLock { resident in
            guard resident.blocks[index] == nil else { return }
            resident.blocks[index] = block
            resident.queue.append(index)
            resident.byteCount += block.memoryByteCount
            while resident.byteCount > residentMaximumByteCount, resident.first + 1 < resident.queue.count {
                let oldest = resident.queue[resident.first]
                resident.first += 1
                resident.byteCount -= resident.blocks[oldest]?.memoryByteCount ?? 0
                resident.blocks[oldest] = nil
            }
            if resident.first > resident.blocks.count {
                resident.queue.removeFirst(resident.first)
                resident.first = 0
            }
        }
        return block
    }

    /// Hands out the first entry of a block without reading the block.
    @inline(__always)
    private func withFirst<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let blocks { return body(blocks[index].entry(0)) }
        guard let directory else { preconditionFailure("a list is in memory or in a file") }
        let entry = directory.entries[index]
        return directory.keys.withUnsafeBytes {
            body(UnsafeRawBufferPointer(rebasing: $0[entry.keyStart..<entry.keyStart + Int(entry.keyCount)]))
        }
    }

    func firstKey(_ index: Int) -> [UInt8] { withFirst(index) { Array($0) } }

    /// Whether entries may lie in a range. Reads nothing.
    func mayMeet(_ lower: UnsafeRawBufferPointer, _ upper: UnsafeRawBufferPointer?) -> Bool {
        guard blockCount > 0 else { return false }
        if let upper, withFirst(0, { OrderedBytes.compare($0, upper) >= 0 }) { return false }
        if let last = blocks?.last { return OrderedBytes.compare(last.entry(last.count - 1), lower) >= 0 }
        return directory?.lastKey.withUnsafeBytes { OrderedBytes.compare($0, lower) >= 0 } ?? false
    }

    // MARK: Searching

    struct Position {
        var block: Int
        var index: Int
    }

    /// Where the first entry lies that is not before `key`; the block after the last when there is none.
    ///
    /// - Complexity: O(log n); looks into one block.
    func lowerBound(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Position {
        // The number of blocks whose first entry lies before the key.
        var low = 0
        var rest = blockCount
        while rest > 0 {
            let half = rest >> 1
            let middle = low + half
            if withFirst(middle, { OrderedBytes.compare($0, key) < 0 }) {
                low = middle + 1
                rest -= half + 1
            } else {
                rest = half
            }
        }
        if low == 0 { return Position(block: 0, index: 0) }
        let block = try block(low - 1)
        let index = block.lowerBound(key)
        return index < block.count ? Position(block: low - 1, index: index) : Position(block: low, index: 0)
    }

    /// How many blocks come before the first of which something does not hold: it holds of none behind that.
    ///
    /// - Complexity: O(log n) questions.
    func blockCount(where holds: (Int) throws(StoreError) -> Bool) throws(StoreError) -> Int {
        var low = 0
        var rest = blockCount
        while rest > 0 {
            let half = rest >> 1
            if try holds(low + half) {
                low += half + 1
                rest -= half + 1
            } else {
                rest = half
            }
        }
        return low
    }

    /// Where the first entry lies that begins with some bytes; nil when none does.
    ///
    /// - Complexity: O(log n); reads no block unless the bytes lie between two entries.
    func position(ofPrefix prefix: UnsafeRawBufferPointer) throws(StoreError) -> Position? {
        guard mayMeet(prefix, nil) else { return nil }
        let position = try lowerBound(prefix)
        guard position.block < blockCount else { return nil }
        if position.index == 0 {
            return withFirst(position.block, { OrderedBytes.begins($0, with: prefix) }) ? position : nil
        }
        let block = try block(position.block)
        // Another thread may take the block's place in memory meanwhile.
        return withExtendedLifetime(block) {
            OrderedBytes.begins(block.entry(position.index), with: prefix) ? position : nil
        }
    }

    /// Additions less removals before a key.
    func netCount(before key: UnsafeRawBufferPointer) throws(StoreError) -> Int {
        let position = try lowerBound(key)
        guard position.block < blockCount else { return netCount }
        if position.index == 0 { return netBefore[position.block] }
        return try netBefore[position.block] + block(position.block).netCount(before: position.index)
    }
}

/// Makes a list of entries that come in order.
final class OrderedListBuilder {
    // A builder belongs to who builds, and no access calls out: the run-time checks for overlapping accesses are
    // turned off.
    @exclusivity(unchecked) private var blocks: [OrderedBlock] = []
    @exclusivity(unchecked) private var offsets: [UInt32] = [0]
    @exclusivity(unchecked) private var removals: [Bool] = []
    @exclusivity(unchecked) private var hasRemovals = false
    @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var capacity = OrderedBlock.fullByteCount * 2
    @exclusivity(unchecked) private var count = 0

    init() {
        bytes = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit {
        bytes.deallocate()
    }

    /// - Parameter net: how often it is added less how often it is removed; 0 leaves it out.
    func append(_ entry: UnsafeRawBufferPointer, net: Int) {
        if net == 0 { return }
        if count + entry.count > capacity {
            let grown = UnsafeMutableRawPointer.allocate(byteCount: (count + entry.count) * 2, alignment: 8)
            grown.copyMemory(from: bytes, byteCount: count)
            bytes.deallocate()
            bytes = grown
            capacity = (count + entry.count) * 2
        }
        if let start = entry.baseAddress { (bytes + count).copyMemory(from: start, byteCount: entry.count) }
        count += entry.count
        offsets.append(UInt32(count))
        if net < 0 {
            if !hasRemovals { removals = Array(repeating: false, count: offsets.count - 2) }
            hasRemovals = true
        }
        if hasRemovals { removals.append(net < 0) }
        if offsets.count > OrderedBlock.maximumEntries || count >= OrderedBlock.fullByteCount { close() }
    }

    /// Takes a block over as it is.
    func append(_ block: OrderedBlock) {
        close()
        blocks.append(block)
    }

    private func close() {
        guard offsets.count > 1 else { return }
        blocks.append(
            OrderedBlock(
                offsets: offsets, bytes: UnsafeRawBufferPointer(start: bytes, count: count),
                removals: hasRemovals ? removals : nil))
        offsets.removeAll(keepingCapacity: true)
        offsets.append(0)
        removals.removeAll(keepingCapacity: true)
        hasRemovals = false
        count = 0
    }

    func finish(isInexact: Bool) -> OrderedList {
        close()
        defer { blocks = [] }
        return OrderedList(blocks, isInexact: isInexact)
    }
}
