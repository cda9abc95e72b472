import Logging
import Metrics
import StrataSupport
import Tracing

/// What the server packages keep in task-local values, for blocks that run on a context's thread.
enum TaskScope {
    static func capture() -> EventListener.Scope {
        let logger = Logger.current
        let factory = MetricsSystem.factory
        let context = InstrumentationContext.current
        let tracer = InstrumentationSystem.tracer
        return { body in
            withLogger(logger) { _ in
                withMetricsFactory(factory) {
                    InstrumentationContext.$current.withValue(context) {
                        // Bound, one that does nothing would hide another kind of instrument.
                        if tracer is NoOpTracer { body() } else { withTracer(tracer) { body() } }
                    }
                }
            }
        }
    }
}
