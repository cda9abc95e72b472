import Tracing

/// Where a span lies: what W3C's headers `traceparent` and `tracestate` say of it, and the part of its trace that this
/// process keeps.
///
/// Source: Trace Context, W3C Recommendation.
struct TraceContext: Sendable {
    /// 16 bytes.
    struct TraceID: Hashable, Sendable {
        var high, low: UInt64

        var isValid: Bool { high != 0 || low != 0 }
        var text: String { TraceContext.hexadecimal(high) + TraceContext.hexadecimal(low) }
    }

    /// The headers' names.
    static let parentKey = "traceparent"
    static let stateKey = "tracestate"
    /// A longer `tracestate` need not be passed on.
    private static let stateLengthMaximum = 512

    var traceID: TraceID
    var spanID: UInt64
    var isSampled: Bool
    /// What tracers of other vendors want passed on.
    var state: String?
    /// Nil for a span of another process.
    var local: LocalTrace?

    init(traceID: TraceID, spanID: UInt64, isSampled: Bool, state: String?, local: LocalTrace?) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
        self.local = local
    }

    /// A span of another process; nil if the header is not one of the format.
    init?(parent: String, state: String?) {
        let parts = parent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].count == 2, parts[1].count == 32, parts[2].count == 16, parts[3].count == 2,
            // Later versions may say more behind these; version 255 is none.
            let version = Self.number(parts[0]), version != 255, version > 0 || parts.count == 4,
            let high = Self.number(parts[1].prefix(16)), let low = Self.number(parts[1].suffix(16)),
            let spanID = Self.number(parts[2]), let flags = Self.number(parts[3])
        else { return nil }
        let traceID = TraceID(high: high, low: low)
        guard traceID.isValid, spanID != 0 else { return nil }
        self.init(
            traceID: traceID, spanID: spanID, isSampled: flags & 1 != 0,
            state: state.flatMap { $0.isEmpty || $0.utf8.count > Self.stateLengthMaximum ? nil : $0 }, local: nil)
    }

    /// The header.
    var parent: String { "00-\(traceID.text)-\(spanText)-\(isSampled ? "01" : "00")" }
    var spanText: String { Self.hexadecimal(spanID) }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Of lower-case hexadecimal digits, which the format asks for, and nothing else: `UInt64` would also take a sign.
    private static func number(_ text: Substring) -> UInt64? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else { return nil }
        return UInt64(text, radix: 16)
    }
}

extension InstrumentationContext {
    private enum Key: InstrumentationContextKey {
        typealias Value = TraceContext
        static var nameOverride: String? { "strata-trace" }
    }

    var trace: TraceContext? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}
