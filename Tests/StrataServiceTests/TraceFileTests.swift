import CoreData
import Foundation
import Logging
import StrataService
import Synchronization
import Testing
import Tracing

@Suite struct TraceFileTests {
    /// A file of its own.
    private final class Traces: Sendable {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("traces-\(UUID().uuidString).jsonl")
        private let tracers = Mutex<[StrataTraceFile]>([])

        func tracer(
            sampling: Double = 1, followsParents: Bool = true, maximumBytes: Int = 1 << 30
        ) throws -> StrataTraceFile {
            let tracer = try StrataTraceFile(
                url, service: "tests", sampling: sampling, followsParents: followsParents, maximumBytes: maximumBytes)
            tracers.withLock { $0.append(tracer) }
            return tracer
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        var lines: [String] {
            get throws {
                for tracer in tracers.withLock({ $0 }) { tracer.forceFlush() }
                return String(decoding: try Data(contentsOf: url), as: UTF8.self).split(separator: "\n").map(
                    String.init)
            }
        }

        /// The spans of each line.
        var spans: [[[String: Any]]] {
            get throws {
                try lines.map { line in
                    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                    let resource = (object?["resourceSpans"] as? [[String: Any]])?.first
                    let scope = (resource?["scopeSpans"] as? [[String: Any]])?.first
                    return try #require(scope?["spans"] as? [[String: Any]])
                }
            }
        }
    }

    private struct Headers: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    /// The values of a span's attributes, without their types.
    private static func attributes(_ span: [String: Any]) -> [String: String] {
        let list = span["attributes"] as? [[String: Any]] ?? []
        return Dictionary(
            uniqueKeysWithValues: list.map { attribute in
                let value = (attribute["value"] as? [String: Any])?.values.first
                return (attribute["key"] as? String ?? "", value.map { "\($0)" } ?? "")
            })
    }

    @Test func aLineHasARequestAndWhatItDidInTheStore() async throws {
        let (traces, fixture) = (Traces(), try ServiceFixture())
        let tracer = try traces.tracer()
        var options = StrataTelemetry.Options()
        options.tracer = tracer
        // It hears of other tests' stores, too, and is not to write into their loggers.
        options.logger = Logger(label: "traces") { _ in SwiftLogNoOpLogHandler() }
        let telemetry = StrataTelemetry.start(options)
        defer { telemetry.stop() }
        let entity = fixture.entity
        try await tracer.withSpan("GET /books", ofKind: .server) { span in
            span.attributes["http.route"] = "/books"
            try await fixture.pool.withContext(.writing) { context in
                NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue("T", forKey: "title")
            }
            _ = try await fixture.pool.withContext(.reading) { context in
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
            }
        }
        // Other tests' stores write at the same time.
        let line = try #require(try traces.spans.first { $0.contains { $0["name"] as? String == "GET /books" } })
        let request = try #require(line.first { $0["name"] as? String == "GET /books" })
        #expect(request["kind"] as? Int == 2 && request["parentSpanId"] == nil)
        #expect(Self.attributes(request)["http.route"] == "/books")
        func time(_ span: [String: Any], _ key: String) throws -> UInt64 {
            try #require((span[key] as? String).flatMap { UInt64($0) })
        }
        for name in ["save \(entity)", "count \(entity)"] {
            let span = try #require(line.first { $0["name"] as? String == name }, "\(name)")
            #expect(span["traceId"] as? String == request["traceId"] as? String)
            #expect(span["parentSpanId"] as? String == request["spanId"] as? String)
            #expect(span["spanId"] as? String != request["spanId"] as? String)
            #expect(try time(span, "startTimeUnixNano") <= time(span, "endTimeUnixNano"))
            #expect(try time(span, "endTimeUnixNano") <= time(request, "endTimeUnixNano"))
            #expect(Self.attributes(span)["db.collection.name"] == entity)
        }
        #expect(tracer.droppedSpans == 0)
        let mode = try FileManager.default.attributesOfItem(atPath: traces.url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func aTraceGoesOnInAnotherService() throws {
        let traces = Traces()
        let tracer = try traces.tracer()
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        var context = InstrumentationContext.topLevel
        tracer.extract(["traceparent": parent, "tracestate": "other=1"], into: &context, using: Headers())
        var onward: [String: String] = [:]
        tracer.withSpan("here", context: context) { span in
            tracer.inject(span.context, into: &onward, using: Headers())
        }
        let span = try #require(try traces.spans.first?.first)
        #expect(span["traceId"] as? String == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(span["parentSpanId"] as? String == "00f067aa0ba902b7" && span["traceState"] as? String == "other=1")
        let spanID = try #require(span["spanId"] as? String)
        #expect(onward == ["traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-\(spanID)-01", "tracestate": "other=1"])
    }

    @Test(arguments: [
        "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
    ])
    func aDamagedHeaderBeginsATraceOfItsOwn(header: String) throws {
        let traces = Traces()
        let tracer = try traces.tracer()
        var context = InstrumentationContext.topLevel
        tracer.extract(["traceparent": header], into: &context, using: Headers())
        tracer.withSpan("here", context: context) { _ in }
        let span = try #require(try traces.spans.first?.first)
        #expect(span["parentSpanId"] == nil && span["traceId"] as? String != "4bf92f3577b34da6a3ce929d0e0e4736")
    }

    @Test func aShareOfTracesIsKeptWhole() throws {
        let traces = Traces()
        let tracer = try traces.tracer(sampling: 0.25)
        for _ in 0..<2_000 {
            tracer.withSpan("above") { _ in tracer.withSpan("below") { _ in } }
        }
        let lines = try traces.spans
        // 500 expected, 19 the standard deviation.
        #expect(lines.count > 350 && lines.count < 650)
        #expect(lines.allSatisfy { $0.count == 2 })
        // Another service has decided.
        for (flags, isKept) in [("00", false), ("01", true)] {
            var context = InstrumentationContext.topLevel
            let parent = "00-ffffffffffffffffffffffffffffffff-00f067aa0ba902b7-\(flags)"
            tracer.extract(["traceparent": parent], into: &context, using: Headers())
            let before = try traces.lines.count
            var onward: [String: String] = [:]
            tracer.withSpan("here", context: context) { span in
                #expect(span.isRecording == isKept)
                tracer.inject(span.context, into: &onward, using: Headers())
            }
            #expect(try traces.lines.count == before + (isKept ? 1 : 0))
            #expect(onward["traceparent"]?.hasSuffix("-\(flags)") == true)
        }
    }

    @Test func whoAsksDoesNotDecideWhatIsKeptUnlessTrusted() throws {
        let traces = Traces()
        let tracer = try traces.tracer(sampling: 0, followsParents: false)
        var context = InstrumentationContext.topLevel
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        tracer.extract(["traceparent": parent], into: &context, using: Headers())
        tracer.withSpan("above", context: context) { _ in tracer.withSpan("below") { _ in } }
        #expect(try traces.lines.isEmpty)
    }

    @Test func errorsAreNamedWithoutWhatTheySay() throws {
        let traces = Traces()
        let tracer = try traces.tracer()
        #expect(throws: CocoaError.self) {
            try tracer.withSpan("fails") { _ in
                throw CocoaError(.fileNoSuchFile, userInfo: [NSLocalizedDescriptionKey: "a secret"])
            }
        }
        let line = try #require(try traces.lines.first)
        #expect(line.contains(#""code":2"#) && line.contains("NSCocoaErrorDomain:4") && !line.contains("secret"))
    }

    @Test func whatEndsLaterThanItsRequestIsWrittenToo() throws {
        let traces = Traces()
        let tracer = try traces.tracer()
        let above = tracer.startSpan("above")
        let below = tracer.startSpan("below", context: above.context)
        above.end()
        below.operationName = "renamed"
        below.end()
        below.operationName = "too late"
        below.end()
        #expect(try traces.spans.map { $0.map { $0["name"] as? String } } == [["above"], ["renamed"]])
    }

    @Test func aFullFileTakesMoreOnceItIsTruncated() throws {
        let traces = Traces()
        let tracer = try traces.tracer(maximumBytes: 2_000)
        for _ in 0..<20 { tracer.withSpan("span") { _ in } }
        let kept = try traces.lines.count
        #expect(kept > 1 && kept < 10 && tracer.droppedSpans == 20 - kept)
        try FileHandle(forWritingTo: traces.url).truncate(atOffset: 0)
        tracer.withSpan("later") { _ in }
        #expect(try traces.spans.map { $0.first?["name"] as? String } == ["later"])
    }

    @Test func aFullDiskFailsNoRequest() throws {
        let metrics = StrataMetricsText()
        let tracer = try StrataTraceFile(URL(fileURLWithPath: "/dev/full"), service: "tests", metrics: metrics)
        let result = tracer.withSpan("span") { _ in 7 }
        tracer.forceFlush()
        #expect(result == 7 && tracer.droppedSpans == 1 && metrics.text().contains("strata_traces_dropped_total 1\n"))
    }

    @Test func aPipeOrAFolderIsRefused() throws {
        let pipe = FileManager.default.temporaryDirectory.appendingPathComponent("pipe-\(UUID().uuidString)")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(at: pipe) }
        // One that nobody reads, one that somebody reads, and a folder.
        #expect(throws: CocoaError.self) { try StrataTraceFile(pipe, service: "tests") }
        let reader = open(pipe.path, O_RDONLY | O_NONBLOCK)
        defer { close(reader) }
        let error = #expect(throws: CocoaError.self) { try StrataTraceFile(pipe, service: "tests") }
        #expect(error?.localizedDescription.contains(pipe.path) == true)
        #expect(throws: CocoaError.self) {
            try StrataTraceFile(FileManager.default.temporaryDirectory, service: "tests")
        }
    }

    @Test func manyThreadsWriteWholeLines() async throws {
        let traces = Traces()
        // Two tracers on one file, as two processes have it.
        let tracers = try (0..<2).map { _ in try traces.tracer() }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask {
                    let tracer = tracers[number % 2]
                    for index in 0..<100 {
                        tracer.withSpan("above") { span in
                            span.attributes["text"] = String(repeating: "\n\"", count: index * 10)
                            tracer.withSpan("below") { _ in }
                        }
                    }
                }
            }
        }
        let lines = try traces.spans
        #expect(lines.count == 1_600 && lines.allSatisfy { $0.count == 2 })
        #expect(Set(lines.compactMap { $0.first?["traceId"] as? String }).count == 1_600)
    }

    /// OpenTelemetry's own definitions for Python, where `make test-kit` could install them.
    @Test(
        .enabled("opentelemetry-proto is not installed for python3 (pip install opentelemetry-proto)") {
            PythonScript.output("import opentelemetry.proto.trace.v1.trace_pb2") != nil
        })
    func openTelemetryReadsIt() throws {
        let traces = Traces()
        let tracer = try traces.tracer()
        tracer.withSpan("above", ofKind: .client) { span in
            var attributes = SpanAttributes()
            attributes["text"] = "a\"b\n\u{1}ü"
            attributes["whole"] = Int.max
            attributes["broken"] = 1.5
            attributes["infinite"] = Double.infinity
            attributes["nan"] = Double.nan
            attributes["yes"] = true
            attributes["list"] = ["a", "b"]
            attributes.set("numbers", value: .int64Array([1, 2]))
            span.attributes = attributes
            span.addEvent(SpanEvent(name: "event", attributes: ["key": "value"]))
            span.addLink(SpanLink(context: span.context, attributes: [:]))
            span.setStatus(SpanStatus(code: .error, message: "message"))
        }
        let script = """
            import sys
            from google.protobuf import json_format
            from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
            for line in sys.stdin:
                data = json_format.Parse(line, TracesData())
                span = data.resource_spans[0].scope_spans[0].spans[0]
                print(span.name, span.kind, span.status.code, span.status.message, len(span.events), len(span.links))
                for a in span.attributes:
                    kind = a.value.WhichOneof("value")
                    value = getattr(a.value, kind)
                    if kind == "array_value": value = [getattr(v, v.WhichOneof("value")) for v in value.values]
                    print(a.key, kind, repr(value))
            """
        let output = try #require(PythonScript.output(script, input: try traces.lines.joined(separator: "\n")))
        #expect(
            output == """
                above 3 2 message 1 1
                broken double_value 1.5
                infinite double_value inf
                list array_value ['a', 'b']
                nan double_value nan
                numbers array_value [1, 2]
                text string_value 'a"b\\n\\x01ü'
                whole int_value 9223372036854775807
                yes bool_value True

                """)
    }
}
