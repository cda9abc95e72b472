import StrataObjectStore
import StrataTestKit
import Synchronization

/// Counts reads of whole objects of the log, and lets each wait a while for others.
struct GatheringObjectStore: PassingObjectStore {
    let base: SimulatedObjectStore
    let seen = Seen()

    final class Seen: Sendable {
        struct Counts {
            var now = 0
            var most = 0
            var whole: [String: Int] = [:]
        }
        let value = Mutex(Counts())
    }

    func get(_ key: String, range: Range<Int64>?) async throws(ObjectStoreError) -> ObjectContents {
        guard range == nil, key.hasPrefix("log/") else { return try await base.get(key, range: range) }
        seen.value.withLock { seen in
            seen.now += 1
            seen.most = max(seen.most, seen.now)
            seen.whole[key, default: 0] += 1
        }
        defer { seen.value.withLock { $0.now -= 1 } }
        for _ in 0..<2_000 where seen.value.withLock({ $0.most }) < 2 { await Task.yield() }
        return try await base.get(key, range: range)
    }
}
