import StrataLog
import StrataSupport

/// The states of the stores that a request and the aggregates in its predicate are executed on, which must be the same:
/// the first one that reads a store decides.
package final class RequestSnapshots: Sendable {
    private let snapshots = AdaptiveMutex<[ObjectIdentifier: Snapshot]>([:])

    package init() {}

    /// - Parameter newest: the state of a store that was not read before.
    package func snapshot(of handle: StoreHandle, orElse newest: () -> Snapshot?) -> Snapshot? {
        let key = ObjectIdentifier(handle)
        if let known = snapshots.withLock({ $0[key] }) { return known }
        let snapshot = newest()
        if let snapshot { snapshots.withLock { $0[key] = snapshot } }
        return snapshot
    }
}
