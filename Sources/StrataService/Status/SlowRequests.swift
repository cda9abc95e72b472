/// The slowest kinds of requests of the last minutes, in little memory whatever a program asks for.
///
/// What was slow is forgotten after five to ten minutes: two windows follow each other, and both are shown.
struct SlowRequests: Sendable {
    /// A request that takes less is not looked at: to say what it was takes longer than to run it.
    static let floorNanoseconds: Int64 = 1_000_000
    /// So many kinds are shown.
    static let maximum = 20
    /// So many are known in a window, so that the calls of those that are shown are counted from early on.
    private static let knownMaximum = 64
    private static let windowSeconds = 300.0
    /// A clock that goes back by less is not looked at.
    private static let stepSeconds = 60.0
    private static let textMaximum = 400

    /// Requests that differ in their constants only.
    struct Kind: Hashable, Sendable {
        /// As `db.operation.name`.
        var operation: String
        var entity: String?
        /// A fetch in words; nil of what has nothing to say but operation and entity.
        var text: String?

        /// As ``StoreStatus/Request/text``.
        var shownText: String { text ?? entity.map { "\(operation) \($0)" } ?? operation }
    }

    /// What is shown of the slowest of a kind, beside its time.
    struct Details {
        var plan: String?
        var rowsTested = 0
        var rows: Int
    }

    private struct Known: Sendable {
        let kind: Kind
        var request: StoreStatus.Request
    }

    /// A list: there are few, and where flushes are slow every save looks for its kind. To hash one costs more than to
    /// compare some.
    private struct Window: Sendable {
        var began: Double
        var known: [Known] = []
    }

    private var window: Window
    private var before: Window?

    /// - Parameter now: in seconds since 1970.
    init(now: Double) { window = Window(began: now) }

    /// When what is shown began.
    var since: Double { before?.began ?? window.began }

    /// Notes one request. Where flushes are slow, every save comes here.
    ///
    /// - Parameters:
    ///   - seconds: how long it took.
    ///   - now: when it was over, in seconds since 1970.
    ///   - details: asked of the first of its kind, and of one that is slower than those before.
    mutating func add(_ kind: Kind, seconds: Double, now: Double, details: () -> Details) {
        turn(now: now)
        var kind = kind
        if let text = kind.text { kind.text = Self.cut(text) }
        for index in window.known.indices where window.known[index].kind == kind {
            window.known[index].request.count(seconds: seconds, now: now, details: details)
            return
        }
        // Of more than are kept, only what is slower than another comes in its place.
        let isFull = window.known.count >= Self.knownMaximum
        let quickest = isFull ? window.known.indices.min { self.seconds(of: $0) < self.seconds(of: $1) } : nil
        if let quickest, self.seconds(of: quickest) >= seconds { return }
        let details = details()
        let request = StoreStatus.Request(
            operation: kind.operation, entity: kind.entity, text: Self.cut(kind.shownText), plan: details.plan,
            seconds: seconds, rowsTested: details.rowsTested, rows: details.rows, time: now, calls: 1,
            totalSeconds: seconds)
        if let quickest {
            window.known[quickest] = Known(kind: kind, request: request)
        } else {
            window.known.append(Known(kind: kind, request: request))
        }
    }

    private func seconds(of index: Int) -> Double { window.known[index].request.seconds }

    /// The slowest kinds, the slowest first.
    mutating func slowest(now: Double) -> [StoreStatus.Request] {
        turn(now: now)
        let known = (window.known + (before?.known ?? [])).map { ($0.kind, $0.request) }
        let all = Dictionary(known, uniquingKeysWith: Self.merged)
        return Array(all.values.sorted { ($0.seconds, $1.text) > ($1.seconds, $0.text) }.prefix(Self.maximum))
    }

    private mutating func turn(now: Double) {
        // Also when the clock was put back; a little earlier than the one before is a request of another thread.
        guard now >= window.began + Self.windowSeconds || now < window.began - Self.stepSeconds else { return }
        before = now < window.began + 2 * Self.windowSeconds && now >= window.began ? window : nil
        window = Window(began: now)
    }

    /// Of two notes of a kind: the slower one, with the calls of both.
    private static func merged(_ one: StoreStatus.Request, _ other: StoreStatus.Request) -> StoreStatus.Request {
        var merged = other.seconds > one.seconds ? other : one
        (merged.calls, merged.totalSeconds) = (one.calls + other.calls, one.totalSeconds + other.totalSeconds)
        return merged
    }

    /// Scalars are counted: one character may have thousands of them.
    static func cut(_ text: String) -> String {
        // Mostly it has not even as many bytes.
        if text.utf8.count <= textMaximum { return text }
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: textMaximum, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }
}

extension StoreStatus.Request {
    /// Counts one more of the kind.
    fileprivate mutating func count(seconds: Double, now: Double, details: () -> SlowRequests.Details) {
        calls += 1
        totalSeconds += seconds
        guard seconds > self.seconds else { return }
        (self.seconds, time) = (seconds, now)
        let details = details()
        (plan, rowsTested, rows) = (details.plan, details.rowsTested, details.rows)
    }
}
