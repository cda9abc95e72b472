import Synchronization

/// Tells what comes again from what comes once, so that caches need not keep the latter. Thread-safe, without a lock;
/// it may forget.
package struct RepetitionFilter: ~Copyable, @unchecked Sendable {
    // Unchecked: the hashes are atomic, and lie where they are for as long as the filter lives.

    private static var count: Int { 64 }
    private let hashes: UnsafeMutablePointer<Atomic<Int>>

    package init() {
        hashes = .allocate(capacity: Self.count)
        for index in 0..<Self.count { (hashes + index).initialize(to: Atomic(0)) }
    }

    deinit { hashes.deallocate() }

    /// Whether the same hash was asked for lately; from now on it was.
    package func isRepeated(_ hash: Int) -> Bool {
        let last = (hashes + (hash & (Self.count - 1)))
        if last.pointee.load(ordering: .relaxed) == hash { return true }
        last.pointee.store(hash, ordering: .relaxed)
        return false
    }
}
