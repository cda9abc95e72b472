import StrataSupport

/// The results controllers that follow a context. Safe to use from any thread: delegates are set on any.
final class ContextFollowers: Sendable {
    private let followers = AdaptiveMutex<SweptList<WeakCore>>(SweptList())

    func add(_ core: FetchedResultsCore) {
        let follower = WeakCore(core)
        followers.withLock { $0.insert(follower) }
    }

    func remove(_ core: FetchedResultsCore) {
        let identity = ObjectIdentifier(core)
        followers.withLock { $0.remove(identity) }
    }

    var all: [FetchedResultsCore] { followers.withLock { $0.all }.compactMap(\.core) }
}
