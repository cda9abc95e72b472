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
        case waiter(QueueWait)
    }

    private let pool: ContextPool
    private let lock = NSLock()
    private var items = JobQueue<Item>()
    /// Somebody runs a block, or the pool has been asked to.
    private var isHeld = false
    /// The thread that does; 0 as long as the pool has been asked only.
    private var holdingThread: UInt = 0
    /// So many blocks run until other queues have a turn.
    private static let blocksPerTurn = 16

    init(_ pool: ContextPool = .shared) {
        self.pool = pool
    }

    /// The thread that holds the queue, if one does.
    var holder: UInt? { lock.withLock { isHeld && holdingThread != 0 ? holdingThread : nil } }

    /// Runs a block on a thread of the pool, later.
    func async(_ block: @escaping () -> Void) {
        let isFirst = lock.withLock {
            items.append(.block(block))
            defer { isHeld = true }
            return !isHeld
        }
        if isFirst { pool.submit(self) }
    }

    /// Takes the queue if nobody has it. It has to be left then.
    func enter() -> Bool {
        lock.withLock {
            if isHeld { return false }
            isHeld = true
            holdingThread = QueueWait.currentThread
            return true
        }
    }

    /// Stands in line. True if the queue has been given up meanwhile and is the caller's at once.
    func enter(_ wait: QueueWait) -> Bool {
        lock.withLock {
            if isHeld {
                items.append(.waiter(wait))
                return false
            }
            isHeld = true
            holdingThread = wait.thread
            return true
        }
    }

    /// Leaves the line. False if the queue has been handed over to the one who waits.
    func remove(_ wait: QueueWait) -> Bool {
        lock.withLock {
            items.removeFirst { item in
                if case .waiter(let other) = item { return other === wait }
                return false
            } != nil
        }
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
            holdingThread = QueueWait.currentThread
            lock.unlock()
            return block
        case .waiter(let wait)?:
            holdingThread = wait.thread
            lock.unlock()
            wait.end()
        case nil:
            isHeld = false
            holdingThread = 0
            lock.unlock()
        }
        return nil
    }

    /// Gives the queue up, or to the next in line.
    func leave() {
        lock.lock()
        switch items.first {
        case .block?:
            holdingThread = 0
            lock.unlock()
            pool.submit(self)
        case .waiter(let wait)?:
            _ = items.popFirst()
            holdingThread = wait.thread
            lock.unlock()
            wait.end()
        case nil:
            isHeld = false
            holdingThread = 0
            lock.unlock()
        }
    }
}
