import Metrics
import StrataShip

/// How far a store is shipped, as gauges.
struct ShippingGauges: Sendable {
    private let unshipped: Gauge
    private let lag: Gauge
    private let failing: Gauge
    private let fenced: Gauge
    private let epoch: Gauge

    init(_ factory: any MetricsFactory) {
        func gauge(_ name: String) -> Gauge { Gauge(label: "strata.ship.\(name)", dimensions: [], factory: factory) }
        unshipped = gauge("unshipped")
        lag = gauge("lag")
        failing = gauge("failing")
        fenced = gauge("fenced")
        epoch = gauge("epoch")
    }

    /// - Parameter isFenced: whether another shipper has taken over.
    func record(_ status: ShipStatus, isFenced: Bool) {
        unshipped.record(status.unshippedBytes)
        lag.record(status.unshippedSeconds)
        failing.record(status.isFailing ? 1 : 0)
        fenced.record(isFenced ? 1 : 0)
        epoch.record(status.epoch)
    }
}
