import Metrics
import ServiceLifecycle
public import StrataShip

/// A ``ShippedStore`` among the services of a group: ships while the others run, and what is left when they have shut
/// down.
///
/// ```swift
/// let shipping = StrataShipping(ShippedStore(container, to: bucket))
/// let group = ServiceGroup(
///     services: [shipping, store, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// ```
///
/// Services shut down in the reverse order of the list, so it comes first: the store is closed when the last of it is
/// shipped. If another machine takes over, ``run()`` throws, and the group ends.
public struct StrataShipping: Service {
    /// What is shipped.
    public let store: ShippedStore
    private let metricsInterval: Duration
    private let metrics: (any MetricsFactory)?

    /// A service that ships a store.
    ///
    /// - Parameters:
    ///   - metrics: Where the gauges `strata.ship.unshipped` (bytes), `strata.ship.lag` (seconds) and
    ///     `strata.ship.failing` (0 or 1) go; nil for the program's.
    ///   - metricsInterval: How often they are written.
    public init(
        _ store: ShippedStore, metrics: (any MetricsFactory)? = nil, metricsInterval: Duration = .seconds(15)
    ) {
        self.store = store
        self.metrics = metrics
        self.metricsInterval = metricsInterval
    }

    /// Ships until the group shuts down.
    ///
    /// - Throws: as ``ShippedStore/run()``.
    public func run() async throws {
        let factory = metrics ?? MetricsSystem.factory
        let publishing = Task {
            let bytes = Gauge(label: "strata.ship.unshipped", dimensions: [], factory: factory)
            let seconds = Gauge(label: "strata.ship.lag", dimensions: [], factory: factory)
            let failing = Gauge(label: "strata.ship.failing", dimensions: [], factory: factory)
            while !Task.isCancelled {
                let status = store.status
                bytes.record(status.unshippedBytes)
                seconds.record(status.unshippedSeconds)
                failing.record(status.isFailing ? 1 : 0)
                try await Task.sleep(for: metricsInterval)
            }
        }
        defer { publishing.cancel() }
        try await withGracefulShutdownHandler {
            try await store.run()
        } onGracefulShutdown: {
            store.stop()
        }
    }
}
