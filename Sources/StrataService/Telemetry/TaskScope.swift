import CoreMetrics
import Foundation
import Logging
import Metrics
import StrataSupport
import Tracing

/// What the server packages keep in task-local values, for blocks that run on a context's thread.
///
/// Binding a value costs more than reading it. For a thread that has nothing bound, what the task has not bound either
/// is left out; mostly that is all.
struct TaskScope {
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

    private let isBare: Bool
    // Nil for what need not be bound.
    private let logger: Logger?
    private let factory: (any MetricsFactory)?
    private let context: InstrumentationContext??
    private let tracer: (any Tracer)?

    private init(_ unbound: Unbound?, isBare: Bool) {
        self.isBare = isBare
        let logger = Logger.current
        self.logger = unbound.map { Self.isSame(logger, $0.logger) } == true ? nil : logger
        let factory = MetricsSystem.factory
        let isOwn = unbound.map { $0.isFinal && Self.isSame(factory, $0.factory) } == true
        self.factory = isOwn ? nil : factory
        let context = InstrumentationContext.current
        self.context = isBare && context == nil ? .none : .some(context)
        let instrument = InstrumentationSystem.instrument
        // Nil where nobody traces: bound, a tracer that does nothing would hide another kind of instrument.
        if type(of: instrument) == NoOpInstrument.self
            || unbound.map({ Self.isSame(instrument, $0.instrument) }) == true
        {
            tracer = nil
        } else {
            let tracer = InstrumentationSystem.tracer
            self.tracer = tracer is NoOpTracer ? nil : tracer
        }
    }

    private var isEmpty: Bool { logger == nil && factory == nil && context == nil && tracer == nil }

    /// - Parameter isBare: whether the thread that it is for has nothing bound.
    /// - Returns: nil when there is nothing to bind.
    static func capture(isBare: Bool) -> EventListener.Scope? {
        let scope = TaskScope(isBare ? known.value.unbound : nil, isBare: isBare)
        if scope.isEmpty { return nil }
        return { body in scope.run(body) }
    }

    private func run(_ body: () -> Void) {
        if isBare { Self.noteUnbound() }
        bindingLogger { bindingFactory { bindingContext { bindingTracer(body) } } }
    }

    private func bindingLogger(_ body: () -> Void) {
        if let logger { withLogger(logger) { _ in body() } } else { body() }
    }

    private func bindingFactory(_ body: () -> Void) {
        if let factory { withMetricsFactory(factory) { body() } } else { body() }
    }

    private func bindingContext(_ body: () -> Void) {
        if let context { InstrumentationContext.$current.withValue(context) { body() } } else { body() }
    }

    private func bindingTracer(_ body: () -> Void) {
        if let tracer { withTracer(tracer) { body() } } else { body() }
    }

    private static func noteUnbound() {
        if let unbound = known.value.unbound {
            if unbound.isFinal || type(of: MetricsSystem.factory) == NOOPMetricsHandler.self { return }
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
