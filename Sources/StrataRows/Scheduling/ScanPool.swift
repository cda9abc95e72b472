import Dispatch
import Foundation
import StrataLog
import StrataSupport
import Synchronization

/// The threads that help with scans: one pool for the process, so that scans share the cores instead of each taking
/// all.
///
/// A scan comes in pieces of some tens of thousands of rows. Whoever asks for it works on them himself, so that no scan
/// ever waits for a thread. As many threads help as there are cores that no scan has already; after each piece a helper
/// goes to the next scan in turn, and home when its core has been taken.
@usableFromInline
package final class ScanPool: @unchecked Sendable {
    // Unchecked: everything that changes is guarded by `lock`.
    package static let shared = ScanPool(cores: Processors.count)

    /// The pieces of one scan.
    private final class Job: @unchecked Sendable {
        // Unchecked: constant but for the atomics; `body` is used only until the last piece is done, and its owner, who
        // waits for that, lets go of it then.
        let count: Int
        private var body: ((Int) -> Void)?
        let next = Atomic<Int>(0)
        let done = Atomic<Int>(0)
        let allDone = DispatchSemaphore(value: 0)

        init(_ count: Int, _ body: @escaping (Int) -> Void) {
            self.count = count
            self.body = body
        }

        func take() -> Int? {
            let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
            return index < count ? index : nil
        }

        /// The last one tells the owner, unless it is the owner.
        func work(on index: Int, isOwner: Bool) {
            call(index)
            let finished = done.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
            if finished == count, !isOwner { allDone.signal() }
        }

        /// Nobody holds the body any more when this returns: it must not outlive the owner's call. So this is never
        /// inlined.
        @inline(never)
        private func call(_ index: Int) { body?(index) }

        /// For the owner, when there are no more pieces to be had.
        func wait() {
            // A helper that does the last piece signals.
            if done.load(ordering: .acquiring) < count { allDone.wait() }
            // Helpers may hold the job for a moment longer.
            body = nil
        }
    }

    @usableFromInline package let cores: Int
    private let lock = NSLock()
    /// Scans that have pieces left, in turn.
    private var jobs: [Job] = []
    /// Scans whose owners work on them.
    private var owners = 0
    /// Helpers that work.
    private var helpers = 0
    private var idle: [DispatchSemaphore] = []
    private var called: Set<ObjectIdentifier> = []
    private var threads = 0
    private static let idleMilliseconds = 1_000

    package init(cores: Int) {
        self.cores = max(1, cores)
    }

    /// Calls the body with each number below a count, on several threads, and returns when all calls have.
    @usableFromInline
    package func perform(_ count: Int, _ body: (Int) -> Void) {
        guard count > 1, cores > 1 else {
            for index in 0..<count { body(index) }
            return
        }
        withoutActuallyEscaping(body) { body in
            let job = Job(count, body)
            begin(job)
            while let index = job.take() { job.work(on: index, isOwner: true) }
            end(job)
            job.wait()
        }
    }

    private func begin(_ job: Job) {
        lock.withLock {
            owners += 1
            jobs.append(job)
            call(min(job.count - 1, cores - owners - helpers))
        }
    }

    private func end(_ job: Job) {
        lock.withLock {
            owners -= 1
            jobs.removeAll { $0 === job }
            // Its core is free for the others.
            if !jobs.isEmpty { call(cores - owners - helpers) }
        }
    }

    /// Calls so many helpers, or as many as there may be. The caller has the lock.
    private func call(_ wanted: Int) {
        for _ in 0..<max(0, wanted) {
            if let semaphore = idle.popLast() {
                called.insert(ObjectIdentifier(semaphore))
                helpers += 1
                semaphore.signal()
            } else if threads < cores, PoolThread.start("strata.scan", { self.help() }) {
                threads += 1
                helpers += 1
                MemoryBudget.shared.record(MemoryBudget.bytesOfThread)
            }
        }
    }

    /// The next piece, of the scan whose turn it is; nil when there is none, or no core is left for a helper.
    private func nextPiece() -> (job: Job, index: Int)? {
        while !jobs.isEmpty, helpers + owners <= cores {
            let job = jobs.removeFirst()
            guard let index = job.take() else { continue }
            jobs.append(job)
            return (job, index)
        }
        return nil
    }

    private func help() {
        let semaphore = DispatchSemaphore(value: 0)
        lock.lock()
        while true {
            if let (job, index) = nextPiece() {
                lock.unlock()
                job.work(on: index, isOwner: false)
                lock.lock()
                continue
            }
            helpers -= 1
            idle.append(semaphore)
            lock.unlock()
            let result = semaphore.wait(timeout: .now() + .milliseconds(Self.idleMilliseconds))
            lock.lock()
            let isCalled = called.remove(ObjectIdentifier(semaphore)) != nil
            if isCalled, result == .timedOut { semaphore.wait() }
            if !isCalled {
                idle.removeAll { $0 === semaphore }
                threads -= 1
                lock.unlock()
                MemoryBudget.shared.record(-MemoryBudget.bytesOfThread)
                return
            }
        }
    }

    /// How many threads there are.
    package var threadCount: Int { lock.withLock { threads } }
}
