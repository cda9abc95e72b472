import CStrataSupport
import Dispatch
import Foundation
import StrataLog
import StrataSupport

/// Something that a pool's thread runs.
protocol PoolJob: AnyObject, Sendable {
    func run()
}

/// The threads that the contexts' queues share: about as many run as there are processors.
///
/// A thread that waits does not count, so that another one runs meanwhile: one that waits for a queue, for a commit or
/// for its turn to scan says so (``waiting(_:)``), as does one that runs a long search, so that small reads go on. What
/// a program's own blocks wait for nobody says: while there is work and none of it is begun, ``PoolMonitor`` looks
/// which threads sleep. So blocks may wait for each other in any way. Threads without work end after a while.
package final class ContextPool: @unchecked Sendable {
    // Unchecked: everything that changes is guarded by `lock`.
    package static let shared = ContextPool(width: max(2, Processors.count))

    /// More threads than this are never started; blocks then wait until others are done.
    static let threadsMaximum = 1_024
    /// How long a thread stays that has nothing to do.
    package static let idleMilliseconds = 1_000
    /// How long a thread may work on one block until others stop waiting for it.
    package static let patienceMilliseconds = 50

    /// One thread of the pool.
    package final class Worker: @unchecked Sendable {
        // Unchecked: guarded by the pool's lock.
        package enum State {
            /// Counts.
            case running
            /// Has said that it waits, or works on something large.
            case waiting
            /// Has been seen asleep, or working for long.
            case stalled
            case idle
        }

        @exclusivity(unchecked) package fileprivate(set) var state = State.running
        /// The system's number; 0 before the thread has begun.
        fileprivate(set) var threadID: Int32 = 0
        fileprivate let semaphore = DispatchSemaphore(value: 0)
        fileprivate unowned let pool: ContextPool

        fileprivate init(_ pool: ContextPool) {
            self.pool = pool
        }
    }

    private let lock = AdaptiveMutex<Void>(())
    /// How many threads run at a time, those not counted that wait.
    private let width: Int
    @exclusivity(unchecked) private var ready = JobQueue<any PoolJob>()
    @exclusivity(unchecked) private var workers: [ObjectIdentifier: Worker] = [:]
    @exclusivity(unchecked) private var idle: [Worker] = []
    @exclusivity(unchecked) private var running = 0
    /// How many jobs have been begun.
    @exclusivity(unchecked) private var begun = 0
    @exclusivity(unchecked) private var most = 0
    @exclusivity(unchecked) private var monitor: PoolMonitor?
    @exclusivity(unchecked) private var monitorRests = false

    package init(width: Int) {
        self.width = width
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key, nil)
        precondition(result == 0, "the process has no thread-specific keys left")
        return key
    }()

    private static var current: Worker? {
        pthread_getspecific(key).map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether the calling thread is one of a pool.
    package static var isCurrent: Bool { pthread_getspecific(key) != nil }

    // MARK: Work

    /// Has a job run, after those that were submitted before.
    func submit(_ job: any PoolJob) {
        let called = lock.locked {
            ready.append(job)
            return dispatch()
        }
        Self.wake(called)
    }

    /// Runs a block on a thread of the pool, later.
    package func async(_ block: @escaping @Sendable () -> Void) { submit(BlockJob(block)) }

    /// Runs a body that may wait. On a thread of the pool another one works meanwhile.
    package static func waiting<T>(_ body: () throws -> T) rethrows -> T {
        let isAside = stepAside()
        defer { if isAside { stepBack() } }
        SearchGate.shared.goesAway()
        return try body()
    }

    /// The calling thread does not count from now on, until ``stepBack()``. False when it does not anyway.
    static func stepAside() -> Bool {
        guard let worker = current else { return false }
        let called = worker.pool.lock.locked { worker.pool.stepAside(worker) }
        guard let called else { return false }
        wake(called)
        return true
    }

    /// As after ``stepAside()`` returned true, on the same thread.
    static func stepBack() {
        guard let worker = current else { return }
        worker.pool.lock.locked {
            worker.state = .running
            worker.pool.running += 1
        }
    }

    /// Whom to wake; nil when the worker does not count anyway. Under the lock.
    private func stepAside(_ worker: Worker) -> [Worker]? {
        if worker.state == .waiting { return nil }
        if worker.state == .running { running -= 1 }
        worker.state = .waiting
        return dispatch()
    }

    /// Gives what is ready to threads, as far as they may run. Under the lock.
    ///
    /// - Returns: the idle ones that have been called, to be woken when the lock is free again: the first thing that
    ///   they do is to take it.
    private func dispatch() -> [Worker] {
        var called: [Worker] = []
        var jobs = ready.count
        while jobs > 0, running < width {
            if let worker = idle.popLast() {
                worker.state = .running
                running += 1
                called.append(worker)
            } else if !startWorker() {
                break
            }
            jobs -= 1
        }
        // Where no thread could be started, the monitor has it tried again.
        if !ready.isEmpty { watch() }
        return called
    }

    private static func wake(_ called: [Worker]) {
        for worker in called { worker.semaphore.signal() }
    }

    private func startWorker() -> Bool {
        guard workers.count < Self.threadsMaximum else { return false }
        let worker = Worker(self)
        guard PoolThread.start("strata.context", { self.work(worker) }) else {
            // Those that there are do the work, and the monitor tries again.
            if workers.isEmpty { Warnings.once("no thread can be started: blocks of contexts wait until one can") }
            return false
        }
        workers[ObjectIdentifier(worker)] = worker
        most = max(most, workers.count)
        running += 1
        MemoryBudget.shared.record(MemoryBudget.bytesOfThread)
        return true
    }

    private func work(_ worker: Worker) {
        pthread_setspecific(Self.key, Unmanaged.passUnretained(worker).toOpaque())
        lock.locked { worker.threadID = strata_thread_id() }
        while true {
            let (job, called) = lock.locked { next(worker) }
            Self.wake(called)
            if let job {
                job.run()
                continue
            }
            if worker.semaphore.wait(timeout: .now() + .milliseconds(Self.idleMilliseconds)) == .success { continue }
            let isOver = lock.locked {
                // Otherwise it has been called just now.
                guard worker.state == .idle else { return false }
                idle.removeAll { $0 === worker }
                workers[ObjectIdentifier(worker)] = nil
                return true
            }
            if isOver {
                MemoryBudget.shared.record(-MemoryBudget.bytesOfThread)
                return
            }
            worker.semaphore.wait()
        }
    }

    /// What a worker that has nothing to do does next: a job, or nothing, and whom to wake. Under the lock.
    private func next(_ worker: Worker) -> (job: (any PoolJob)?, called: [Worker]) {
        if worker.state == .stalled {
            worker.state = .running
            running += 1
        }
        // Those that have waited come back beside others that took their places.
        if running <= width, let job = ready.popFirst() {
            begun += 1
            return (job, [])
        }
        worker.state = .idle
        running -= 1
        idle.append(worker)
        // Somebody else may have left its place between.
        return (nil, dispatch())
    }

    // MARK: Watching

    /// Sees to it that somebody looks after the threads while work is waiting. Under the lock.
    private func watch() {
        if let monitor {
            if monitorRests { monitor.wake() }
            monitorRests = false
            return
        }
        let new = PoolMonitor(self)
        if new.start() { monitor = new }
    }

    /// For the monitor: how many jobs have been begun; nil when none is waiting. It is woken when one is.
    package var progress: Int? {
        lock.locked {
            monitorRests = ready.isEmpty
            return monitorRests ? nil : begun
        }
    }

    /// For the monitor: it ends unless it has just been woken.
    func releaseMonitor() -> Bool {
        lock.locked {
            guard monitorRests else { return false }
            monitor = nil
            monitorRests = false
            return true
        }
    }

    /// For the monitor: nothing has been begun for a while. Those who sleep do not count any more, or one of the others
    /// if that has been for long.
    package func relieve(afterLong: Bool) {
        let busy = lock.locked { workers.values.filter { $0.state == .running && $0.threadID != 0 } }
        var stalled = busy.filter { strata_thread_is_asleep($0.threadID) != 0 }
        if stalled.isEmpty, afterLong, let first = busy.first { stalled = [first] }
        let called = lock.locked {
            for worker in stalled where worker.state == .running {
                worker.state = .stalled
                running -= 1
            }
            return dispatch()
        }
        Self.wake(called)
    }

    /// How many threads there are, and how many there have been at most.
    package var threadCount: Int { lock.locked { workers.count } }
    package var mostThreads: Int { lock.locked { most } }
    /// How many count.
    package var runningThreads: Int { lock.locked { running } }
}

private final class BlockJob: PoolJob {
    private let block: @Sendable () -> Void

    init(_ block: @escaping @Sendable () -> Void) {
        self.block = block
    }

    func run() { block() }
}
