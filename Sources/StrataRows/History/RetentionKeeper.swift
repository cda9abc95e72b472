import Foundation
import StrataLog
import Synchronization

/// Applies a store's retention policy.
package final class RetentionKeeper: Sendable {
    package let policy: HistoryRetention
    private let applied: Atomic<UInt64>

    /// Transactions between two looks at the policy: each moves the beginning of the history with a write of its own.
    private static let interval: UInt64 = 256

    package init(_ policy: HistoryRetention) {
        self.policy = policy
        applied = Atomic(0)
    }

    /// Called after commits: applies the policy when enough has been written since it was last.
    package func record(_ handle: StoreHandle, _ sequence: UInt64) {
        let last = applied.load(ordering: .relaxed)
        guard sequence >= last + Self.interval,
            applied.compareExchange(expected: last, desired: sequence, ordering: .relaxed).exchanged
        else { return }
        // The save has succeeded; what cannot be forgotten now is forgotten later.
        try? apply(handle)
    }

    /// Lets go of the history that is not to be kept.
    ///
    /// - Throws: the store's error when it cannot be read or written.
    package func apply(_ handle: StoreHandle) throws {
        guard !handle.isReadOnly, handle.customStore == nil else { return }
        let newest = handle.log.snapshot.sequence
        applied.store(newest, ordering: .relaxed)
        let limit = try limit(handle, newest)
        guard limit > 0 else { return }
        try HistoryState.update(handle.log) { state in
            var last = limit
            for name in policy.consumers { last = min(last, state.consumers[name] ?? 0) }
            guard last + 1 > state.start else { return false }
            state.start = last + 1
            return true
        }
    }

    /// The last transaction that may go as far as the limits are concerned.
    private func limit(_ handle: StoreHandle, _ newest: UInt64) throws(StoreError) -> UInt64 {
        var limit: UInt64 = 0
        if let count = policy.maximumTransactions, newest > UInt64(count) { limit = newest - UInt64(count) }
        if let age = policy.maximumAge {
            let nanoseconds = HistoryDates.nanoseconds(Date(timeIntervalSinceNow: -age))
            do throws(StoreError) {
                limit = max(limit, try handle.log.sequence(atNanoseconds: nanoseconds))
            } catch {
                // Everything that old is gone already.
                guard error.code == .expired else { throw error }
            }
        }
        if let count = policy.maximumBytes { limit = max(limit, try handle.log.sequence(keepingBytes: count)) }
        let isUnlimited = policy.maximumAge == nil && policy.maximumTransactions == nil && policy.maximumBytes == nil
        return isUnlimited && !policy.consumers.isEmpty ? newest : limit
    }
}
