internal import Synchronization

/// Which slots of an entity are worth an LZ4 trial, learned from the blocks encoded so far. Thread-safe.
///
/// A slot whose last trial did not shrink by an eighth is left alone for the next 15 blocks. Unchecked: the counters
/// are atomics in memory that lives as long as the object; a lost update costs one trial too many or too few.
public final class CompressionAdvice: @unchecked Sendable {
    let slotCount: Int
    private let rests: UnsafeMutablePointer<Atomic<UInt8>>
    static let restBlocks: UInt8 = 15

    /// Knows nothing yet: every slot is tried.
    ///
    /// - Parameter slotCount: of the entity's layout.
    public init(slotCount: Int) {
        self.slotCount = slotCount
        rests = .allocate(capacity: Swift.max(slotCount, 1))
        for slot in 0..<slotCount { (rests + slot).initialize(to: Atomic(0)) }
    }

    deinit {
        rests.deinitialize(count: slotCount)
        rests.deallocate()
    }

    /// Counts down the slot's rest; true when there is none left.
    func shouldTry(_ slot: Int) -> Bool {
        let rest = rests[slot].load(ordering: .relaxed)
        if rest == 0 { return true }
        rests[slot].store(rest - 1, ordering: .relaxed)
        return false
    }

    func didNotShrink(_ slot: Int) {
        rests[slot].store(Self.restBlocks, ordering: .relaxed)
    }
}
