import StrataSupport

/// Lets through one thing of each kind a second, and counts what it holds back.
final class RateLimit: Sendable {
    private struct Entry {
        var last: ContinuousClock.Instant
        var suppressed = 0
    }

    /// A program whose texts are all different must not grow for ever.
    private static let entriesMaximum = 1_024

    private let interval: Duration
    private let entries = AdaptiveMutex<[String: Entry]>([:])

    init(interval: Duration = .seconds(1)) { self.interval = interval }

    /// - Returns: how many of the kind were held back since the last one that was let through; nil if this one is.
    func admit(_ kind: String, at now: ContinuousClock.Instant = .now) -> Int? {
        entries.withLock { [interval] entries in
            if let entry = entries[kind], now - entry.last < interval {
                entries[kind]?.suppressed += 1
                return nil
            }
            if entries.count >= Self.entriesMaximum {
                // The oldest half goes, so that this is done seldom.
                let times = entries.values.map(\.last).sorted()
                let middle = times[times.count / 2]
                entries = entries.filter { $0.value.last > middle }
            }
            let suppressed = entries[kind]?.suppressed ?? 0
            entries[kind] = Entry(last: now)
            return suppressed
        }
    }
}
