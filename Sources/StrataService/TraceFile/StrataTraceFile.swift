public import Foundation
import Strata
import StrataSupport
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
/// A line is appended by one call when the request's first span ends. It is never flushed: what was written survives a
/// crash of the program, not of the machine. A file that cannot be written never fails a request: spans are dropped and
/// counted. The file may be truncated at any time (logrotate's `copytruncate`). Safe to use from any thread.
public final class StrataTraceFile: Tracer {
    public typealias Span = StrataTraceSpan

    private struct State {
        var dropped = 0
        /// The last line did not get into the file as a whole.
        var isTorn = false
    }

    private let descriptor: FileDescriptor
    private let resource: [TraceAttribute]
    private let sampling: Double
    private let maximumBytes: Int
    private let state = AdaptiveMutex(State())

    /// Opens the file, or creates it for the user alone (mode 0600).
    ///
    /// - Parameters:
    ///   - url: a regular file or a device. Not a pipe or a socket: the program would end when its reader does.
    ///   - service: what the program is called in traces, `service.name`.
    ///   - sampling: the share of traces that are kept, from 0 to 1. One that another service has begun is kept if that
    ///     service says so.
    ///   - maximumBytes: a file of that size takes no more, until it is truncated.
    /// - Throws: a `CocoaError` if the file cannot be opened for writing.
    public init(_ url: URL, service: String, sampling: Double = 1, maximumBytes: Int = 1 << 30) throws {
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

    // MARK: Spans

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> StrataTraceSpan {
        let context = context()
        let parent = context.trace
        let traceID = parent?.traceID ?? Self.newTraceID()
        let isSampled = parent?.isSampled ?? isChosen(traceID)
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

    /// Nothing waits to be written but requests that are not over.
    public func forceFlush() {}

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

    /// Appends a line.
    func write(_ spans: [TraceSpanRecord]) {
        if spans.isEmpty { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        let line = (try? encoder.encode(TraceLine(resource: resource, spans: spans))).map { $0 + Data("\n".utf8) }
        state.withLock { state in
            guard let line, hasRoom(line.count), append(state.isTorn ? Data("\n".utf8) + line : line, &state) else {
                state.dropped += spans.count
                return
            }
        }
    }

    private func hasRoom(_ count: Int) -> Bool {
        // A device has no end.
        guard let size = try? descriptor.seek(offset: 0, from: .end) else { return true }
        return size <= Int64(maximumBytes) - Int64(count)
    }

    /// All of it in one call: lines of other processes do not get in between.
    private func append(_ bytes: Data, _ state: inout State) -> Bool {
        let written = (try? bytes.withUnsafeBytes { try descriptor.write($0, retryOnInterrupt: true) }) ?? 0
        // Of a torn line, the next one begins with its end.
        if written > 0 { state.isTorn = written < bytes.count }
        return written == bytes.count
    }
}
