import CoreMetrics
import Metrics
import Strata

/// The sizes of stores as gauges, each made once.
struct StoreGauges {
    private let factory: any MetricsFactory
    /// By name and dimensions.
    private var made: [String: Gauge] = [:]

    init(_ factory: any MetricsFactory) { self.factory = factory }

    mutating func publish(_ coordinator: NSPersistentStoreCoordinator) {
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

    private mutating func set(_ label: String, _ value: Int, _ dimensions: [(String, String)]) {
        let key = "\(label) \(dimensions)"
        let gauge = made[key] ?? Gauge(label: label, dimensions: dimensions, factory: factory)
        made[key] = gauge
        gauge.record(value)
    }
}
