import CoreMetrics
import Foundation
import Logging
import Metrics
import StrataSupport
import Synchronization
import Tracing

/// What the server packages keep in task-local values, for blocks that run on a context's thread.
///
/// Binding a value costs more than reading it. For a thread that has nothing bound, what the task has not bound either
/// is left out; mostly that is all.
final class TaskScope: Sendable {
    /// What a thread reads that has nothing bound.
    private final class Unbound: Sendable {
        let logger: Logger
        let factory: any MetricsFactory
        let instrument: any Instrument
        /// Whether it stays so: a program sets its factory and its instrument once, and may do so late.
        let isFinal: Bool

        init() {
            logger = Logger.current
            factory = MetricsSystem.factory
            instrument = InstrumentationSystem.instrument
            isFinal = type(of: factory) != NOOPMetricsHandler.self
        }
    }

    private final class Known: Sendable {
        let unbound: Unbound?

        init(_ unbound: Unbound?) { self.unbound = unbound }
    }

    /// Noted by the first block on a thread that has nothing bound.
    private static let known = Published(Known(nil))

    /// Whether what is noted stays so.
    private static let isKnownForGood = Atomic(false)

    /// What few tasks bind. Apart, since values of any type are costly to hand on, also where there are none.
    private final class Backend: Sendable {
        let factory: (any MetricsFactory)?
        let tracer: (any Tracer)?

        init(_ factory: (any MetricsFactory)?, _ tracer: (any Tracer)?) {
            self.factory = factory
            self.tracer = tracer
        }
    }

    private let isBare: Bool
    // Nil for what need not be bound.
    private let logger: Logger?
    private let context: InstrumentationContext??
    private let backend: Backend?

    private init(isBare: Bool, logger: Logger?, context: InstrumentationContext??, backend: Backend?) {
        self.isBare = isBare
        self.logger = logger
        self.context = context
        self.backend = backend
    }

    /// No scope is made before it is known that something must be bound: mostly there is nothing.
    ///
    /// - Parameter isBare: whether the thread that it is for has nothing bound.
    /// - Returns: nil when there is nothing to bind.
    static func capture(isBare: Bool) -> EventListener.Scope? {
        let unbound = isBare ? known.value.unbound : nil
        let (logger, factory) = (Logger.current, MetricsSystem.factory)
        let context = InstrumentationContext.current
        var (bindsLogger, bindsFactory) = (true, true)
        if let unbound {
            bindsLogger = !isSame(logger, unbound.logger)
            bindsFactory = !unbound.isFinal || !isSame(factory, unbound.factory)
        }
        // An empty one, as a server binds that nobody traces, says no more than none.
        let bindsContext = !isBare || context?.isEmpty == false
        let tracer = bindsTracer(unbound) ? Self.tracer : nil
        let backend = bindsFactory || tracer != nil ? Backend(bindsFactory ? factory : nil, tracer) : nil
        guard bindsLogger || bindsContext || backend != nil else { return nil }
        let scope = TaskScope(
            isBare: isBare, logger: bindsLogger ? logger : nil, context: bindsContext ? .some(context) : .none,
            backend: backend)
        return { body in scope.run(body) }
    }

    /// Whether there is a tracer that the thread does not have.
    private static func bindsTracer(_ unbound: Unbound?) -> Bool {
        let instrument = InstrumentationSystem.instrument
        if type(of: instrument) == NoOpInstrument.self { return false }
        if let unbound, isSame(instrument, unbound.instrument) { return false }
        return true
    }

    /// Nil where nobody traces: bound, a tracer that does nothing would hide another kind of instrument.
    private static var tracer: (any Tracer)? {
        let tracer = InstrumentationSystem.tracer
        return tracer is NoOpTracer ? nil : tracer
    }

    private func run(_ body: () -> Void) {
        if isBare { Self.noteUnbound() }
        guard let logger else { return bindingContext(body) }
        withLogger(logger) { _ in bindingContext(body) }
    }

    private func bindingContext(_ body: () -> Void) {
        guard let context else { return bindingBackend(body) }
        InstrumentationContext.$current.withValue(context) { bindingBackend(body) }
    }

    private func bindingBackend(_ body: () -> Void) {
        guard let backend else { return body() }
        Self.binding(backend.factory) { Self.binding(backend.tracer, body) }
    }

    private static func binding(_ factory: (any MetricsFactory)?, _ body: () -> Void) {
        if let factory { withMetricsFactory(factory) { body() } } else { body() }
    }

    private static func binding(_ tracer: (any Tracer)?, _ body: () -> Void) {
        if let tracer { withTracer(tracer) { body() } } else { body() }
    }

    private static func noteUnbound() {
        if isKnownForGood.load(ordering: .relaxed) { return }
        if let unbound = known.value.unbound {
            if unbound.isFinal { return isKnownForGood.store(true, ordering: .relaxed) }
            if type(of: MetricsSystem.factory) == NOOPMetricsHandler.self { return }
        }
        known.publish(Known(Unbound()))
    }

    // MARK: Comparing

    // Two values of one type are compared bit for bit: those that are equal are the same. Others may be the same, too;
    // these are bound without need.

    private static func isSame(_ one: Logger, _ other: Logger) -> Bool {
        withUnsafeBytes(of: one) { one in withUnsafeBytes(of: other) { hasSameBytes(one, $0) } }
    }

    private static func isSame(_ one: any MetricsFactory, _ other: any MetricsFactory) -> Bool {
        guard type(of: one) == type(of: other) else { return false }
        return withBytes(one) { one in withBytes(other) { hasSameBytes(one, $0) } }
    }

    private static func isSame(_ one: any Instrument, _ other: any Instrument) -> Bool {
        guard type(of: one) == type(of: other) else { return false }
        return withBytes(one) { one in withBytes(other) { hasSameBytes(one, $0) } }
    }

    /// Of the value itself: an existential has room for larger ones, with anything in it.
    private static func withBytes<Factory: MetricsFactory>(
        _ factory: Factory, _ body: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        withUnsafeBytes(of: factory, body)
    }

    private static func withBytes<Kind: Instrument>(
        _ instrument: Kind, _ body: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        withUnsafeBytes(of: instrument, body)
    }

    private static func hasSameBytes(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count, let first = one.baseAddress, let second = other.baseAddress else {
            return one.count == other.count
        }
        return memcmp(first, second, one.count) == 0
    }
}
