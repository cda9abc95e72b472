package import Synchronization

/// A store as events name it. There is one for each path, so that who hears of a store finds what it keeps of it by
/// identity: hashing a path costs more than all else that most events cost.
package final class EventStore: Sendable {
    /// Where the store is.
    package let path: String
    /// Who tells of it to metrics, logs and traces, and who keeps its status, where several in the process could: a
    /// number that products above give out, 0 for nobody. Every event asks.
    package let telemetryTeller = Atomic(0)
    package let statusTeller = Atomic(0)

    private struct Known {
        weak var store: EventStore?
    }

    /// By path.
    private static let all = AdaptiveMutex<[String: Known]>([:])

    private init(path: String) { self.path = path }

    /// The one for a path. Asked where a store is opened, which keeps it.
    package static func at(_ path: String) -> EventStore {
        all.withLock { all in
            if let known = all[path]?.store { return known }
            let made = EventStore(path: path)
            all[path] = Known(store: made)
            return made
        }
    }

    deinit {
        Self.all.withLock { [path] all in
            // Another one may have been made for the path since.
            if let known = all[path], known.store == nil { all[path] = nil }
        }
    }
}

extension EventStore: Hashable {
    package static func == (one: EventStore, other: EventStore) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
