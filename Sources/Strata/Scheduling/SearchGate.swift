import Dispatch
import Foundation
import StrataIO

/// Lets about as many threads search stores at a time as there are processors; the others sleep until it is their turn.
///
/// Without it, every thread of a program that serves each client with a thread of its own is ready to run, and the
/// system lets each run for some milliseconds: whoever is interrupted waits for all the others, and whoever comes back
/// from the disk waits behind them. Threads of ``ContextPool`` do not come here, since no more of them run anyway.
///
/// Who comes by when a place is free takes it, even if others have waited for longer, so that no place stands empty
/// until somebody is awake. Nobody is overtaken for longer than ``patience``. Whoever is inside runs none of the
/// program's code, but for value transformers, and may enter again.
final class SearchGate: @unchecked Sendable {
    // Unchecked: `state` is guarded by its lock.
    static let shared = SearchGate(places: ProcessInfo.processInfo.activeProcessorCount)

    /// For so long others may come first.
    private static let patience = Duration.milliseconds(5)

    private final class Waiter: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        let since = ContinuousClock.now
    }

    private struct State {
        var free: Int
        var waiting = JobQueue<Waiter>()
        /// The first in line has been woken and has not looked yet.
        var isCalling = false
    }

    private let state: AdaptiveMutex<State>

    init(places: Int) {
        state = AdaptiveMutex(State(free: max(1, places)))
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key, nil)
        precondition(result == 0, "the process has no thread-specific keys left")
        return key
    }()

    /// How many places are free, and how many threads wait.
    var counts: (free: Int, waiting: Int) { state.withLock { ($0.free, $0.waiting.count) } }

    /// Takes a place, when there is one. False for threads that need none: they have one, or are of ``ContextPool``.
    /// Whoever got true calls ``leave()`` on the same thread.
    ///
    /// - Throws: why the request should stop; then it has no place.
    func enter(_ control: RequestControl?) throws -> Bool {
        if pthread_getspecific(Self.key) != nil || ContextPool.isCurrent { return false }
        let waiter: Waiter? = state.withLock { state in
            if state.free > 0, Self.mayPass(state.waiting.first) {
                state.free -= 1
                return nil
            }
            let waiter = Waiter()
            state.waiting.append(waiter)
            return waiter
        }
        if let waiter { try wait(waiter, control) }
        pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
        return true
    }

    func leave() {
        pthread_setspecific(Self.key, nil)
        let next = state.withLock { state in
            state.free += 1
            return Self.call(&state)
        }
        next?.semaphore.signal()
    }

    private static func mayPass(_ first: Waiter?) -> Bool {
        guard let first else { return true }
        return ContinuousClock.now - first.since < patience
    }

    /// Who is to be woken, if there is a place for him and he has not been.
    private static func call(_ state: inout State) -> Waiter? {
        guard state.free > 0, !state.isCalling, let first = state.waiting.first else { return nil }
        state.isCalling = true
        return first
    }

    private func wait(_ waiter: Waiter, _ control: RequestControl?) throws {
        guard let control else {
            repeat { waiter.semaphore.wait() } while !take(waiter)
            return
        }
        try control.whileWaiting(wake: { waiter.semaphore.signal() }) {
            while true {
                if control.mustPoll {
                    _ = waiter.semaphore.wait(timeout: .now() + .milliseconds(RequestControl.pollMilliseconds))
                } else {
                    waiter.semaphore.wait()
                }
                if control.isStopped {
                    giveUp(waiter)
                    throw control.error
                }
                if take(waiter) { return }
            }
        }
    }

    /// Takes a place for the first in line, who has been woken or has looked by himself.
    private func take(_ waiter: Waiter) -> Bool {
        let (isTaken, next) = state.withLock { state -> (Bool, Waiter?) in
            guard state.waiting.first === waiter else { return (false, nil) }
            state.isCalling = false
            guard state.free > 0 else { return (false, nil) }
            state.free -= 1
            _ = state.waiting.popFirst()
            return (true, Self.call(&state))
        }
        next?.semaphore.signal()
        return isTaken
    }

    private func giveUp(_ waiter: Waiter) {
        let next = state.withLock { state in
            if state.waiting.first === waiter { state.isCalling = false }
            _ = state.waiting.removeFirst { $0 === waiter }
            return Self.call(&state)
        }
        next?.semaphore.signal()
    }
}
