import Foundation
import Synchronization

/// Knows which threads wait for which queues, and has those that wait lend their queues to what they wait for.
///
/// Who can wait for whom:
///
///     thread --- performAndWait ----------------> queue of a context    (by the program, also on the main thread)
///     thread --- performAndWait ----------------> main queue            (a context of the main queue)
///     thread --- performAndWait ----------------> queue of a coordinator    (by the program)
///     child  --- fault, fetch, save, merge -----> queue of its parent   (by Strata, in whatever block runs)
///     thread --- a block of its that is lent ---> thread that runs it
///     queue  --- the block that it runs --------> thread that runs it, and what that one waits for
///
/// A block that asks for a queue that its own thread holds, or somebody who waits for it, runs at once and never comes
/// here (``ContextQueue/isCurrent``). Here come those who find the queue taken. An edge may close a circle: the main
/// thread waits for a child whose queue is busy with a merge, and the merge waits for the parent on the main queue.
/// Nothing in a circle would ever go on. So one of its members runs, on the thread that holds a queue of the circle,
/// the block that is wanted there; that thread does nothing but wait, and what it waits for needs the block. Of the
/// edges of a circle a child's question to its parent is the one to be answered, since that one ends by itself; else
/// the one that leads to the thread that came last. What the main thread wants to run is run nowhere else.
///
/// Threads that wait for each other in other ways (a semaphore, a Dispatch queue of the program's) are not seen.
/// Commits and scans wait for threads that hold no queue for them, so that they are no part of a circle.
package final class WaitGraph: @unchecked Sendable {
    // Unchecked: guarded by `lock`.
    package static let shared = WaitGraph()

    private let lock = NSLock()
    /// What each waiting thread waits for. One that runs a lent block waits for nothing meanwhile.
    private var waits: [UInt: QueueWait] = [:]

    /// The calling thread waits until its block has been run, or the queue is its own.
    package func await(_ wait: QueueWait) {
        let outer = lock.withLock { () -> QueueWait? in
            let outer = waits.updateValue(wait, forKey: wait.thread)
            breakCircle(through: wait)
            return outer
        }
        ContextPool.waiting {
            repeat {
                wait.waitForNews()
                serve(wait)
            } while !wait.isOver
        }
        while !leave(wait, outer) { serve(wait) }
    }

    /// Takes the thread out of the graph unless a block was lent to it in the last moment.
    private func leave(_ wait: QueueWait, _ outer: QueueWait?) -> Bool {
        lock.withLock {
            guard wait.lent.isEmpty else { return false }
            waits[wait.thread] = outer
            return true
        }
    }

    /// Runs the blocks that are to be run on this thread.
    private func serve(_ wait: QueueWait) {
        while true {
            let next = lock.withLock { () -> QueueWait? in
                guard let next = wait.lent.popFirst() else { return nil }
                waits[wait.thread] = nil
                return next
            }
            guard let next else { return }
            next.run()
            lock.withLock {
                waits[wait.thread] = wait
                breakCircle(through: wait)
            }
        }
    }

    /// The block of a wait for the main queue has its turn there.
    package func mainQueueRuns(_ wait: QueueWait) {
        let isTaken = lock.withLock { () -> Bool in
            guard wait.take() else { return false }
            wait.target = .thread(QueueWait.currentThread)
            return true
        }
        if isTaken { wait.run() }
    }

    // MARK: Circles

    /// Under the lock.
    private func breakCircle(through newest: QueueWait) {
        var path = [newest]
        // A thread whose wait is over is about to go on.
        while let last = path.last, let thread = holder(of: last.target), let next = waits[thread], !next.isOver {
            if next === newest {
                lend(in: path)
                return
            }
            // A circle without the newest was broken when it was closed.
            if path.contains(where: { $0 === next }) { return }
            path.append(next)
        }
    }

    /// Under the lock.
    private func lend(in circle: [QueueWait]) {
        let wanted = circle.filter { wait in
            if case .thread = wait.target { return false }
            return true
        }
        let movable = wanted.filter { !$0.isOnMain }
        guard let chosen = movable.first(where: \.isQuestion) ?? movable.last ?? wanted.last,
            let thread = holder(of: chosen.target), let lender = waits[thread], chosen.take()
        else { return }
        chosen.target = .thread(thread)
        lender.lent.append(chosen)
        lender.semaphore.signal()
    }

    /// The thread that has to go on first, if it is known. Under the lock.
    private func holder(of target: QueueWait.Target) -> UInt? {
        switch target {
        case .queue(let queue): queue.holder
        case .main: waits.values.first(where: \.isOnMain)?.thread
        case .thread(let thread): thread
        }
    }
}
