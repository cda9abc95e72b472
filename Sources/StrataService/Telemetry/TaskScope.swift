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
        // Nil where nobody traces: bound, a tracer that does nothing would hide another kind of instrument.
        let tracer: (any Tracer)? =
            type(of: InstrumentationSystem.instrument) == NoOpInstrument.self ? nil : InstrumentationSystem.tracer
        return { body in
            withLogger(logger) { _ in
                withMetricsFactory(factory) {
                    InstrumentationContext.$current.withValue(context) {
                        if let tracer, !(tracer is NoOpTracer) { withTracer(tracer) { body() } } else { body() }
                    }
                }
            }
        }
    }
}
