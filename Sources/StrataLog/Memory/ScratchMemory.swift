internal import StrataSupport

/// Memory for what a commit makes for a moment, in pieces of one length. Thread-safe.
///
/// Pieces are used again rather than freed: the heap puts all its small blocks together whenever more than a kilobyte
/// is asked for, which costs a commit of one row more than writing it.
final class ScratchMemory: Sendable {
    /// For a block that is being encoded, a record that is being written: of two threads that encode and one that
    /// writes, and one to spare.
    static let records = ScratchMemory(byteCount: 8 << 10, maximumCount: 4)
    /// For the first rows of an entity in a transaction.
    static let rows = ScratchMemory(byteCount: 2 << 10, maximumCount: 16)

    /// The length of a piece.
    let byteCount: Int
    private let spares: AdaptiveMutex<SpareMemory>

    private init(byteCount: Int, maximumCount: Int) {
        self.byteCount = byteCount
        spares = AdaptiveMutex(SpareMemory(byteCount: byteCount, maximumCount: maximumCount))
    }

    /// Uninitialised memory, aligned to 16, of a piece or, where that is too short, of this length; to be given back
    /// with ``free(_:byteCount:)``.
    func allocate(byteCount wanted: Int) -> UnsafeMutableRawPointer {
        let spare = wanted <= byteCount ? spares.withLock { $0.take() } : 0
        return UnsafeMutableRawPointer(bitPattern: spare)
            ?? .allocate(byteCount: max(wanted, byteCount), alignment: 16)
    }

    /// - Parameter wanted: what the memory was asked for with.
    func free(_ memory: UnsafeMutableRawPointer, byteCount wanted: Int) {
        let address = UInt(bitPattern: memory)
        if wanted > byteCount || !spares.withLock({ $0.setAside(address) }) { memory.deallocate() }
    }
}
