import Dispatch
import Foundation

/// Runs blocks one after the other, in the order in which they came: on the threads of ``ContextPool``, or of whoever
/// waits for them.
///
/// A queue has no thread of its own. Whoever holds it runs its block; when done, it goes to the next in line.
final class SerialQueue: PoolJob, @unchecked Sendable {
    // Unchecked: everything that changes is guarded by `lock`.
    private enum Item {
        case block(() -> Void)
        /// Somebody who runs a block on his own thread.
        case waiter(DispatchSemaphore)
    }

    private let pool: ContextPool
    private let lock = NSLock()
    private var items = JobQueue<Item>()
    /// Somebody runs a block, or the pool has been asked to.
    private var isHeld = false
    /// So many blocks run until other queues have a turn.
    private static let blocksPerTurn = 16

    init(_ pool: ContextPool = .shared) {
        self.pool = pool
    }

    /// Runs a block on a thread of the pool, later.
    func async(_ block: @escaping () -> Void) {
        let isFirst = lock.withLock {
            items.append(.block(block))
            defer { isHeld = true }
            return !isHeld
        }
        if isFirst { pool.submit(self) }
    }

    /// Runs a block on the calling thread when those before it are done.
    func sync<T>(_ block: () -> T) -> T {
        let semaphore = lock.withLock { () -> DispatchSemaphore? in
            if !isHeld {
                isHeld = true
                return nil
            }
            let semaphore = DispatchSemaphore(value: 0)
            items.append(.waiter(semaphore))
            return semaphore
        }
        // Whoever signals has handed the queue over.
        if let semaphore { ContextPool.waiting { semaphore.wait() } }
        defer { leave() }
        return block()
    }

    /// On a thread of the pool, which holds the queue.
    func run() {
        for _ in 0..<Self.blocksPerTurn {
            guard let block = next() else { return }
            block()
        }
        leave()
    }

    /// The next block, if it is for the pool. Nil when the queue has been given up or handed over.
    private func next() -> (() -> Void)? {
        lock.lock()
        switch items.popFirst() {
        case .block(let block)?:
            lock.unlock()
            return block
        case .waiter(let semaphore)?:
            lock.unlock()
            semaphore.signal()
        case nil:
            isHeld = false
            lock.unlock()
        }
        return nil
    }

    private func leave() {
        lock.lock()
        switch items.first {
        case .block?:
            lock.unlock()
            pool.submit(self)
        case .waiter(let semaphore)?:
            _ = items.popFirst()
            lock.unlock()
            semaphore.signal()
        case nil:
            isHeld = false
            lock.unlock()
        }
    }
}
