internal import StrataSupport
internal import Synchronization

/// What readers look at of one part of a ``BlockCache``; in a line of the processor's caches of its own.
struct CacheFront: ~Copyable {
    static let stride = 64

    /// A ``CacheTable``.
    let table = Atomic<UInt>(0)
    /// Blocks that came in, as far as ``CacheTable/tick(after:)`` counts.
    let tick = Atomic<UInt32>(0)

    /// The block of a key, without a reference; it lies there until the reader ends.
    @inline(__always)
    func find(
        _ key: UInt64, hash: UInt64
    ) -> (entry: UnsafeMutablePointer<CacheTable.Entry>, block: UnsafeMutableRawPointer)? {
        guard let entry = CacheTable(word: table.load(ordering: .sequentiallyConsistent)).find(key, hash: hash),
            let block = UnsafeMutableRawPointer(
                bitPattern: entry.pointee.block.load(ordering: .sequentiallyConsistent))
        else { return nil }
        return (entry, block)
    }

    /// Asks the processor for where a look-up begins. Nothing of the table is read: it may be gone.
    @inline(__always)
    func prefetch(hash: UInt64) { CacheTable(word: table.load(ordering: .relaxed)).prefetch(hash: hash) }
}

/// How often blocks were found and not found, counted by each thread for itself.
///
/// Threads that share a counter, which takes more of them than there are counters, may lose some of each other's.
struct CacheCounters: ~Copyable {
    private struct Line: ~Copyable {
        let hits = Atomic<UInt64>(0)
        let misses = Atomic<UInt64>(0)
        // Two lines, which the processor reads together.
        private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
        private let more: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
    }

    private static let count = 64
    private let lines: UnsafeMutablePointer<Line>

    init() {
        lines = .allocate(capacity: Self.count)
        for index in 0..<Self.count { (lines + index).initialize(to: Line()) }
    }

    deinit {
        lines.deinitialize(count: Self.count)
        lines.deallocate()
    }

    @inline(__always)
    private func line(_ reader: ReadGuard.Reader) -> UnsafeMutablePointer<Line> {
        lines + (reader.number & (Self.count &- 1))
    }

    // Not one addition: that would cost as much as the look-up.

    @inline(__always)
    func countHit(_ reader: ReadGuard.Reader) {
        let line = line(reader)
        line.pointee.hits.store(line.pointee.hits.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    @inline(__always)
    func countMiss(_ reader: ReadGuard.Reader) {
        let line = line(reader)
        line.pointee.misses.store(line.pointee.misses.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    var sums: (hits: UInt64, misses: UInt64) {
        var sums: (hits: UInt64, misses: UInt64) = (0, 0)
        for index in 0..<Self.count {
            sums.hits &+= lines[index].hits.load(ordering: .relaxed)
            sums.misses &+= lines[index].misses.load(ordering: .relaxed)
        }
        return sums
    }
}
