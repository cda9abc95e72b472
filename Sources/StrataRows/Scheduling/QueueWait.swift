import Dispatch
import Foundation
import Synchronization

/// A thread that waits for a queue, to run a block there.
package final class QueueWait: @unchecked Sendable {
    // Unchecked: `target` and `lent` are guarded by the graph's lock; the block belongs to whoever has taken it.

    /// What has to go on first.
    package enum Target {
        case queue(SerialQueue)
        case main
        /// The block is being run there, or will be.
        case thread(UInt)
    }

    package let thread = QueueWait.currentThread
    /// Whether the thread serves the main queue.
    package let isOnMain: Bool
    /// Whether a child asks its parent something.
    package let isQuestion: Bool
    package let semaphore = DispatchSemaphore(value: 0)
    /// What may stop the block's requests, which may be to ask the task that waits; nil when it need not.
    private let control: RequestControl?
    @exclusivity(unchecked) package var target: Target
    /// The blocks that this thread is to run while it waits.
    var lent = JobQueue<QueueWait>()
    private var block: (() -> Void)?
    private let isTaken = Atomic<Bool>(false)
    private let isFinished = Atomic<Bool>(false)

    package init(
        for target: Target, isOnMain: Bool, isQuestion: Bool, _ control: RequestControl?, _ block: @escaping () -> Void
    ) {
        self.control = control?.asksTaskOfThread == true ? control : nil
        self.target = target
        self.isOnMain = isOnMain
        self.isQuestion = isQuestion
        self.block = block
    }

    /// Returns when there is something to be looked at.
    func waitForNews() {
        guard let control else { return semaphore.wait() }
        // The block may run on a thread that knows nothing of the task.
        while semaphore.wait(timeout: .now() + .milliseconds(RequestControl.pollMilliseconds)) == .timedOut {
            control.askTask()
        }
    }

    package static var currentThread: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }

    /// Whether the queue is this thread's, or the block has been run.
    package var isOver: Bool { isFinished.load(ordering: .acquiring) }

    /// Takes it on oneself to run the block. False if another one has.
    ///
    /// Of a wait for a serial queue also takes it out of the queue's line.
    package func take() -> Bool {
        if case .queue(let queue) = target, !queue.remove(self) { return false }
        return isTaken.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }

    /// Runs the block on behalf of the thread that waits.
    package func run() {
        block?()
        discard()
        end()
    }

    /// Lets go of the block, which lives no longer than the call that waits.
    package func discard() { block = nil }

    /// Lets the thread go on: it holds the queue, or the block has been run.
    package func end() {
        isFinished.store(true, ordering: .releasing)
        semaphore.signal()
    }
}
