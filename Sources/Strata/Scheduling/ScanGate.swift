import Dispatch
import Foundation

/// Lets only so many large scans run at a time, those of one coordinator; the others wait in the order in which they
/// came. Small ones do not come here.
///
/// Whoever has been let in runs none of the program's code until it leaves, and so waits for nobody.
final class ScanGate: @unchecked Sendable {
    // Unchecked: everything that changes is guarded by `lock`.
    private final class Waiter: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
    }

    static let defaultMaximum = max(1, Processors.count)

    private let lock = NSLock()
    private var limit = ScanGate.defaultMaximum
    private var running = 0
    private var mostRunning = 0
    private var waiting = JobQueue<Waiter>()
    /// Those that have been let in and do not know it yet.
    private var admitted: Set<ObjectIdentifier> = []

    /// How many run at most.
    var maximum: Int {
        get { lock.withLock { limit } }
        set {
            lock.withLock {
                limit = newValue
                admit()
            }
        }
    }

    /// How many run, how many have at most been running, and how many wait.
    var counts: (running: Int, mostRunning: Int, waiting: Int) {
        lock.withLock { (running, mostRunning, waiting.count) }
    }

    /// Returns when the scan may run.
    ///
    /// - Throws: why the request should stop; then it has not been let in.
    func enter(_ control: RequestControl?) throws {
        let waiter: Waiter? = lock.withLock {
            if running < limit, waiting.isEmpty {
                running += 1
                mostRunning = max(mostRunning, running)
                return nil
            }
            let waiter = Waiter()
            waiting.append(waiter)
            return waiter
        }
        guard let waiter else { return }
        try ContextPool.waiting { try wait(waiter, control) }
    }

    private func wait(_ waiter: Waiter, _ control: RequestControl?) throws {
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
                    if isStopped { _ = waiting.removeFirst { $0 === waiter } }
                    return false
                }
                if isAdmitted { return }
                if isStopped { throw control.error }
            }
        }
    }

    func leave() {
        lock.withLock {
            running -= 1
            admit()
        }
    }

    /// Lets in who comes next, as many as may run. Under the lock.
    private func admit() {
        while running < limit, let waiter = waiting.popFirst() {
            running += 1
            mostRunning = max(mostRunning, running)
            admitted.insert(ObjectIdentifier(waiter))
            waiter.semaphore.signal()
        }
    }
}
