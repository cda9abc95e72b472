public import StrataRuntime
public import Synchronization

/// A value that many threads read and few exchange. Thread-safe.
///
/// Reading takes no lock, and writes nothing that other threads read, but for the value's count of references. It is
/// inlined: asked for by way of the generic code, it costs twice as much.
@usableFromInline
package final class Published<Value: AnyObject & Sendable>: @unchecked Sendable {
    // Unchecked: the place is atomic, and readers take their reference under a `ReadGuard`.

    /// Out of the readers' sight since an epoch.
    private struct Retired: @unchecked Sendable {
        // Unchecked: a reference that is only given up.
        let epoch: UInt64
        let value: Unmanaged<Value>
    }

    @usableFromInline let bits: Atomic<UInt>
    private let retired = AdaptiveMutex<[Retired]>([])

    package init(_ value: Value) {
        bits = Atomic(UInt(bitPattern: Unmanaged.passRetained(value).toOpaque()))
    }

    deinit {
        Self.unmanaged(bits.load(ordering: .relaxed)).release()
        for old in retired.withLock({ $0 }) { old.value.release() }
    }

    @inlinable @inline(__always)
    static func unmanaged(_ bits: UInt) -> Unmanaged<Value> {
        guard let pointer = UnsafeRawPointer(bitPattern: bits) else { preconditionFailure("nothing was published") }
        return .fromOpaque(pointer)
    }

    /// The newest value.
    @inlinable
    package var value: Value {
        let reader = ReadGuard.begin()
        let value = Self.unmanaged(bits.load(ordering: .sequentiallyConsistent))
        // Not the compiler's way of taking a reference, which it may move behind the end of the reader.
        ReferenceCounts.retain(value.toOpaque())
        reader.end()
        return value.takeRetainedValue()
    }

    /// Exchanges the value. Who reads at this moment may still get the old one; it is let go of at once if nobody does,
    /// and with a later exchange otherwise.
    ///
    /// - Complexity: O(threads that have ever read at a time).
    package func publish(_ value: Value) {
        let new = UInt(bitPattern: Unmanaged.passRetained(value).toOpaque())
        let forgotten = retired.withLock { retired in
            let old = Self.unmanaged(bits.exchange(new, ordering: .sequentiallyConsistent))
            retired.append(Retired(epoch: ReadGuard.epoch, value: old))
            let oldest = ReadGuard.nextEpoch()
            let forgotten = retired.filter { $0.epoch < oldest }
            retired.removeAll { $0.epoch < oldest }
            return forgotten
        }
        // Freeing may take a while, and nobody waits for it.
        for old in forgotten { old.value.release() }
    }
}
