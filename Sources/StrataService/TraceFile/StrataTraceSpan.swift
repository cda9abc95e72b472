import Strata
import StrataSupport
public import Tracing

/// A span that goes to a ``StrataTraceFile`` when it ends. Safe to use from any thread.
public final class StrataTraceSpan: Span {
    private struct State {
        var name: String
        var attributes: SpanAttributes = [:]
        var events: [TraceSpanRecord.Event] = []
        var links: [TraceSpanRecord.Link] = []
        var status: SpanStatus?
        var isOver = false
    }

    public let context: InstrumentationContext
    private let place: TraceContext
    private let parentID: String?
    private let kind: SpanKind
    private let start: UInt64
    /// Nil when the trace is not kept.
    private let file: StrataTraceFile?
    private let isFirst: Bool
    private let state: AdaptiveMutex<State>

    /// - Parameter isFirst: no other span of this process is above it.
    init(
        _ name: String, _ context: InstrumentationContext, _ place: TraceContext, parent: TraceContext?,
        _ kind: SpanKind, start: UInt64, isFirst: Bool, file: StrataTraceFile?
    ) {
        var context = context
        context.trace = place
        self.context = context
        self.place = place
        self.kind = kind
        self.start = start
        self.isFirst = isFirst
        self.file = file
        parentID = parent?.spanText
        state = AdaptiveMutex(State(name: name))
    }

    /// Changes what the span says, unless it is over or not kept.
    private func change(_ body: (inout State) -> Void) {
        guard file != nil else { return }
        state.withLock { if !$0.isOver { body(&$0) } }
    }

    public var operationName: String {
        get { state.withLock { $0.name } }
        set { change { $0.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { change { $0.attributes = newValue } }
    }

    /// False when the trace is not kept, and once the span is over.
    public var isRecording: Bool { file != nil && state.withLock { !$0.isOver } }

    public func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    public func addEvent(_ event: SpanEvent) {
        change {
            $0.events.append(
                TraceSpanRecord.Event(
                    timeUnixNano: String(event.nanosecondsSinceEpoch), name: event.name,
                    attributes: TraceAttribute.list(event.attributes)))
        }
    }

    /// An event with the error's type, or its domain and code, but not with its description, which may have users'
    /// values.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        var attributes = attributes
        attributes["exception.type"] = EventErrorText.type(of: error)
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// Links to spans of other tracers are left out.
    public func addLink(_ link: SpanLink) {
        guard let trace = link.context.trace else { return }
        change {
            $0.links.append(
                TraceSpanRecord.Link(
                    traceId: trace.traceID.text, spanId: trace.spanText,
                    attributes: TraceAttribute.list(link.attributes)))
        }
    }

    /// Writes the span, or leaves it to the one above it. What comes later changes nothing.
    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let file else { return }
        let end = instant().nanosecondsSinceEpoch
        let over: State? = state.withLock { state in
            if state.isOver { return nil }
            state.isOver = true
            return state
        }
        guard let over else { return }
        let record = TraceSpanRecord(
            traceId: place.traceID.text, spanId: place.spanText, parentSpanId: parentID, traceState: place.state,
            flags: place.isSampled ? 1 : 0, name: over.name, kind: TraceSpanRecord.number(of: kind),
            startTimeUnixNano: String(start),
            endTimeUnixNano: String(end), attributes: TraceAttribute.list(over.attributes), events: over.events,
            links: over.links,
            status: over.status.map { TraceSpanRecord.Status(code: $0.code == .ok ? 1 : 2, message: $0.message) })
        guard let local = place.local else { return }
        file.write(local.end(record, isFirst: isFirst))
    }
}
