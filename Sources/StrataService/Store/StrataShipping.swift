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
    ///   - metrics: Where the gauges `strata.ship.unshipped` (bytes), `strata.ship.lag` (seconds),
    ///     `strata.ship.failing`, `strata.ship.fenced` (0 or 1) and `strata.ship.epoch` go; nil for the program's.
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
        let gauges = ShippingGauges(metrics ?? MetricsSystem.factory)
        let publishing = Task {
            while !Task.isCancelled {
                gauges.record(store.status, isFenced: false)
                try await Task.sleep(for: max(metricsInterval, .milliseconds(1)))
            }
        }
        let result: Result<Void, any Error>
        do {
            try await withGracefulShutdownHandler {
                try await store.run()
            } onGracefulShutdown: {
                store.stop()
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        publishing.cancel()
        _ = await publishing.result
        // What a program that goes on shows from now on.
        var isFenced = false
        if case .failure(let error as ShipError) = result { isFenced = error.code == .fenced }
        gauges.record(store.status, isFenced: isFenced)
        try result.get()
    }
}
