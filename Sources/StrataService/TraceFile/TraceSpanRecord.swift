import Strata
import Tracing

/// A span as OTLP's JSON has it.
///
/// Source: OpenTelemetry Protocol, `opentelemetry/proto/trace/v1/trace.proto`; IDs are hexadecimal, numbers of 64 bits
/// are strings.
struct TraceSpanRecord: Encodable, Sendable {
    struct Event: Encodable, Sendable {
        var timeUnixNano: String
        var name: String
        var attributes: [TraceAttribute]
    }

    struct Link: Encodable, Sendable {
        var traceId, spanId: String
        var attributes: [TraceAttribute]
    }

    struct Status: Encodable, Sendable {
        /// 1 for one that the program calls good, 2 for an error.
        var code: Int
        var message: String?
    }

    var traceId, spanId: String
    var parentSpanId, traceState: String?
    /// Of W3C's header.
    var flags: Int
    var name: String
    var kind: Int
    var startTimeUnixNano, endTimeUnixNano: String
    var attributes: [TraceAttribute] = []
    var events: [Event] = []
    var links: [Link] = []
    var status: Status?

    static func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}

/// A key and its value.
struct TraceAttribute: Encodable, Sendable {
    struct Value: Encodable, Sendable {
        struct List: Encodable, Sendable {
            var values: [Value]
        }

        var stringValue: String?
        var boolValue: Bool?
        var intValue: String?
        var doubleValue: Double?
        var arrayValue: List?
    }

    var key: String
    var value: Value

    /// In the order of their keys, so that lines can be compared.
    static func list(_ attributes: SpanAttributes) -> [TraceAttribute] {
        var list: [TraceAttribute] = []
        list.reserveCapacity(attributes.count)
        attributes.forEach { list.append(TraceAttribute(key: $0, value: Value($1))) }
        return list.sorted { $0.key < $1.key }
    }
}

extension TraceAttribute.Value {
    init(_ attribute: SpanAttribute) {
        self.init()
        switch attribute {
        case .int32(let value): intValue = String(value)
        case .int64(let value): intValue = String(value)
        case .double(let value): doubleValue = value
        case .bool(let value): boolValue = value
        case .string(let value): stringValue = value
        case .stringConvertible(let value): stringValue = value.description
        case .int32Array(let values): self = Self(values.map { .int32($0) })
        case .int64Array(let values): self = Self(values.map { .int64($0) })
        case .doubleArray(let values): self = Self(values.map { .double($0) })
        case .boolArray(let values): self = Self(values.map { .bool($0) })
        case .stringArray(let values): self = Self(values.map { .string($0) })
        case .stringConvertibleArray(let values): self = Self(values.map { .stringConvertible($0) })
        // The enumeration asks for this: it may get further cases.
        default: stringValue = "\(attribute)"
        }
    }

    private init(_ values: [SpanAttribute]) {
        self.init()
        arrayValue = List(values: values.map { Self($0) })
    }
}

/// What a line is.
struct TraceLine: Encodable {
    struct Resource: Encodable {
        var attributes: [TraceAttribute]
    }

    struct Scope: Encodable {
        var name: String
    }

    struct ScopeSpans: Encodable {
        var scope: Scope
        var spans: [TraceSpanRecord]
    }

    struct ResourceSpans: Encodable {
        var resource: Resource
        var scopeSpans: [ScopeSpans]
    }

    var resourceSpans: [ResourceSpans]

    init(resource: [TraceAttribute], spans: [TraceSpanRecord]) {
        resourceSpans = [
            ResourceSpans(
                resource: Resource(attributes: resource),
                scopeSpans: [ScopeSpans(scope: Scope(name: "StrataService"), spans: spans)])
        ]
    }
}
