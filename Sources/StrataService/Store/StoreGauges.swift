import CoreMetrics
import Metrics
import Strata
import StrataSupport

/// The sizes of stores as gauges. Each is made once, and goes with what it is about: a consumer that was removed has no
/// lag.
final class StoreGauges: Sendable {
    private let factory: any MetricsFactory
    /// By name and dimensions.
    private let made = AdaptiveMutex<[String: Gauge]>([:])

    init(_ factory: any MetricsFactory) { self.factory = factory }

    /// Publishes the present values, from one task at a time.
    func publish(_ coordinator: NSPersistentStoreCoordinator) {
        var published: Set<String> = []
        defer { withdraw(allBut: published) }
        func set(_ label: String, _ value: Int, _ dimensions: [(String, String)]) {
            let key = "\(label) \(dimensions)"
            published.insert(key)
            gauge(key, label, dimensions).record(value)
        }
        set("strata.cache.size", StrataMemory.keptBytes, [])
        for store in coordinator.persistentStores {
            guard let figures = store.figures else { continue }
            let name = [(Names.namespace, store.serviceName)]
            set("strata.damage", figures.damagedPlaces, name)
            for (consumer, lag) in figures.consumerLags {
                set("strata.history.consumer.lag", lag, name + [("consumer", consumer)])
            }
            // Which segments there are is asked of the log, which may have been closed meanwhile.
            guard figures.isOnDisk, let space = try? coordinator.space(of: store) else { continue }
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
            let gauge = made[key] ?? Gauge(label: label, dimensions: dimensions, factory: factory)
            made[key] = gauge
            return gauge
        }
    }

    private func withdraw(allBut published: Set<String>) {
        let gone = made.withLock { made in
            let keys = made.keys.filter { !published.contains($0) }
            return keys.compactMap { made.removeValue(forKey: $0) }
        }
        for gauge in gone { gauge.destroy() }
    }
}
