import StrataSupport

/// The results controllers that follow a context. Safe to use from any thread: delegates are set on any.
final class ContextFollowers: Sendable {
    private let followers = AdaptiveMutex<[WeakCore]>([])

    func add(_ core: FetchedResultsCore) {
        let follower = WeakCore(core: core)
        followers.withLock { followers in
            followers.removeAll { $0.core == nil }
            followers.append(follower)
        }
    }

    func remove(_ core: FetchedResultsCore) {
        let follower = WeakCore(core: core)
        followers.withLock { followers in followers.removeAll { $0.core == nil || $0.core === follower.core } }
    }

    var all: [FetchedResultsCore] { followers.withLock { $0 }.compactMap(\.core) }
}
