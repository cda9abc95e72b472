import CoreMetrics
import Metrics
import StrataSupport

/// A pool's metrics, under the names of OpenTelemetry's conventions for pools of connections.
struct PoolMetrics: Sendable {
    private struct Side: Sendable {
        let used: Gauge
        let idle: Gauge
        let pending: Gauge
        let wait: Metrics.Timer
        let timeouts: Counter

        init(_ factory: any MetricsFactory, _ name: String) {
            let pool = [("db.client.connection.pool.name", name)]
            func count(_ state: String) -> Gauge {
                Gauge(
                    label: "db.client.connection.count",
                    dimensions: pool + [("db.client.connection.state", state)], factory: factory)
            }
            used = count("used")
            idle = count("idle")
            pending = Gauge(label: "db.client.connection.pending_requests", dimensions: pool, factory: factory)
            wait = Metrics.Timer(label: "db.client.connection.wait_time", dimensions: pool, factory: factory)
            timeouts = Counter(label: "db.client.connection.timeouts", dimensions: pool, factory: factory)
        }
    }

    private let reading: Side
    private let writing: Side

    init(_ factory: any MetricsFactory, pool: String) {
        reading = Side(factory, "\(pool).reading")
        writing = Side(factory, "\(pool).writing")
    }

    private func side(_ access: StrataContextPool.Access) -> Side { access == .reading ? reading : writing }

    func publish(_ access: StrataContextPool.Access, used: Int, idle: Int, waiting: Int) {
        let side = side(access)
        side.used.record(used)
        side.idle.record(idle)
        side.pending.record(waiting)
    }

    func waited(_ access: StrataContextPool.Access, _ duration: Duration) {
        side(access).wait.recordNanoseconds(duration.wholeNanoseconds)
    }

    func timedOut(_ access: StrataContextPool.Access) { side(access).timeouts.increment() }
}
