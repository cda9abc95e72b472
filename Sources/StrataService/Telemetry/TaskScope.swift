import Logging
import Metrics
import StrataSupport
import Tracing

/// What the server packages keep in task-local values, for blocks that run outside of the task that hands them over:
/// those for which it does not wait, and those that another thread runs for it.
struct TaskScope: Sendable {
    private let logger = Logger.current
    private let factory = MetricsSystem.factory
    private let context = InstrumentationContext.current
    /// Nil where nobody traces: bound, a tracer that does nothing would hide another kind of instrument.
    private let tracer: (any Tracer)?

    /// Of the calling task.
    init() {
        let tracer = InstrumentationSystem.tracer
        self.tracer = tracer is NoOpTracer ? nil : tracer
    }

    func run(_ body: () -> Void) {
        withLogger(logger) { _ in
            withMetricsFactory(factory) {
                InstrumentationContext.$current.withValue(context) {
                    if let tracer { withTracer(tracer) { body() } } else { body() }
                }
            }
        }
    }
}
