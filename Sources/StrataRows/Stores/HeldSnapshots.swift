import StrataLog
import StrataSupport

/// The snapshots of a store that somebody may still hold, for tokens that were archived. Safe from any thread.
package final class HeldSnapshots: Sendable {
    private struct WeakSnapshot: Sendable {
        weak let snapshot: Snapshot?
    }

    private let held = AdaptiveMutex(NumberTable<WeakSnapshot>())

    package func add(_ snapshot: Snapshot) {
        held.withLock { held in
            if held[snapshot.sequence]?.snapshot != nil { return }
            if held.count >= 64 { held.removeAll { $1.snapshot == nil } }
            held[snapshot.sequence] = WeakSnapshot(snapshot: snapshot)
        }
    }

    package func snapshot(_ sequence: UInt64) -> Snapshot? {
        held.withLock { $0[sequence]?.snapshot }
    }
}
