import CoreMetrics
import Metrics
import Strata
import StrataSupport

/// The sizes of stores as gauges, each made once.
final class StoreGauges: Sendable {
    private let factory: any MetricsFactory
    /// By name and dimensions.
    private let made = AdaptiveMutex<[String: Gauge]>([:])

    init(_ factory: any MetricsFactory) { self.factory = factory }

    func publish(_ coordinator: NSPersistentStoreCoordinator) {
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

    private func set(_ label: String, _ value: Int, _ dimensions: [(String, String)]) {
        let key = "\(label) \(dimensions)"
        made.withLock { [factory] made in
            let gauge = made[key] ?? Gauge(label: label, dimensions: dimensions, factory: factory)
            made[key] = gauge
            return gauge
        }.record(value)
    }
}
