public import CoreMetrics
import Dispatch
public import Foundation
import Logging
import Metrics
import Strata
import StrataSupport
import Synchronization
import SystemPackage
public import Tracing

/// Spans as lines of a file: a tracer for swift-distributed-tracing without further packages.
///
/// ```swift
/// InstrumentationSystem.bootstrap(try StrataTraceFile(URL(fileURLWithPath: "traces.jsonl"), service: "library"))
/// ```
///
/// A line is what one request did here, its spans with their parents, in OTLP's JSON. OpenTelemetry's collector reads
/// such files (`otlpjsonfile`) and passes them on, for instance to Jaeger or Tempo; `jq` shows them to people. The
/// headers `traceparent` and `tracestate` of W3C join the traces of several services.
///
/// A line is appended by one call, soon after the request's first span has ended, by a thread of its own: no request
/// waits for the disk. Lines are never flushed: those that were written survive a crash of the program, not of the
/// machine. What cannot be written is dropped and counted in `strata.traces.dropped`, and said once in the log. The
/// file may be truncated at any time (logrotate's `copytruncate`). Safe to use from any thread.
public final class StrataTraceFile: Tracer {
    public typealias Span = StrataTraceSpan

    /// So many spans may wait to be written; what a program does while the disk is slow must not fill its memory.
    private static let waitingMaximum = 20_000

    private struct State {
        var waiting = 0
        var dropped = 0
    }

    private let descriptor: FileDescriptor
    private let resource: [TraceAttribute]
    private let sampling: Double
    private let followsParents: Bool
    private let maximumBytes: Int
    private let metrics: (any MetricsFactory)?
    private let writer = DispatchQueue(label: "strata.traces", qos: .utility)
    private let state = AdaptiveMutex(State())
    /// The last line did not get into the file as a whole. Used by the writer alone.
    private let isTorn = Atomic(false)

    /// Opens the file, or creates it for the user alone (mode 0600).
    ///
    /// - Parameters:
    ///   - url: a regular file or a device. Not a pipe or a socket: the program would end when its reader does.
    ///   - service: what the program is called in traces, `service.name`.
    ///   - sampling: the share of traces that are kept, from 0 to 1.
    ///   - followsParents: whether a trace that another service has begun is kept if that service says so, whatever the
    ///     share is. False where requests come from anybody, who could fill the file.
    ///   - maximumBytes: a file of that size takes no more, until it is truncated.
    ///   - metrics: where `strata.traces.dropped` is counted; nil for the program's, as it is when something is
    ///     dropped.
    /// - Throws: a `CocoaError` if the file cannot be opened for writing.
    public init(
        _ url: URL, service: String, sampling: Double = 1, followsParents: Bool = true, maximumBytes: Int = 1 << 30,
        metrics: (any MetricsFactory)? = nil
    ) throws {
        StandardDescriptors.occupy()
        let descriptor: FileDescriptor
        do {
            // Without waiting for somebody who reads a pipe.
            descriptor = try FileDescriptor.open(
                FilePath(url.path), .writeOnly, options: [.append, .create, .closeOnExec, .nonBlocking],
                permissions: [.ownerReadWrite])
        } catch let error as Errno {
            throw Self.failure(url, "\(error)")
        }
        var status = stat()
        guard fstat(descriptor.rawValue, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG || status.st_mode & S_IFMT == S_IFCHR
        else {
            try? descriptor.close()
            throw Self.failure(url, "it is neither a file nor a device")
        }
        self.descriptor = descriptor
        resource = [
            TraceAttribute(key: "process.pid", value: .init(.int(Int64(getpid())))),
            TraceAttribute(key: "service.name", value: .init(.string(service))),
        ]
        self.sampling = sampling
        self.followsParents = followsParents
        self.metrics = metrics
        self.maximumBytes = maximumBytes
    }

    private static func failure(_ url: URL, _ reason: String) -> CocoaError {
        CocoaError(
            .fileWriteUnknown,
            userInfo: [
                NSFilePathErrorKey: url.path,
                NSLocalizedDescriptionKey: "\(url.path) cannot be opened for traces: \(reason)",
            ])
    }

    deinit { try? descriptor.close() }

    /// How many spans could not be written.
    public var droppedSpans: Int { state.withLock { $0.dropped } }

    /// Returns when what has ended is written.
    public func forceFlush() { writer.sync {} }

    // MARK: Spans

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> StrataTraceSpan {
        let context = context()
        let parent = context.trace
        let traceID = parent?.traceID ?? Self.newTraceID()
        // Of a span of this process, its first one has decided.
        let isDecided = parent.map { $0.local != nil || followsParents } ?? false
        let isSampled = isDecided ? parent?.isSampled ?? false : isChosen(traceID)
        let place = TraceContext(
            traceID: traceID, spanID: .random(in: 1...UInt64.max), isSampled: isSampled, state: parent?.state,
            local: parent?.local ?? LocalTrace())
        return StrataTraceSpan(
            operationName, context, place, parent: parent, kind, start: instant().nanosecondsSinceEpoch,
            isFirst: parent?.local == nil, file: isSampled ? self : nil)
    }

    private static func newTraceID() -> TraceContext.TraceID {
        TraceContext.TraceID(high: .random(in: 0...UInt64.max), low: .random(in: 1...UInt64.max))
    }

    /// By the ID, so that services which keep the same share keep the same traces.
    private func isChosen(_ traceID: TraceContext.TraceID) -> Bool {
        if sampling >= 1 { return true }
        return Double(traceID.low >> 1) < sampling * 0x1p63
    }

    // MARK: Other services

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: TraceContext.parentKey, from: carrier) else { return }
        // A damaged header begins a trace of its own, as the recommendation has it.
        if let trace = TraceContext(
            parent: parent, state: extractor.extract(key: TraceContext.stateKey, from: carrier))
        {
            context.trace = trace
        }
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.parent, forKey: TraceContext.parentKey, into: &carrier)
        if let state = trace.state { injector.inject(state, forKey: TraceContext.stateKey, into: &carrier) }
    }

    // MARK: The file

    /// Appends a line, later.
    func write(_ spans: [TraceSpanRecord]) {
        if spans.isEmpty { return }
        let isTaken = state.withLock { state in
            if state.waiting + spans.count > Self.waitingMaximum { return false }
            state.waiting += spans.count
            return true
        }
        guard isTaken else { return drop(spans.count) }
        writer.async { [self] in
            if !append(spans) { drop(spans.count) }
            state.withLock { $0.waiting -= spans.count }
        }
    }

    private func drop(_ count: Int) {
        let isFirst = state.withLock { state in
            state.dropped += count
            return state.dropped == count
        }
        Counter(label: "strata.traces.dropped", dimensions: [], factory: metrics ?? MetricsSystem.factory)
            .increment(by: count)
        // Not the task's logger, which may be that of a request.
        if isFirst { Logger(label: "strata").warning("spans cannot be written to the file of traces, and are dropped") }
    }

    private func append(_ spans: [TraceSpanRecord]) -> Bool {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        guard let line = try? encoder.encode(TraceLine(resource: resource, spans: spans)) else { return false }
        let bytes = (isTorn.load(ordering: .relaxed) ? Data("\n".utf8) : Data()) + line + Data("\n".utf8)
        guard hasRoom(bytes.count) else { return false }
        // All of it in one call: lines of other processes do not get in between.
        let written = (try? bytes.withUnsafeBytes { try descriptor.write($0, retryOnInterrupt: true) }) ?? 0
        // The next line begins with the end of a torn one.
        if written > 0 { isTorn.store(written < bytes.count, ordering: .relaxed) }
        return written == bytes.count
    }

    private func hasRoom(_ count: Int) -> Bool {
        // A device has no end.
        guard let size = try? descriptor.seek(offset: 0, from: .end) else { return true }
        return size <= Int64(maximumBytes) - Int64(count)
    }
}
