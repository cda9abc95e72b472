internal import StrataIO
internal import Synchronization

/// What all versions of one index have in common: the lock over their nodes' reference counts, and their memory.
final class IndexLineage: Sendable {
    let liveNodes = Atomic<Int>(0)
    let liveBytes = Atomic<Int>(0)
    private let lock = AdaptiveMutex<Void>(())

    /// Runs the body, which may read and write the nodes' reference counts. Keep it short.
    @inline(__always)
    func withCounts(_ body: () -> Void) {
        lock.withLock { _ in body() }
    }

    @inline(__always)
    func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        liveNodes.wrappingAdd(1, ordering: .relaxed)
        liveBytes.wrappingAdd(byteCount, ordering: .relaxed)
        return .allocate(byteCount: byteCount, alignment: 16)
    }

    @inline(__always)
    func free(_ node: UnsafeMutableRawPointer, _ byteCount: Int) {
        liveNodes.wrappingSubtract(1, ordering: .relaxed)
        liveBytes.wrappingSubtract(byteCount, ordering: .relaxed)
        node.deallocate()
    }
}
