internal import StrataSupport
internal import Synchronization

/// What all versions of one index have in common: the lock over their nodes' reference counts, and their memory.
///
/// Each commit of a few rows copies a page and the directories above it, and the version before it soon gives up as
/// many. Some of those are set aside for the next commit: the heap puts all its small blocks together whenever as much
/// as a page is asked for, which took a fifth of such a commit.
final class IndexLineage: Sendable {
    let liveNodes = Atomic<Int>(0)
    let liveBytes = Atomic<Int>(0)
    private let lock = AdaptiveMutex<Void>(())
    private let spares = AdaptiveMutex<Spares>(Spares())

    deinit {
        spares.withLock { $0.deallocate() }
    }

    /// Runs the body, which may read and write the nodes' reference counts. Keep it short.
    @inline(__always)
    func withCounts(_ body: () -> Void) {
        lock.withLock { _ in body() }
    }

    /// Uninitialised memory for a node, aligned to 16.
    func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        liveNodes.wrappingAdd(1, ordering: .relaxed)
        liveBytes.wrappingAdd(byteCount, ordering: .relaxed)
        let spare = spares.withLock { $0.take(byteCount) }
        return UnsafeMutableRawPointer(bitPattern: spare) ?? .allocate(byteCount: byteCount, alignment: 16)
    }

    func free(_ node: UnsafeMutableRawPointer, _ byteCount: Int) {
        liveNodes.wrappingSubtract(1, ordering: .relaxed)
        liveBytes.wrappingSubtract(byteCount, ordering: .relaxed)
        let address = UInt(bitPattern: node)
        if !spares.withLock({ $0.setAside(address, byteCount) }) { node.deallocate() }
    }
}

/// Memory of nodes that nobody uses.
private struct Spares {
    /// More than a commit of one row and the version that it replaces have at a time. A full page takes 4 KiB.
    private static let maximumCount = 8

    private var pages = SpareMemory(byteCount: IndexNode.fullPageByteCount, maximumCount: maximumCount)
    private var directories = SpareMemory(byteCount: IndexNode.directoryByteCount, maximumCount: maximumCount)

    /// Memory of just that length, or 0.
    mutating func take(_ byteCount: Int) -> UInt {
        switch byteCount {
        case pages.byteCount: pages.take()
        case directories.byteCount: directories.take()
        default: 0
        }
    }

    /// False when the caller has to free the node.
    mutating func setAside(_ node: UInt, _ byteCount: Int) -> Bool {
        switch byteCount {
        case pages.byteCount: pages.setAside(node)
        case directories.byteCount: directories.setAside(node)
        default: false
        }
    }

    mutating func deallocate() {
        pages.deallocate()
        directories.deallocate()
    }
}
