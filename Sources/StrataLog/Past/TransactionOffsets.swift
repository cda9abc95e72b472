internal import StrataSupport
internal import Synchronization

/// Where transactions lie in the log, now and then one: so that a transaction in the middle of a segment is found
/// without reading the segment from its beginning. Only what this process wrote or came past is known. Safe from any
/// thread.
final class TransactionOffsets: Sendable {
    struct Mark {
        /// The record there follows this transaction.
        var sequence: UInt64
        var offset: Int
    }

    private struct State {
        /// By segment, ascending.
        var marks: [UInt32: [Mark]] = [:]
    }

    private let state = AdaptiveMutex(State())
    /// The place recorded last, as ``key(_:)``, so that most calls do not take the lock.
    private let newest = Atomic<UInt64>(0)

    /// Places lie so far apart, at least: about what is read at a time.
    private static let distanceBytes = 64 << 10

    private static func key(_ position: LogPosition) -> UInt64 {
        UInt64(position.segment) << 32 | UInt64(position.offset)
    }

    /// Called by the thread that writes: the log goes on at a position after a transaction.
    @inline(__always)
    func recordEnd(_ position: LogPosition, after sequence: UInt64) {
        let key = Self.key(position)
        let last = newest.load(ordering: .relaxed)
        if key >= last, key < last + UInt64(Self.distanceBytes) { return }
        newest.store(key, ordering: .relaxed)
        record(position, after: sequence)
    }

    /// Remembers a place unless a near one is known.
    func record(_ position: LogPosition, after sequence: UInt64) {
        state.withLock { state in
            var marks = state.marks[position.segment] ?? []
            let index = Self.count(marks) { $0.offset <= position.offset }
            if index > 0, position.offset - marks[index - 1].offset < Self.distanceBytes { return }
            if index < marks.count, marks[index].offset - position.offset < Self.distanceBytes { return }
            marks.insert(Mark(sequence: sequence, offset: position.offset), at: index)
            state.marks[position.segment] = marks
        }
    }

    /// The last known place of a segment that does not follow a later transaction.
    func mark(in segment: UInt32, notAfter sequence: UInt64) -> Mark? {
        state.withLock { state in
            guard let marks = state.marks[segment] else { return nil }
            let index = Self.count(marks) { $0.sequence <= sequence }
            return index > 0 ? marks[index - 1] : nil
        }
    }

    /// What lies behind a position of a segment is no longer part of the log.
    func forget(behind position: LogPosition) {
        state.withLock { state in state.marks[position.segment]?.removeAll { $0.offset > position.offset } }
    }

    /// These segments are no longer part of the log.
    func forget(_ segments: [UInt32]) {
        state.withLock { state in for segment in segments { state.marks[segment] = nil } }
    }

    /// How many elements of a partitioned list are in its first part.
    private static func count(_ marks: [Mark], _ isFirst: (Mark) -> Bool) -> Int {
        var low = 0
        var high = marks.count
        while low < high {
            let middle = (low + high) / 2
            if isFirst(marks[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
