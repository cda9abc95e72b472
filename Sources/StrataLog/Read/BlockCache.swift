internal import CStrataSupport
internal import StrataRuntime
internal import StrataSupport
internal import Synchronization

/// Decoded blocks by location, within a budget of bytes. Thread-safe.
///
/// Eviction is S3-FIFO: a block enters a small queue, moves to the main one only if it is asked for again, and a block
/// that comes back soon after it was dropped enters the main queue at once. A scan therefore passes through the small
/// queue and drives nothing out. Repeated look-ups of one block without any other block coming in between count as one,
/// so that reading a block row by row does not make it look popular.
///
/// What is here is found without a lock (``CacheFront``, ``ReadGuard``): threads that find what they look for never
/// wait for each other. Blocks that go are released when nobody is looking at them, and come in under a lock of their
/// part of the cache.
///
/// Unchecked: the parts lie in memory that lives as long as the cache; each consists of atomic words and a lock.
package final class BlockCache: @unchecked Sendable {
    package struct Statistics: Sendable, Equatable {
        package var hits: UInt64 = 0
        package var misses: UInt64 = 0
        package var evictions: UInt64 = 0
        /// Held now, by the blocks' own estimates.
        package var byteCount = 0
        package var blockCount = 0
    }

    /// A cache is divided only if each part can hold this much.
    private static let shardMinimumBytes = 16 << 20
    private static let shardsMaximum = 8
    /// How often those who forget blocks let others run who may still look at them: for a moment, then for a
    /// millisecond each time.
    private static let yieldsMaximum = 100
    private static let pausesMaximum = 20

    package let budgetBytes: Int
    private let fronts: UnsafeMutableRawPointer
    private let shards: UnsafeMutablePointer<AdaptiveMutex<CacheQueues>>
    private let shardCount: Int
    private let counters = CacheCounters()
    /// What this cache shares with others; nil for one by itself.
    private let shared: MemoryBudget?

    /// - Parameters:
    ///   - budgetBytes: what the blocks may weigh together, by ``Block/estimatedByteCount``; 0 keeps nothing.
    ///   - shared: a budget that other caches have a part in. Whoever owns the cache registers with it.
    package init(budgetBytes: Int, sharing shared: MemoryBudget? = nil) {
        precondition(budgetBytes >= 0)
        self.budgetBytes = budgetBytes
        self.shared = shared
        var count = 1
        while count < Self.shardsMaximum, budgetBytes / (count * 2) >= Self.shardMinimumBytes { count *= 2 }
        fronts = .allocate(byteCount: count * CacheFront.stride, alignment: CacheFront.stride)
        shards = .allocate(capacity: count)
        shardCount = count
        for index in 0..<count {
            let front = (fronts + index * CacheFront.stride).bindMemory(to: CacheFront.self, capacity: 1)
            front.initialize(to: CacheFront())
            (shards + index).initialize(
                to: AdaptiveMutex(CacheQueues(budgetBytes: budgetBytes / count, front: front)))
        }
    }

    deinit {
        shards.deinitialize(count: shardCount)
        shards.deallocate()
        for index in 0..<shardCount { front(UInt64(index)).deinitialize(count: 1) }
        fronts.deallocate()
    }

    // The count is a power of two.

    @inline(__always)
    private func front(_ hash: UInt64) -> UnsafeMutablePointer<CacheFront> {
        (fronts + Int(truncatingIfNeeded: hash & UInt64(shardCount &- 1)) &* CacheFront.stride)
            .assumingMemoryBound(to: CacheFront.self)
    }

    @inline(__always)
    private func shard(_ hash: UInt64) -> UnsafeMutablePointer<AdaptiveMutex<CacheQueues>> {
        shards + Int(truncatingIfNeeded: hash & UInt64(shardCount &- 1))
    }

    // MARK: Reading

    /// The block that holds the row at `location`, if it is here. Takes no lock.
    package func get(_ location: Location) -> Block? {
        let key = location.block.rawValue
        let hash = CacheTable.hash(key)
        let reader = ReadGuard.begin()
        let block = reference(key, hash, reader)
        reader.end()
        return block?.takeRetainedValue()
    }

    /// A reference to a block, for the caller, and a use of it.
    @inline(__always)
    private func reference(_ key: UInt64, _ hash: UInt64, _ reader: ReadGuard.Reader) -> Unmanaged<Block>? {
        let front = front(hash)
        guard let found = front.pointee.find(key, hash: hash) else {
            counters.countMiss(reader)
            return nil
        }
        counters.countHit(reader)
        CacheTable.use(found.entry, tick: front.pointee.tick.load(ordering: .relaxed))
        // Not the compiler's way of taking a reference, which it may move behind the end of the reader.
        ReferenceCounts.retain(found.block)
        return .fromOpaque(found.block)
    }

    /// As ``get(_:)`` for one who reads on behalf of nobody: it counts neither as a hit nor as a use.
    func peek(_ location: Location) -> Block? {
        let key = location.block.rawValue
        let hash = CacheTable.hash(key)
        let reader = ReadGuard.begin()
        defer { reader.end() }
        guard let found = front(hash).pointee.find(key, hash: hash) else { return nil }
        ReferenceCounts.retain(found.block)
        return Unmanaged.fromOpaque(found.block).takeRetainedValue()
    }

    /// Asks the processor for where ``get(_:)`` looks.
    package func prefetchLocation(of location: Location) {
        let hash = CacheTable.hash(location.block.rawValue)
        front(hash).pointee.prefetch(hash: hash)
    }

    /// Asks the processor for the beginning of the block at `location`, if it is here: whoever takes a reference to a
    /// block that was not read for a while waits for it.
    package func prefetch(_ location: Location) {
        let key = location.block.rawValue
        let reader = ReadGuard.begin()
        prefetch(key, CacheTable.hash(key))
        reader.end()
    }

    @inline(__always)
    private func prefetch(_ key: UInt64, _ hash: UInt64) {
        guard let found = front(hash).pointee.find(key, hash: hash) else { return }
        strata_prefetch(found.block)
        strata_prefetch(found.block + 64)
    }

    /// Finds the blocks of places as far as they are here: of places of one block that follow each other, the first
    /// gets it. The look-ups wait for memory together.
    package func find(_ rows: UnsafeMutablePointer<LocatedRow>, _ count: Int) {
        @inline(__always)
        func forEach(_ body: (_ index: Int, _ key: UInt64, _ hash: UInt64) -> Void) {
            var previous = Location.absent
            for index in 0..<count {
                let block = rows[index].location.block
                if block.isAbsent || block == previous { continue }
                previous = block
                body(index, block.rawValue, CacheTable.hash(block.rawValue))
            }
        }
        forEach { _, _, hash in front(hash).pointee.prefetch(hash: hash) }
        let reader = ReadGuard.begin()
        forEach { _, key, hash in prefetch(key, hash) }
        forEach { index, key, hash in rows[index].block = reference(key, hash, reader) }
        reader.end()
    }

    // MARK: Changing

    /// Keeps the block, unless it is over the budget (of its part of the cache) by itself.
    ///
    /// - Returns: The block to use: the one that was here already if another thread was faster.
    @discardableResult
    package func insert(_ block: Block) -> Block {
        let key = block.location.block.rawValue
        let hash = CacheTable.hash(key)
        var allowance = Int.max
        if let share = shared?.allowance(adding: block.estimatedByteCount) { allowance = share / shardCount }
        let (kept, change, free) = shard(hash).pointee.withLock { queues in
            let before = queues.heldBytes
            let kept = queues.insert(block, key: key, hash: hash, allowance: allowance)
            return (kept, queues.heldBytes - before, queues.reclaim(isUrgent: false))
        }
        shared?.record(change)
        free.free()
        return kept
    }

    /// Forgets the blocks of a segment.
    /// - Complexity: O(blocks held).
    package func removeAll(segment: UInt32) {
        remove { key, _ in Location(rawValue: key).segment == segment }
    }

    /// Forgets the blocks of segments that were retired, and those that keep segments of earlier epochs open.
    /// - Complexity: O(blocks held).
    func removeRetired(_ segments: SegmentSet) {
        remove { key, block in
            segments.contains(location: key) || block?.withBorrowed { $0.isPinned } == true
        }
    }

    package func removeAll() {
        remove { _, _ in true }
    }

    private func remove(where isUnwanted: @Sendable (_ key: UInt64, _ block: Unmanaged<Block>?) -> Bool) {
        removeFromParts { $0.remove(where: isUnwanted) }
    }

    /// Forgets blocks that were neither found nor put in since the last call.
    ///
    /// - Complexity: O(blocks held).
    func removeUnused() {
        removeFromParts { $0.removeUnused() }
    }

    /// Forgets blocks until the others weigh no more than this.
    func shrink(to byteCount: Int) {
        let part = max(0, byteCount) / shardCount
        removeFromParts { $0.shrink(to: part) }
    }

    private func removeFromParts(_ remove: @Sendable (inout CacheQueues) -> Void) {
        for index in 0..<shardCount {
            let change = shards[index].withLock { queues in
                let before = queues.heldBytes
                remove(&queues)
                return queues.heldBytes - before
            }
            shared?.record(change)
            // What somebody still looks at is mostly free a moment later. If not, it goes with what comes in next.
            for turn in 0..<Self.yieldsMaximum + Self.pausesMaximum {
                if turn >= Self.yieldsMaximum { strata_pause_briefly() } else if turn > 0 { strata_yield() }
                let (free, isDone) = shards[index].withLock { ($0.reclaim(isUrgent: true), !$0.hasRetired) }
                free.free()
                if isDone { break }
            }
        }
    }

    /// What the blocks weigh.
    package var heldBytes: Int {
        (0..<shardCount).reduce(0) { sum, index in sum + shards[index].withLock { $0.heldBytes } }
    }

    /// How often blocks were asked for.
    var lookUps: UInt64 { counters.sums.hits &+ counters.sums.misses }

    package var statistics: Statistics {
        var sum = Statistics()
        (sum.hits, sum.misses) = counters.sums
        for index in 0..<shardCount {
            let (evictions, bytes, blocks) = shards[index].withLock { ($0.evictions, $0.heldBytes, $0.blockCount) }
            sum.evictions += evictions
            sum.byteCount += bytes
            sum.blockCount += blocks
        }
        return sum
    }
}
