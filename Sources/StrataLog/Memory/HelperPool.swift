internal import CStrataSupport
internal import Dispatch
internal import StrataSupport

/// Threads that do on another core what the caller would else do itself: encode blocks, make sets, touch pages. One
/// pool for the process, with as many threads as there are processors, however many callers there are; they end when
/// there has been nothing to do for a second. Thread-safe.
///
/// For work that waits for nothing. Whoever needs a result does what no helper has begun himself.
package final class HelperPool: Sendable {
    package static let shared = HelperPool(width: Int(strata_processor_count()), budget: .shared)

    private struct State {
        /// In the order in which they came.
        var waiting: [(@Sendable () -> Void)?] = []
        var first = 0
        /// Threads that sleep, by their semaphores; the one that has worked last is woken first.
        var idle: [DispatchSemaphore] = []
        var threads = 0
        var most = 0

        private static let retainedCapacity = 64

        mutating func next() -> (@Sendable () -> Void)? {
            guard first < waiting.count else { return nil }
            let body = waiting[first]
            waiting[first] = nil
            first += 1
            if first == waiting.count {
                (waiting, first) = ([], 0)
            } else if first >= Self.retainedCapacity, first * 2 >= waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            return body
        }
    }

    private static let idleMilliseconds = 1_000

    private let width: Int
    private let budget: MemoryBudget?
    private let state = AdaptiveMutex(State())

    package init(width: Int, budget: MemoryBudget? = nil) {
        self.width = max(1, width)
        self.budget = budget
    }

    /// Has a helper run a body, later.
    package func async(_ body: @escaping @Sendable () -> Void) {
        let (sleeper, isNew) = state.withLock { state -> (DispatchSemaphore?, Bool) in
            state.waiting.append(body)
            if let sleeper = state.idle.popLast() { return (sleeper, false) }
            guard state.threads < width else { return (nil, false) }
            state.threads += 1
            state.most = max(state.most, state.threads)
            return (nil, true)
        }
        sleeper?.signal()
        guard isNew else { return }
        budget?.record(MemoryBudget.bytesOfThread)
        if PoolThread.start("strata.helper", { self.work() }) { return }
        // The others do it, or the caller.
        budget?.record(-MemoryBudget.bytesOfThread)
        let rest = state.withLock { state -> [@Sendable () -> Void] in
            state.threads -= 1
            guard state.threads == 0 else { return [] }
            defer { (state.waiting, state.first) = ([], 0) }
            return state.waiting[state.first...].compactMap { $0 }
        }
        for body in rest { body() }
    }

    private func work() {
        let semaphore = DispatchSemaphore(value: 0)
        while true {
            let body = state.withLock { state in
                let body = state.next()
                if body == nil { state.idle.append(semaphore) }
                return body
            }
            if let body {
                body()
                continue
            }
            if semaphore.wait(timeout: .now() + .milliseconds(Self.idleMilliseconds)) == .success { continue }
            let isOver = state.withLock { state in
                guard let index = state.idle.firstIndex(where: { $0 === semaphore }) else { return false }
                state.idle.remove(at: index)
                state.threads -= 1
                return true
            }
            if isOver { break }
            // It has been called just now.
            semaphore.wait()
        }
        budget?.record(-MemoryBudget.bytesOfThread)
    }

    /// How many threads there are, and how many there have been at most.
    package var threadCount: Int { state.withLock { $0.threads } }
    package var mostThreads: Int { state.withLock { $0.most } }
}
