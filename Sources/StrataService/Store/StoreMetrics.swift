import CoreMetrics
import Metrics
import Strata
import StrataLog
import StrataSupport

/// What stores are and have done as metrics. A gauge is made once, and goes with what it is about: a consumer that was
/// removed has no lag. A counter stays.
final class StoreMetrics: Sendable {
    /// A counter, and how far what it follows had come when it was last looked at.
    private struct Followed {
        var counter: Counter
        var last: UInt64 = 0
    }

    private struct Made {
        /// By name and dimensions.
        var gauges: [String: Gauge] = [:]
        /// By store, name and dimensions: stores in several directories may have one name.
        var counters: [String: Followed] = [:]
    }

    private let factory: any MetricsFactory
    private let made = AdaptiveMutex(Made())

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Ends the gauges of the stores.
    func end() { withdraw(allBut: ["\(Self.cacheSize) []", "\(Self.descriptors) []"]) }

    // The process's, and so not taken away from others that publish them.
    private static var cacheSize: String { "strata.cache.size" }
    private static var descriptors: String { "strata.descriptors" }

    /// Publishes the present values, from one task at a time.
    func publish(_ coordinator: NSPersistentStoreCoordinator) {
        var published: Set<String> = []
        defer { withdraw(allBut: published) }
        func set(_ label: String, _ value: Int, _ dimensions: [(String, String)]) {
            let key = "\(label) \(dimensions)"
            published.insert(key)
            gauge(key, label, dimensions).record(value)
        }
        set(Self.cacheSize, StrataMemory.keptBytes, [])
        if let count = openDescriptors { set(Self.descriptors, count, []) }
        for store in coordinator.persistentStores {
            guard let figures = store.figures else { continue }
            // Stores in several directories may have one name.
            let name = [(Names.namespace, store.serviceName), (Names.storeUUID, store.identifier ?? "")]
            set("strata.damage", figures.damagedPlaces, name)
            for (consumer, lag) in figures.consumerLags {
                set("strata.history.consumer.lag", lag, name + [("consumer", consumer)])
            }
            guard figures.isOnDisk else { continue }
            if let free = store.freeBytes { set("strata.disk.free", free, name) }
            if let checkpoint = store.newestCheckpoint {
                set("strata.store.size", checkpoint.bytes, name + [("kind", "checkpoint")])
                set("strata.checkpoint.age", checkpoint.age, name)
            }
            if let statistics = store.logOnDisk?.statistics {
                let path = store.url?.path ?? ""
                follow("strata.cache.hits", statistics.cacheHits, name, of: path)
                follow("strata.cache.misses", statistics.cacheMisses, name, of: path)
            }
            // Which segments there are is asked of the log, which may have been closed meanwhile.
            guard let space = try? coordinator.space(of: store) else { continue }
            set("strata.segments", space.segments.count, name)
            let sizes = [
                ("log", space.byteCount), ("live", space.liveByteCount), ("garbage", space.deadByteCount),
                ("history", space.historyByteCount), ("pinned", space.pinnedByteCount),
            ]
            for (kind, bytes) in sizes { set("strata.store.size", bytes, name + [("kind", kind)]) }
        }
    }

    private func gauge(_ key: String, _ label: String, _ dimensions: [(String, String)]) -> Gauge {
        made.withLock { [factory] made in
            let gauge = made.gauges[key] ?? Gauge(label: label, dimensions: dimensions, factory: factory)
            made.gauges[key] = gauge
            return gauge
        }
    }

    /// Brings a counter to where the store's own has come, which begins anew when the store is opened again.
    private func follow(_ label: String, _ value: UInt64, _ dimensions: [(String, String)], of store: String) {
        let key = "\(store) \(label) \(dimensions)"
        made.withLock { [factory] made in
            var followed =
                made.counters[key]
                ?? Followed(counter: Counter(label: label, dimensions: dimensions, factory: factory))
            let more = value < followed.last ? value : value - followed.last
            followed.counter.increment(by: Int64(clamping: more))
            followed.last = value
            made.counters[key] = followed
        }
    }

    private func withdraw(allBut published: Set<String>) {
        let gone = made.withLock { made in
            let keys = made.gauges.keys.filter { !published.contains($0) }
            return keys.compactMap { made.gauges.removeValue(forKey: $0) }
        }
        for gauge in gone { gauge.destroy() }
    }
}
