import Dispatch
import Foundation
import StrataSupport

/// Lets only so many long searches run at a time, those of one coordinator; the others wait in the order in which they
/// came, those that have taken long already behind those that have not. Short ones do not come here.
///
/// Whoever has been let in runs none of the program's code until it leaves, and so waits for nobody.
package final class ScanGate: @unchecked Sendable {
    // Unchecked: everything that changes is guarded by `lock`.
    private final class Waiter: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        let since = DispatchTime.now().uptimeNanoseconds
    }

    static let defaultMaximum = max(1, Processors.count)
    /// For so long, in nanoseconds, the last ones wait for others at most.
    private static let patience: UInt64 = 100_000_000

    private let lock = NSLock()
    private var limit = ScanGate.defaultMaximum
    private var running = 0
    private var mostRunning = 0
    private var waiting = JobQueue<Waiter>()
    /// Those that come after all others.
    private var last = JobQueue<Waiter>()
    /// Those that have been let in and do not know it yet.
    private var admitted: Set<ObjectIdentifier> = []
    /// Whose stores are searched: for who hears of waits. Set by the coordinator before anybody else knows it.
    package var eventStores: () -> [EventStore] = { [] }

    package init() {}

    /// How many run at most.
    package var maximum: Int {
        get { lock.withLock { limit } }
        set {
            lock.withLock {
                limit = newValue
                admit()
            }
        }
    }

    /// How many run, how many have at most been running, and how many wait.
    package var counts: (running: Int, mostRunning: Int, waiting: Int) {
        lock.withLock { (running, mostRunning, waiting.count + last.count) }
    }

    /// Returns when the search may run.
    ///
    /// - Throws: why the request should stop; then it has not been let in.
    package func enter(_ control: RequestControl?) throws {
        let waiter: Waiter? = lock.withLock {
            if running < limit, waiting.isEmpty, last.isEmpty {
                running += 1
                mostRunning = max(mostRunning, running)
                return nil
            }
            let waiter = Waiter()
            waiting.append(waiter)
            return waiter
        }
        if let waiter { try wait(waiter, control) }
    }

    /// Leaves and enters again, if somebody waits who comes before.
    ///
    /// - Parameter isLast: whether it comes after all who have not run for as long.
    /// - Throws: why the request should stop; then it has left.
    package func pass(_ control: RequestControl?, isLast: Bool) throws {
        let waiter: Waiter? = lock.withLock {
            // Of two that have run for long, too, each has its time.
            if waiting.isEmpty, last.isEmpty, running <= limit { return nil }
            let waiter = Waiter()
            if isLast { last.append(waiter) } else { waiting.append(waiter) }
            running -= 1
            admit()
            return waiter
        }
        if let waiter { try wait(waiter, control) }
    }

    private func wait(_ waiter: Waiter, _ control: RequestControl?) throws {
        try EventHub.telling(
            .wait, of: eventStores(),
            as: { .wait(WaitEvent(reason: .scan, stores: $0.stores, duration: $0.duration)) }
        ) {
            try ContextPool.waiting { try waitAside(waiter, control) }
        }
    }

    private func waitAside(_ waiter: Waiter, _ control: RequestControl?) throws {
        guard let control else {
            waiter.semaphore.wait()
            _ = lock.withLock { admitted.remove(ObjectIdentifier(waiter)) }
            return
        }
        try control.whileWaiting(wake: { waiter.semaphore.signal() }) {
            while true {
                if control.mustPoll {
                    _ = waiter.semaphore.wait(timeout: .now() + .milliseconds(RequestControl.pollMilliseconds))
                } else {
                    waiter.semaphore.wait()
                }
                let isStopped = control.isStopped
                let isAdmitted = lock.withLock {
                    if admitted.remove(ObjectIdentifier(waiter)) != nil { return true }
                    if isStopped { remove(waiter) }
                    return false
                }
                if isAdmitted { return }
                if isStopped { throw control.error }
            }
        }
    }

    /// Takes somebody out of the line. Under the lock.
    private func remove(_ waiter: Waiter) {
        if waiting.removeFirst(where: { $0 === waiter }) == nil { _ = last.removeFirst { $0 === waiter } }
    }

    package func leave() {
        lock.withLock {
            running -= 1
            admit()
        }
    }

    /// Lets in who comes next, as many as may run. Under the lock.
    private func admit() {
        while running < limit, let waiter = next() {
            running += 1
            mostRunning = max(mostRunning, running)
            admitted.insert(ObjectIdentifier(waiter))
            waiter.semaphore.signal()
        }
    }

    /// Takes who comes next out of the line. Under the lock.
    private func next() -> Waiter? {
        if let patient = last.first, DispatchTime.now().uptimeNanoseconds - patient.since >= Self.patience {
            return last.popFirst()
        }
        return waiting.popFirst() ?? last.popFirst()
    }
}
