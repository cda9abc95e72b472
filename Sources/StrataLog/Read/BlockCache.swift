internal import CStrataSupport
internal import Synchronization

/// Decoded blocks by location, within a budget of bytes. Thread-safe.
///
/// Eviction is S3-FIFO: a block enters a small queue, moves to the main one only if it is asked for again, and a block
/// that comes back soon after it was dropped enters the main queue at once. A scan therefore passes through the small
/// queue and drives nothing out. Repeated look-ups of one block without any other block coming in between count as one,
/// so that reading a block row by row does not make it look popular.
///
/// Unchecked: the shards lie in memory that lives as long as the cache, so that a look-up retains nothing but the
/// block; each is a mutex.
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

    package let budgetBytes: Int
    private let shards: UnsafeMutablePointer<Mutex<CacheQueues>>
    private let shardCount: Int

    /// - Parameter budgetBytes: what the blocks may weigh together, by ``Block/estimatedByteCount``; 0 keeps nothing.
    package init(budgetBytes: Int) {
        precondition(budgetBytes >= 0)
        self.budgetBytes = budgetBytes
        var count = 1
        while count < Self.shardsMaximum, budgetBytes / (count * 2) >= Self.shardMinimumBytes { count *= 2 }
        shards = .allocate(capacity: count)
        for index in 0..<count { (shards + index).initialize(to: Mutex(CacheQueues(budgetBytes: budgetBytes / count))) }
        shardCount = count
    }

    deinit {
        shards.deinitialize(count: shardCount)
        shards.deallocate()
    }

    @inline(__always)
    private func shard(_ hash: UInt64) -> UnsafeMutablePointer<Mutex<CacheQueues>> {
        // The count is a power of two.
        shards + Int(truncatingIfNeeded: hash & UInt64(shardCount - 1))
    }

    @inline(__always)
    func shardNumber(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash & UInt64(shardCount - 1)) }

    /// Runs the body with a part of the cache, whose lock is held meanwhile.
    @inline(__always)
    func withShard(_ number: Int, _ body: (inout CacheQueues) -> Void) {
        // withLock would want what the body works on to be Sendable.
        shards[number].withLock { body(&$0) }
    }

    /// The block that holds the row at `location`, if it is here.
    package func get(_ location: Location) -> Block? {
        let key = location.block.rawValue
        let hash = CacheTable.hash(key)
        return shard(hash).pointee.withLock { $0.get(key, hash: hash) }
    }

    /// Asks the processor for where ``get(_:)`` looks.
    package func prefetchPlace(of location: Location) {
        let hash = CacheTable.hash(location.block.rawValue)
        shard(hash).pointee.withLock { $0.prefetch(hash: hash) }
    }

    /// Asks the processor for the beginning of the block at `location`, if it is here: whoever takes a reference to a
    /// block that was not read for a while waits for it.
    package func prefetch(_ location: Location) {
        let key = location.block.rawValue
        let hash = CacheTable.hash(key)
        guard let address = shard(hash).pointee.withLock({ $0.address(key, hash: hash) }) else { return }
        // The block may have gone: an address that nothing lies at any more does no harm.
        strata_prefetch(address)
        strata_prefetch(address + 64)
    }

    /// Keeps the block, unless it is over the budget (of its part of the cache) by itself.
    ///
    /// - Returns: The block to use: the one that was here already if another thread was faster.
    @discardableResult
    package func insert(_ block: Block) -> Block {
        let key = block.location.block.rawValue
        let hash = CacheTable.hash(key)
        return shard(hash).pointee.withLock { $0.insert(block, key: key, hash: hash) }
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
            segments.contains(location: key) || block?._withUnsafeGuaranteedRef { $0.isPinned } == true
        }
    }

    package func removeAll() {
        remove { _, _ in true }
    }

    private func remove(where isUnwanted: @Sendable (_ key: UInt64, _ block: Unmanaged<Block>?) -> Bool) {
        for index in 0..<shardCount {
            // Freed without the lock: many blocks take a while, and readers wait for it.
            let removed: [Block] = shards[index].withLock { $0.remove(where: isUnwanted) }
            withExtendedLifetime(removed) {}
        }
    }

    /// As ``get(_:)`` for one who reads on behalf of nobody: it counts neither as a hit nor as a use.
    func peek(_ location: Location) -> Block? {
        let key = location.block.rawValue
        let hash = CacheTable.hash(key)
        return shard(hash).pointee.withLock { $0.peek(key, hash: hash) }
    }

    package var statistics: Statistics {
        var sum = Statistics()
        for index in 0..<shardCount {
            let one = shards[index].withLock { $0.statistics }
            sum.hits += one.hits
            sum.misses += one.misses
            sum.evictions += one.evictions
            sum.byteCount += one.byteCount
            sum.blockCount += one.blockCount
        }
        return sum
    }
}
