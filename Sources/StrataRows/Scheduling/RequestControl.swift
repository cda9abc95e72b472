import Foundation
import StrataLog
import Synchronization

/// Tells a request that runs whether it should stop: its task has been cancelled, its time is up, or its progress was
/// cancelled.
///
/// What runs asks now and then, on any thread: mostly that is one load. A request within another one, as a child
/// context's is within its parent's, goes on as long as both may.
@usableFromInline
package final class RequestControl: Sendable {
    /// Why a request stops. Once there is a reason it stays.
    @frozen
    @usableFromInline
    package enum Reason: UInt8 {
        case none
        /// The task was.
        case cancelled
        /// The progress was.
        case userCancelled
        case timedOut
    }

    @usableFromInline let stop = Atomic<UInt8>(Reason.none.rawValue)
    @usableFromInline let outer: RequestControl?
    private let timeLimit: Duration?
    @usableFromInline let deadline: ContinuousClock.Instant?
    @usableFromInline let progress: Progress?
    /// Whether the task of the thread that runs the request may be cancelled without anybody telling the control.
    @usableFromInline let asksTask: Bool
    /// Wakes the request while it waits.
    private let wake = Mutex<(@Sendable () -> Void)?>(nil)
    /// How long a request waits that has to find out by itself whether it should stop.
    package static let pollMilliseconds = 5

    /// - Parameter outer: what the request is a part of.
    package init(
        in outer: RequestControl? = nil, timeLimit: Duration? = nil, progress: Progress? = nil, asksTask: Bool = false
    ) {
        self.outer = outer
        self.timeLimit = timeLimit
        self.progress = progress
        self.asksTask = asksTask
        deadline = timeLimit.map { ContinuousClock.now + $0 }
    }

    /// One that ``cancel()`` alone stops.
    package init() {
        outer = nil
        timeLimit = nil
        progress = nil
        asksTask = false
        deadline = nil
    }

    /// The shorter one of two limits.
    package static func shortest(_ left: Duration?, _ right: Duration?) -> Duration? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    // MARK: Stopping

    /// Stops the request, and wakes it if it waits. From any thread.
    package func cancel() {
        set(.cancelled)
        let wake = wake.withLock { $0 }
        wake?()
    }

    private func set(_ reason: Reason) {
        _ = stop.compareExchange(expected: Reason.none.rawValue, desired: reason.rawValue, ordering: .releasing)
    }

    /// Whether the task of the thread that runs the request has to be asked.
    package var asksTaskOfThread: Bool { asksTask || outer?.asksTaskOfThread == true }

    /// Asks the calling thread's task, on behalf of the thread that runs the request meanwhile.
    func askTask() {
        if asksTask, Task.isCancelled { cancel() }
        outer?.askTask()
    }

    /// Why the request should stop, found out by looking at everything.
    @usableFromInline var reasonNow: Reason {
        if let known = Reason(rawValue: stop.load(ordering: .acquiring)), known != .none { return known }
        if asksTask, Task.isCancelled {
            set(.cancelled)
        } else if progress?.isCancelled == true {
            set(.userCancelled)
        } else if let deadline, ContinuousClock.now >= deadline {
            set(.timedOut)
        } else {
            return outer?.reasonNow ?? .none
        }
        return Reason(rawValue: stop.load(ordering: .acquiring)) ?? .none
    }

    /// Whether nobody has to be asked but the flag.
    @inlinable @inline(__always)
    var isPlain: Bool { outer == nil && deadline == nil && progress == nil && !asksTask }

    /// Whether the request should stop.
    @inlinable @inline(__always)
    package var isStopped: Bool {
        if stop.load(ordering: .relaxed) == Reason.none.rawValue, isPlain { return false }
        return reasonNow != .none
    }

    /// - Throws: why the request should stop, if it should.
    @inlinable @inline(__always)
    package func check() throws {
        if isStopped { throw error }
    }

    /// As ``check()``, among the engine's reads: whoever asked for these throws ``error`` instead.
    @inlinable @inline(__always)
    package func checkRead() throws(StoreError) {
        if isStopped { throw StoreError(.cancelled, "the request was stopped") }
    }

    /// What a request throws that has been stopped: `CancellationError`, `CocoaError` 3072 when its progress was
    /// cancelled, 134090 when its time is up.
    @usableFromInline package var error: any Error {
        switch reasonNow {
        case .none, .cancelled: return CancellationError()
        case .userCancelled: return DescribedError(.userCancelled)
        case .timedOut:
            let limit = innermostLimit.map { " of \($0)" } ?? ""
            return DescribedError(
                .persistentStoreTimeout,
                userInfo: [NSLocalizedDescriptionKey: "The request was stopped: its time limit\(limit) is up."])
        }
    }

    private var innermostLimit: Duration? { timeLimit ?? outer?.innermostLimit }

    // MARK: Waiting

    /// Whether a request that waits has to look for itself, since nobody wakes it.
    var mustPoll: Bool { deadline != nil || progress != nil || asksTask || outer?.mustPoll == true }

    /// Runs a body that waits. `wake` is called, on any thread, when the request is cancelled meanwhile; at once if it
    /// has been.
    func whileWaiting<T>(wake: @escaping @Sendable () -> Void, _ body: () throws -> T) throws -> T {
        setWake(wake)
        defer { setWake(nil) }
        if isStopped { wake() }
        return try body()
    }

    private func setWake(_ new: (@Sendable () -> Void)?) {
        wake.withLock { $0 = new }
        outer?.setWake(new)
    }
}
