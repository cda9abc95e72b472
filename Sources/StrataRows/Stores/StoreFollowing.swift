import Foundation
import StrataLog
import StrataSupport
import Synchronization

// Read-only stores that another process writes, or another coordinator that opened them later.
extension StoreHandle {
    /// Takes in what has been committed by now, if somebody else writes the store.
    ///
    /// - Complexity: O(1) when there is nothing new.
    package func catchUp() throws {
        guard log.isReadOnly else { return }
        do throws(StoreError) {
            try log.refresh()
        } catch {
            throw StoreFailure.cocoaError(error, reading: self)
        }
    }

    /// From now on those who follow the store hear of what is committed to it, as soon as it is. Nothing happens for
    /// a store that this process writes, whose followers are told anyway, and for one that shows the past.
    package func startFollowing() {
        guard log.isReadOnly, log.hasTail else { return }
        follower.withLock { follower in
            guard follower == nil else { return }
            let newest = Atomic64(log.snapshot.sequence)
            follower = log.follow { [reference] result in
                guard let handle = reference.target else { return }
                switch result {
                case .success(let snapshot):
                    // Metadata moves the log forward, too.
                    if newest.raise(to: snapshot.sequence) { handle.tellFollowers(snapshot.sequence) }
                case .failure:
                    for store in handle.identity.openStores where store.handle === handle {
                        store.tellFollowingFailed()
                    }
                }
            }
        }
    }

    func stopFollowing() {
        follower.withLock { follower in
            follower?.stop()
            follower = nil
        }
    }

    /// Tells those who use the log that it has grown.
    package func tellFollowers(_ sequence: UInt64) {
        for store in identity.openStores where store.handle?.log === log { store.tellGrowth(to: sequence) }
    }
}

/// A number that only grows.
private final class Atomic64: Sendable {
    private let value: Atomic<UInt64>

    init(_ value: UInt64) { self.value = Atomic(value) }

    /// Whether it was less.
    func raise(to new: UInt64) -> Bool {
        value.max(new, ordering: .acquiringAndReleasing).oldValue < new
    }
}
