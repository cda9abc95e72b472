internal import Synchronization

/// The part of postings that lies in the checkpoint file: sorted pairs in packed blocks, each loaded on first touch.
///
/// Immutable and safe to use from any thread.
final class PostingsBase: @unchecked Sendable {
    // Unchecked: `slots` is raw memory, of which only the slots change, atomically, from 0 to a loaded block.

    /// What the directory says of one block.
    struct Entry {
        var first: PostingPair
        var offset: Int64
        var byteCount: UInt16
        var pairCount: UInt16
        var checksum: UInt32
        /// Pairs in the blocks before.
        var pairsBefore: Int
    }

    let entries: [Entry]
    let pairCount: Int
    let source: (any PageSource)?
    private let slots: UnsafeMutablePointer<Atomic<UInt>>
    private let loadedByteCount = Atomic<Int>(0)

    /// - Precondition: entries ascend and their offsets are those of the source.
    init(_ entries: [Entry], pairCount: Int, source: (any PageSource)?) {
        self.entries = entries
        self.pairCount = pairCount
        self.source = source
        slots = .allocate(capacity: entries.count)
        for index in entries.indices { (slots + index).initialize(to: Atomic(0)) }
    }

    deinit {
        for index in entries.indices {
            UnsafeMutableRawPointer(bitPattern: slots[index].load(ordering: .acquiring))?.deallocate()
        }
        slots.deallocate()
    }

    var memoryByteCount: Int {
        entries.count * (MemoryLayout<Entry>.stride + 8) + loadedByteCount.load(ordering: .relaxed)
    }

    /// A block's packed bytes, valid as long as the base.
    @inline(__always)
    func block(_ index: Int) throws(StoreError) -> PostingsBlock {
        if let loaded = UnsafeRawPointer(bitPattern: slots[index].load(ordering: .acquiring)) {
            return PostingsBlock(loaded)
        }
        return try load(index)
    }

    @inline(never)
    private func load(_ index: Int) throws(StoreError) -> PostingsBlock {
        let byteCount = Int(entries[index].byteCount)
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: byteCount + PostingsBlock.slackByteCount, alignment: 8)
        do throws(StoreError) {
            try read(index, into: bytes)
        } catch {
            bytes.deallocate()
            throw error
        }
        guard let start = bytes.baseAddress else { preconditionFailure("a block has bytes") }
        let result = slots[index].compareExchange(
            expected: 0, desired: UInt(bitPattern: start), ordering: .acquiringAndReleasing)
        if result.exchanged {
            loadedByteCount.wrappingAdd(byteCount, ordering: .relaxed)
            return PostingsBlock(start)
        }
        bytes.deallocate()
        guard let winner = UnsafeRawPointer(bitPattern: result.original) else {
            preconditionFailure("a published block went away")
        }
        return PostingsBlock(winner)
    }

    /// Reads and verifies a block. The buffer holds the block and the slack after it.
    func read(_ index: Int, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) {
        guard let source else { preconditionFailure("a base with blocks has a source") }
        let entry = entries[index]
        let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(entry.byteCount)])
        UnsafeMutableRawBufferPointer(rebasing: buffer[Int(entry.byteCount)...]).initializeMemory(
            as: UInt8.self, repeating: 0)
        try source.read(into: bytes, at: entry.offset)
        let found = PageChecksum.of(UnsafeRawBufferPointer(bytes), key: entry.first.target, entry.first.referrer)
        guard found == entry.checksum else {
            throw source.damaged(
                "a block of postings has checksum \(found), expected \(entry.checksum)", offset: entry.offset)
        }
        guard PostingsBlock.isValid(UnsafeRawBufferPointer(bytes)), let start = bytes.baseAddress else {
            throw source.damaged("a block of postings is malformed", offset: entry.offset)
        }
        let block = PostingsBlock(start)
        let isLast = index + 1 == entries.count
        guard block.count == Int(entry.pairCount), block[0] == entry.first,
            isLast || block[block.count - 1] < entries[index + 1].first
        else {
            throw source.damaged("a block of postings is not what the directory says", offset: entry.offset)
        }
    }

    /// The position of the first pair whose target is not below `target`: index `pair` of block `block`, which may be
    /// just after the block's last.
    struct Position {
        var block: Int
        var pair: Int
        /// Pairs before it in the whole base.
        var rank: Int
    }

    /// - Complexity: O(log n); looks into one block at most.
    func lowerBound(target: UInt64) throws(StoreError) -> Position {
        var low = 0
        var count = entries.count
        let key = PostingPair(target, 0)
        entries.withUnsafeBufferPointer { entries in
            while count > 0 {
                let half = count >> 1
                let isBelow = entries[low + half].first < key
                low = isBelow ? low + half + 1 : low
                count = isBelow ? count - half - 1 : half
            }
        }
        guard low > 0 else { return Position(block: 0, pair: 0, rank: 0) }
        let index = low - 1
        let pair = try block(index).lowerBound(target: target)
        return Position(block: index, pair: pair, rank: entries[index].pairsBefore + pair)
    }

    /// The position after the target's last pair.
    func upperBound(target: UInt64) throws(StoreError) -> Position {
        if target < .max { return try lowerBound(target: target + 1) }
        return Position(block: entries.count, pair: 0, rank: pairCount)
    }

    /// Pairs of a target.
    ///
    /// - Complexity: O(log n), whatever the number.
    func count(of target: UInt64) throws(StoreError) -> Int {
        guard !entries.isEmpty, entries[0].first.target <= target else { return 0 }
        return try upperBound(target: target).rank - lowerBound(target: target).rank
    }

    /// Calls the body with the target's referrers, ascending; false stops. Returns false when stopped.
    func forEachReferrer(
        of target: UInt64, _ body: (UInt64) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        guard !entries.isEmpty, entries[0].first.target <= target else { return true }
        let start = try lowerBound(target: target)
        var first = start.pair
        for index in start.block..<entries.count {
            if entries[index].first.target > target { break }
            let block = try block(index)
            // Only the last block of the target's can hold others after it.
            let goesOn = index + 1 < entries.count && entries[index + 1].first.target == target
            let end = goesOn || target == .max ? block.count : block.lowerBound(target: target + 1)
            while first < end {
                if try !body(block.referrer(first)) { return false }
                first += 1
            }
            first = 0
        }
        return true
    }
}
