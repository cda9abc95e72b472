import CoreMetrics
import StrataSupport

/// A pool's metrics, under the names of OpenTelemetry's conventions for pools of connections.
///
/// Every request sets the gauges twice. The factory's handlers are called as they are, as those of ``Meters``.
struct PoolMetrics: Sendable {
    private final class Side: Sendable {
        let used: any RecorderHandler
        let idle: any RecorderHandler
        let pending: any RecorderHandler
        let wait: any TimerHandler
        let timeouts: any CounterHandler

        init(_ factory: any MetricsFactory, _ name: String) {
            let pool = [("db.client.connection.pool.name", name)]
            func gauge(_ label: String, _ more: [(String, String)] = []) -> any RecorderHandler {
                factory.makeRecorder(label: label, dimensions: pool + more, aggregate: false)
            }
            used = gauge("db.client.connection.count", [("db.client.connection.state", "used")])
            idle = gauge("db.client.connection.count", [("db.client.connection.state", "idle")])
            pending = gauge("db.client.connection.pending_requests")
            wait = factory.makeTimer(label: "db.client.connection.wait_time", dimensions: pool)
            timeouts = factory.makeCounter(label: "db.client.connection.timeouts", dimensions: pool)
        }
    }

    private let reading: Side
    private let writing: Side

    init(_ factory: any MetricsFactory, pool: String) {
        reading = Side(factory, "\(pool).reading")
        writing = Side(factory, "\(pool).writing")
    }

    private func side(_ access: StrataContextPool.Access) -> Side { access == .reading ? reading : writing }

    func publish(_ access: StrataContextPool.Access, _ counts: PoolState.Counts) {
        let side = side(access)
        side.used.record(Int64(counts.used))
        side.idle.record(Int64(counts.idle))
        side.pending.record(Int64(counts.waiting))
    }

    func waited(_ access: StrataContextPool.Access, _ duration: Duration) {
        side(access).wait.record(duration)
    }

    func timedOut(_ access: StrataContextPool.Access) { side(access).timeouts.increment() }
}
