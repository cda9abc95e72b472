internal import StrataSupport

/// Memory for what a commit makes for a moment: a block that is being encoded, a record that is being written.
///
/// Pieces are used again rather than freed: the heap puts all its small blocks together whenever more than a kilobyte is
/// asked for, which costs a commit of one row more than writing it.
enum ScratchMemory {
    static let byteCount = 8 << 10
    /// Two threads that encode and one that writes, and one to spare.
    private static let spares = AdaptiveMutex<SpareMemory>(SpareMemory(byteCount: byteCount, maximumCount: 4))

    /// ``byteCount`` uninitialised bytes, aligned to 16; to be given back with ``free(_:)``.
    static func allocate() -> UnsafeMutableRawPointer {
        let spare = spares.withLock { $0.take() }
        return UnsafeMutableRawPointer(bitPattern: spare) ?? .allocate(byteCount: byteCount, alignment: 16)
    }

    static func free(_ memory: UnsafeMutableRawPointer) {
        let address = UInt(bitPattern: memory)
        if !spares.withLock({ $0.setAside(address) }) { memory.deallocate() }
    }
}
