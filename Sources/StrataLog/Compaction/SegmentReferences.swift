internal import StrataSupport

/// Which segments transactions that are being built take large values over from.
///
/// A row that is written anew refers to the value where it lies. When that segment is about to be compacted away, the
/// value is copied instead, and transactions that referred to it before are waited for.
final class SegmentReferences: Sendable {
    private struct State {
        var counts: [UInt32: Int] = [:]
        /// Being compacted or gone.
        var closed: Set<UInt32> = []
    }

    private let state = AdaptiveMutex(State())

    /// Whether a row may go on referring to a value in the segment; then ``release(_:)`` has to follow once the
    /// transaction is committed or given up.
    func hold(_ segment: UInt32) -> Bool {
        state.withLock { state in
            guard !state.closed.contains(segment) else { return false }
            state.counts[segment, default: 0] += 1
            return true
        }
    }

    func release(_ segments: [UInt32]) {
        guard !segments.isEmpty else { return }
        state.withLock { state in
            for segment in segments {
                guard let count = state.counts[segment] else { continue }
                state.counts[segment] = count > 1 ? count - 1 : nil
            }
        }
    }

    /// From now on nothing more refers to values in these segments.
    func close(_ segments: Set<UInt32>) {
        state.withLock { $0.closed.formUnion(segments) }
    }

    /// Takes ``close(_:)`` back for segments that stay after all.
    func reopen(_ segments: Set<UInt32>) {
        state.withLock { $0.closed.subtract(segments) }
    }

    /// Whether a transaction that is still being built refers to one of the segments.
    func areHeld(_ segments: Set<UInt32>) -> Bool {
        state.withLock { state in state.counts.keys.contains { segments.contains($0) } }
    }
}
