import Logging
import Metrics
import StrataSupport
import Synchronization
import Tracing

/// Logs, metrics and spans of what Strata does in this process: fetches, saves, flushes, batch requests and the work of
/// its stores.
///
/// ```swift
/// let telemetry = StrataTelemetry.start()
/// ```
///
/// Names are those of OpenTelemetry's database conventions where these have one, and `strata.…` otherwise;
/// `docs/services.md` lists them. Users' values are in none of them. A fetch in a block given to `perform` is a child
/// of the request's span. While telemetry runs, task-local loggers, trace contexts, tracers and metrics factories
/// reach the blocks that nobody awaits, too.
///
/// Safe to use from any thread.
public final class StrataTelemetry: Sendable {
    /// Where it goes, and how much of it.
    public struct Options: Sendable {
        /// Nil for the task's logger, `Logger.current`, so that a request's metadata is in the lines of its fetches.
        public var logger: Logger?
        /// Nil for the program's, `MetricsSystem.factory`, as it is when ``StrataTelemetry/start(_:)`` is called.
        public var metrics: (any MetricsFactory)?
        /// Nil for the task's, or the program's.
        public var tracer: (any Tracer)?
        /// A fetch that takes longer is slow: it is counted in `strata.fetch.slow` and logged, at most once a second
        /// for requests that differ only in their constants.
        public var slowFetch: Duration = .milliseconds(100)
        /// Whether spans and lines of slow fetches have the request's text (`db.query.text`), with `?` in the place of
        /// every constant.
        public var showsRequests = false
        /// Whether they have it with the constants, which are users' values.
        public var showsValues = false

        var showsText: Bool { showsRequests || showsValues }

        /// To the program's own logger, metrics and tracer, without users' values.
        public init() {}
    }

    /// Task-local values are handed on once, however many listen.
    private static let scope = Mutex((users: 0, number: 0))

    private let number: Mutex<Int?>
    private let claim: Int?

    private init(_ number: Int, claim: Int?) {
        self.number = Mutex(number)
        self.claim = claim
        Self.scope.withLock { scope in
            scope.users += 1
            guard scope.users == 1 else { return }
            scope.number = EventHub.add(
                EventListener(kinds: .taskLocals, happened: { _ in }) {
                    let scope = TaskScope()
                    return { scope.run($0) }
                })
        }
    }

    /// Begins to tell. Several may run at the same time.
    ///
    /// - Returns: what ends it; it goes on until then, whether the result is kept or not.
    @discardableResult
    public static func start(_ options: Options = Options()) -> StrataTelemetry { start(options, paths: nil) }

    /// - Parameter paths: of the stores that it is about; nil for all of the process. Of several that are about one
    ///   store, the first tells.
    static func start(_ options: Options, paths: Set<String>?) -> StrataTelemetry {
        let claim = paths.map { StoreClaims.telemetry.add($0) }
        let recorder = TelemetryRecorder(options, claim: claim)
        let number = EventHub.add(
            EventListener(kinds: TelemetryRecorder.kinds, guardsCalls: recorder.guardsCalls) { event, parts in
                recorder.record(event, parts)
            })
        return StrataTelemetry(number, claim: claim)
    }

    /// Changes which stores it is about.
    func follow(_ paths: Set<String>) {
        if let claim { StoreClaims.telemetry.set(paths, of: claim) }
    }

    /// Ends it. What is being told at this moment may still arrive. May be called several times.
    public func stop() {
        number.withLock { number in
            guard let known = number else { return }
            number = nil
            EventHub.remove(known)
            if let claim { StoreClaims.telemetry.remove(claim) }
            Self.scope.withLock { scope in
                scope.users -= 1
                if scope.users == 0 { EventHub.remove(scope.number) }
            }
        }
    }
}
