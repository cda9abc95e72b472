import StrataSupport

/// The spans of a trace that this process began, until the first of them ends: these make one line.
final class LocalTrace: Sendable {
    /// A span that begins others without end, such as one of a whole process, does not keep them all.
    private static let spanMaximum = 1_000

    private struct State {
        var spans: [TraceSpanRecord] = []
        var isOver = false
    }

    private let state = AdaptiveMutex(State())

    /// Takes a span that has ended.
    ///
    /// - Parameter isFirst: it is the one that all others here are below.
    /// - Returns: what is to be written now.
    func end(_ span: TraceSpanRecord, isFirst: Bool) -> [TraceSpanRecord] {
        state.withLock { state in
            state.spans.append(span)
            if isFirst { state.isOver = true }
            guard state.isOver || state.spans.count >= Self.spanMaximum else { return [] }
            defer { state.spans = [] }
            return state.spans
        }
    }
}
