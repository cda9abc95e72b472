import StrataSupport

/// Runs blocks one after the other, in the order in which they came: on the threads of ``ContextPool``, or of whoever
/// waits for them.
///
/// A queue has no thread of its own. Whoever holds it runs its block; when done, it goes to the next in line.
package final class SerialQueue: PoolJob, @unchecked Sendable {
    // Unchecked: everything that changes is guarded by `lock`.
    private enum Item {
        case block(() -> Void)
        /// Somebody who runs a block on his own thread.
        case waiter(QueueWait)
    }

    private let pool: ContextPool
    private let lock = AdaptiveMutex<Void>(())
    @exclusivity(unchecked) private var items = JobQueue<Item>()
    /// Somebody runs a block, or the pool has been asked to.
    @exclusivity(unchecked) private var isHeld = false
    /// The thread that does; 0 as long as the pool has been asked only.
    @exclusivity(unchecked) private var holdingThread: UInt = 0
    /// So many blocks run until other queues have a turn.
    private static let blocksPerTurn = 16

    package init(_ pool: ContextPool = .shared) {
        self.pool = pool
    }

    /// The thread that holds the queue, if one does.
    package var holder: UInt? { lock.locked { isHeld && holdingThread != 0 ? holdingThread : nil } }

    /// Runs a block on a thread of the pool, later.
    package func async(_ block: @escaping () -> Void) {
        let isFirst = lock.locked {
            items.append(.block(block))
            defer { isHeld = true }
            return !isHeld
        }
        if isFirst { pool.submit(self) }
    }

    /// Takes the queue if nobody has it. It has to be left then.
    package func enter() -> Bool {
        lock.locked {
            if isHeld { return false }
            isHeld = true
            holdingThread = QueueWait.currentThread
            return true
        }
    }

    /// Stands in line. True if the queue has been given up meanwhile and is the caller's at once.
    package func enter(_ wait: QueueWait) -> Bool {
        lock.locked {
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
    package func remove(_ wait: QueueWait) -> Bool {
        lock.locked {
            items.removeFirst { item in
                if case .waiter(let other) = item { return other === wait }
                return false
            } != nil
        }
    }

    /// On a thread of the pool, which holds the queue.
    package func run() {
        for _ in 0..<Self.blocksPerTurn {
            guard let block = next() else { return }
            block()
        }
        leave()
    }

    /// The next block, if it is for the pool. Nil when the queue has been given up or handed over.
    private func next() -> (() -> Void)? {
        var next: QueueWait?
        let block = lock.locked { () -> (() -> Void)? in
            switch items.popFirst() {
            case .block(let block)?:
                holdingThread = QueueWait.currentThread
                return block
            case .waiter(let wait)?:
                holdingThread = wait.thread
                next = wait
            case nil: giveUp()
            }
            return nil
        }
        next?.end()
        return block
    }

    /// Gives the queue up, or to the next in line.
    package func leave() {
        var next: QueueWait?
        let isForPool = lock.locked {
            if items.isEmpty {
                giveUp()
                return false
            }
            if case .waiter(let wait)? = items.first {
                _ = items.popFirst()
                holdingThread = wait.thread
                next = wait
                return false
            }
            holdingThread = 0
            return true
        }
        if isForPool { pool.submit(self) }
        next?.end()
    }

    /// Nobody holds the queue from now on. Under the lock.
    private func giveUp() {
        isHeld = false
        holdingThread = 0
    }
}
