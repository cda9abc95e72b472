import Dispatch
import Foundation
import StrataSupport

/// Lets about as many threads search stores at a time as there are processors; the others sleep until it is their turn.
///
/// Without it, every thread of a program that serves each client with a thread of its own is ready to run, and the
/// system lets each run for some milliseconds: whoever is interrupted waits for all the others, and whoever comes back
/// from the disk waits behind them. Threads of ``ContextPool`` do not come here, since no more of them run anyway.
///
/// A change of threads costs as much as a search: the next one finds none of its memory in the caches. So a thread that
/// searches again and again keeps its permit for a ``slice``, even if others have waited for longer, and nobody is
/// woken when it leaves. A thread that is not expected back soon is not waited for: the first in line is woken. Should
/// one that is expected not come, the first in line looks for itself when a slice is over. Whoever is inside runs none
/// of the program's code, but for value transformers, and may enter again.
package final class SearchGate: Sendable {
    package static let shared = SearchGate(permits: Processors.count)

    // All times are in nanoseconds.

    /// For so long a thread may come back before those who wait.
    private static let slice: UInt64 = 1_000_000
    /// For so long whoever comes by when a permit is free may take it before those who wait.
    private static let patience: UInt64 = 5_000_000
    /// Whoever is away for longer does more between two searches than to look at what it found.
    private static let absence: UInt64 = 100_000
    /// So many times in a row a thread has come back soon before it is expected to: a request may search twice or three
    /// times, and then wait for its client.
    private static let returnsOfExpected = 4

    private final class Waiter: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        let since: UInt64

        init(since: UInt64) {
            self.since = since
        }
    }

    private struct State {
        let permits: Int
        var free: Int
        /// Free permits to which nobody is expected back.
        var unassigned: Int
        var waiting = JobQueue<Waiter>()
        /// The first in line has been woken and has not looked yet.
        var isCalling = false
        /// The first in line has looked and found no permit: the next one is its own, whoever is expected back there.
        var isOverdue = false

        init(permits: Int) {
            (self.permits, free, unassigned) = (permits, permits, permits)
        }

        /// Whether who has no slice may come before those who wait. They may have begun to wait later than `now`.
        func mayPass(at now: UInt64) -> Bool { waiting.first.map { now < $0.since + SearchGate.patience } ?? true }

        /// - Parameter isExpected: whether the permit was kept for who takes it.
        mutating func take(isExpected: Bool) {
            free -= 1
            unassigned = min(isExpected ? unassigned : max(0, unassigned - 1), free)
        }

        mutating func giveBack(isExpected: Bool) {
            free += 1
            if !isExpected || isOverdue { unassigned += 1 }
        }

        /// Somebody for whom a permit was kept does not take it.
        mutating func expectNobody() { unassigned = min(unassigned + 1, free) }

        /// Who is to be woken: the first in line, if a permit is kept for nobody and it has not been.
        mutating func call() -> Waiter? {
            guard unassigned > 0, !isCalling, let first = waiting.first else { return nil }
            isCalling = true
            return first
        }
    }

    /// What is known of a thread.
    private struct Visitor {
        var isInside = false
        /// A permit is kept for it.
        var isExpected = false
        /// How many times in a row it has come back soon after it had left.
        var quickReturns = 0
        var left: UInt64 = 0
        var sliceEnd: UInt64 = 0
    }

    private let state: AdaptiveMutex<State>

    package init(permits: Int) {
        state = AdaptiveMutex(State(permits: max(1, permits)))
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { $0?.deallocate() }
        precondition(result == 0, "the process has no thread-specific keys left")
        return key
    }()

    /// The calling thread's.
    private static var visitor: UnsafeMutablePointer<Visitor> {
        if let known = pthread_getspecific(key) { return known.assumingMemoryBound(to: Visitor.self) }
        let new = UnsafeMutablePointer<Visitor>.allocate(capacity: 1)
        new.initialize(to: Visitor())
        pthread_setspecific(key, new)
        return new
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// How many permits are free, and how many threads wait.
    package var counts: (free: Int, waiting: Int) { state.withLock { ($0.free, $0.waiting.count) } }

    /// Takes a permit, when there is one. False for threads that need none: they have one, or are of ``ContextPool``.
    /// Whoever got true calls ``leave()`` on the same thread.
    ///
    /// - Throws: why the request should stop; then it has no permit.
    package func enter(_ control: RequestControl?) throws -> Bool {
        if ContextPool.isCurrent { return false }
        let visitor = Self.visitor
        if visitor.pointee.isInside { return false }
        let now = Self.now
        let (hasSlice, isExpected) = (now < visitor.pointee.sliceEnd, visitor.pointee.isExpected)
        visitor.pointee.quickReturns =
            now - visitor.pointee.left < Self.absence ? visitor.pointee.quickReturns + 1 : 0
        visitor.pointee.isExpected = false
        let entered = state.withLock { state -> (waiter: Waiter, isFirst: Bool, next: Waiter?)? in
            if state.free > 0, hasSlice || state.mayPass(at: now) {
                state.take(isExpected: isExpected)
                return nil
            }
            if isExpected { state.expectNobody() }
            let waiter = Waiter(since: now)
            state.waiting.append(waiter)
            return (waiter, state.waiting.count == 1, state.call())
        }
        if let entered {
            entered.next?.semaphore.signal()
            try wait(entered.waiter, isFirst: entered.isFirst, control)
            visitor.pointee.sliceEnd = Self.now + Self.slice
        } else if !hasSlice {
            visitor.pointee.sliceEnd = now + Self.slice
        }
        visitor.pointee.isInside = true
        return true
    }

    package func leave() {
        let visitor = Self.visitor
        let now = Self.now
        let isExpected = visitor.pointee.quickReturns >= Self.returnsOfExpected && now < visitor.pointee.sliceEnd
        (visitor.pointee.isInside, visitor.pointee.isExpected, visitor.pointee.left) = (false, isExpected, now)
        let next = state.withLock { state in
            state.giveBack(isExpected: isExpected)
            return state.call()
        }
        next?.semaphore.signal()
    }

    /// The calling thread is about to wait for something else, and will not come back soon.
    package func goesAway() {
        guard let known = pthread_getspecific(Self.key)?.assumingMemoryBound(to: Visitor.self),
            known.pointee.isExpected
        else { return }
        known.pointee.isExpected = false
        let next = state.withLock { state in
            state.expectNobody()
            return state.call()
        }
        next?.semaphore.signal()
    }

    // MARK: Waiting

    private enum Look {
        case isAdmitted
        case isFirst
        case isBehind
    }

    private func wait(_ waiter: Waiter, isFirst: Bool, _ control: RequestControl?) throws {
        guard let control else { return try wait(waiter, isFirst: isFirst, polling: false) {} }
        try control.whileWaiting(wake: { waiter.semaphore.signal() }) {
            try wait(waiter, isFirst: isFirst, polling: control.mustPoll) {
                guard control.isStopped else { return }
                giveUp(waiter)
                throw control.error
            }
        }
    }

    private func wait(_ waiter: Waiter, isFirst: Bool, polling: Bool, _ check: () throws -> Void) throws {
        var isFirst = isFirst
        // When the first in line looks by himself: once, after which somebody calls him.
        var ownLook = isFirst ? Self.now + Self.slice : UInt64.max
        while true {
            var deadline = ownLook == .max ? DispatchTime.distantFuture : DispatchTime(uptimeNanoseconds: ownLook)
            if polling { deadline = min(deadline, .now() + .milliseconds(RequestControl.pollMilliseconds)) }
            _ = waiter.semaphore.wait(timeout: deadline)
            try check()
            let isLate = Self.now >= ownLook
            switch look(waiter, takesAny: isLate) {
            case .isAdmitted: return
            case .isFirst where isLate: ownLook = .max
            case .isFirst where !isFirst:
                isFirst = true
                ownLook = Self.now + Self.slice
            case .isFirst, .isBehind: break
            }
        }
    }

    /// Takes a permit for the first in line, if he has been called or may take any, one that is kept, too.
    private func look(_ waiter: Waiter, takesAny: Bool) -> Look {
        let (look, called, promoted) = state.withLock { state -> (Look, Waiter?, Waiter?) in
            guard state.waiting.first === waiter else { return (.isBehind, nil, nil) }
            let mayTake = takesAny || state.isCalling
            state.isCalling = false
            if mayTake { state.isOverdue = state.free == 0 }
            guard mayTake, state.free > 0 else { return (.isFirst, nil, nil) }
            state.take(isExpected: false)
            _ = state.waiting.popFirst()
            return (.isAdmitted, state.call(), state.waiting.first)
        }
        wake(called, promoted)
        return look
    }

    private func giveUp(_ waiter: Waiter) {
        let (called, promoted) = state.withLock { state -> (Waiter?, Waiter?) in
            let wasFirst = state.waiting.first === waiter
            if wasFirst { (state.isCalling, state.isOverdue) = (false, false) }
            _ = state.waiting.removeFirst { $0 === waiter }
            return (state.call(), wasFirst ? state.waiting.first : nil)
        }
        wake(called, promoted)
    }

    /// Wakes who is called, and who has become the first in line and looks by himself from now on.
    private func wake(_ called: Waiter?, _ promoted: Waiter?) {
        called?.semaphore.signal()
        if promoted !== called { promoted?.semaphore.signal() }
    }
}
