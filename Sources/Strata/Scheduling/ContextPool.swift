import CStrataSupport
import Dispatch
import Foundation
import StrataIO
import StrataLog

/// Something that a pool's thread runs.
protocol PoolJob: AnyObject, Sendable {
    func run()
}

/// The threads that the contexts' queues share: about as many run as there are processors.
///
/// A thread that waits does not count, so that another one runs meanwhile: one that waits for a queue, for a commit or
/// for its turn to scan says so (``waiting(_:)``), as does one that runs a large scan, so that small reads go on. What a program's own blocks wait for nobody says: while there is work
/// and none of it is begun, ``PoolMonitor`` looks which threads sleep. So blocks may wait for each other in any
/// way. Threads without work end after a while.
final class ContextPool: @unchecked Sendable {
    // Unchecked: everything that changes is guarded by `lock`.
    static let shared = ContextPool(width: max(2, Processors.count))

    /// More threads than this are never started; blocks then wait until others are done.
    static let threadsMaximum = 1_024
    /// How long a thread stays that has nothing to do.
    static let idleMilliseconds = 1_000
    /// How long a thread may work on one block until others stop waiting for it.
    static let patienceMilliseconds = 50

    /// One thread of the pool.
    final class Worker: @unchecked Sendable {
        // Unchecked: guarded by the pool's lock.
        enum State {
            /// Counts.
            case running
            /// Has said that it waits, or works on something large.
            case waiting
            /// Has been seen asleep, or working for long.
            case stalled
            case idle
        }

        fileprivate(set) var state = State.running
        /// The system's number; 0 before the thread has begun.
        fileprivate(set) var threadID: Int32 = 0
        fileprivate let semaphore = DispatchSemaphore(value: 0)
        fileprivate unowned let pool: ContextPool

        fileprivate init(_ pool: ContextPool) {
            self.pool = pool
        }
    }

    private let lock = NSLock()
    /// How many threads run at a time, those not counted that wait.
    private let width: Int
    private var ready = JobQueue<any PoolJob>()
    private var workers: [ObjectIdentifier: Worker] = [:]
    private var idle: [Worker] = []
    private var running = 0
    /// How many jobs have been begun.
    private var begun = 0
    private var most = 0
    private var monitor: PoolMonitor?
    private var monitorRests = false

    init(width: Int) {
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
    static var isCurrent: Bool { pthread_getspecific(key) != nil }

    // MARK: Work

    /// Has a job run, after those that were submitted before.
    func submit(_ job: any PoolJob) {
        lock.withLock {
            ready.append(job)
            dispatch()
        }
    }

    /// Runs a block on a thread of the pool, later.
    func async(_ block: @escaping @Sendable () -> Void) { submit(BlockJob(block)) }

    /// Runs a body that may wait. On a thread of the pool another one works meanwhile.
    static func waiting<T>(_ body: () throws -> T) rethrows -> T {
        let isAside = stepAside()
        defer { if isAside { stepBack() } }
        SearchGate.shared.goesAway()
        return try body()
    }

    /// The calling thread does not count from now on, until ``stepBack()``. False when it does not anyway.
    static func stepAside() -> Bool {
        guard let worker = current else { return false }
        return worker.pool.lock.withLock { worker.pool.stepAside(worker) }
    }

    /// As after ``stepAside()`` returned true, on the same thread.
    static func stepBack() {
        guard let worker = current else { return }
        worker.pool.lock.withLock {
            worker.state = .running
            worker.pool.running += 1
        }
    }

    /// Under the lock.
    private func stepAside(_ worker: Worker) -> Bool {
        if worker.state == .waiting { return false }
        if worker.state == .running { running -= 1 }
        worker.state = .waiting
        dispatch()
        return true
    }

    /// Gives what is ready to threads, as far as they may run. Under the lock.
    private func dispatch() {
        var jobs = ready.count
        while jobs > 0, running < width {
            if let worker = idle.popLast() {
                worker.state = .running
                running += 1
                worker.semaphore.signal()
            } else if !startWorker() {
                break
            }
            jobs -= 1
        }
        // Where no thread could be started, the monitor has it tried again.
        if !ready.isEmpty { watch() }
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
        MemoryBudget.shared.note(MemoryBudget.bytesOfThread)
        return true
    }

    private func work(_ worker: Worker) {
        pthread_setspecific(Self.key, Unmanaged.passUnretained(worker).toOpaque())
        lock.lock()
        worker.threadID = strata_thread_id()
        while true {
            // Those that have waited come back beside others that took their places.
            if running <= width, let job = ready.popFirst() {
                begun += 1
                lock.unlock()
                job.run()
                lock.lock()
                if worker.state == .stalled {
                    worker.state = .running
                    running += 1
                }
                continue
            }
            worker.state = .idle
            running -= 1
            idle.append(worker)
            // Somebody else may have left its place between.
            dispatch()
            lock.unlock()
            let result = worker.semaphore.wait(timeout: .now() + .milliseconds(Self.idleMilliseconds))
            lock.lock()
            if result == .success { continue }
            guard worker.state == .idle else {
                // It has been called just now.
                lock.unlock()
                worker.semaphore.wait()
                lock.lock()
                continue
            }
            idle.removeAll { $0 === worker }
            workers[ObjectIdentifier(worker)] = nil
            lock.unlock()
            MemoryBudget.shared.note(-MemoryBudget.bytesOfThread)
            return
        }
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
    var progress: Int? {
        lock.withLock {
            monitorRests = ready.isEmpty
            return monitorRests ? nil : begun
        }
    }

    /// For the monitor: it ends unless it has just been woken.
    func releaseMonitor() -> Bool {
        lock.withLock {
            guard monitorRests else { return false }
            monitor = nil
            monitorRests = false
            return true
        }
    }

    /// For the monitor: nothing has been begun for a while. Those who sleep do not count any more, or one of the others
    /// if that has been for long.
    func relieve(afterLong: Bool) {
        let busy = lock.withLock { workers.values.filter { $0.state == .running && $0.threadID != 0 } }
        var stalled = busy.filter { strata_thread_is_asleep($0.threadID) != 0 }
        if stalled.isEmpty, afterLong, let first = busy.first { stalled = [first] }
        lock.withLock {
            for worker in stalled where worker.state == .running {
                worker.state = .stalled
                running -= 1
            }
            dispatch()
        }
    }

    /// How many threads there are, and how many there have been at most.
    var threadCount: Int { lock.withLock { workers.count } }
    var mostThreads: Int { lock.withLock { most } }
    /// How many count.
    var runningThreads: Int { lock.withLock { running } }
}

private final class BlockJob: PoolJob {
    private let block: @Sendable () -> Void

    init(_ block: @escaping @Sendable () -> Void) {
        self.block = block
    }

    func run() { block() }
}
