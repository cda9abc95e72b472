import Dispatch
import StrataSupport
import Synchronization

/// A block that a task has handed to a queue and waits for.
///
/// The task itself goes to the queue: the call is an actor whose executor enqueues the task there. So the block has the
/// task's values, of whatever package, and nobody has to find out what these are; and the task goes on where it came
/// from.
actor PerformCall: SerialExecutor {
    private enum State: UInt8, AtomicRepresentable {
        /// The task is on its way.
        case new
        /// The task is in the queue.
        case waiting
        /// The block runs, or has been run.
        case begun
        /// Cancelled before the block began: it is not run.
        case abandoned
    }

    private nonisolated let queue: ContextQueue
    /// Nil for a block of a coordinator.
    private nonisolated let context: NSManagedObjectContext?
    /// Whether the block need not be run once the task has been cancelled.
    private nonisolated let canFail: Bool
    private nonisolated let control = RequestControl()
    private nonisolated let state = Atomic(State.new)
    /// Run, and let go of, on the queue.
    private nonisolated(unsafe) var block: (() -> Void)?
    /// Written before `state` becomes `waiting`, and run by whoever takes it from there.
    private nonisolated(unsafe) var job: UnownedJob?

    init(
        _ queue: ContextQueue, _ context: NSManagedObjectContext?, canFail: Bool, _ block: UncheckedBox<() -> Void>
    ) {
        self.queue = queue
        self.context = context
        self.canFail = canFail
        self.block = block.value
    }

    /// Runs the block in its turn, in the calling task, unless that is cancelled before.
    nonisolated func run() async {
        await withTaskCancellationHandler {
            if state.load(ordering: .acquiring) != .abandoned { await runOnQueue() }
        } onCancel: {
            cancel()
        }
    }

    /// Isolated: the task comes here by way of ``enqueue(_:)``.
    private func runOnQueue() {
        guard state.load(ordering: .acquiring) == .begun, let block else { return }
        block()
        context?.endEvent()
        self.block = nil
    }

    // MARK: Executor

    nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        self.job = UnownedJob(job)
        guard advance(from: .new, to: .waiting) else { return resumeElsewhere() }
        queue.enqueue(for: context, control: control) {
            if self.advance(from: .waiting, to: .begun) {
                self.job?.runSynchronously(on: self.unownedExecutor)
            } else {
                // Nobody waits any more; the block is let go of here all the same.
                self.block = nil
            }
        }
    }

    /// Lets the task go on if the block has not begun and can fail.
    private nonisolated func cancel() {
        control.cancel()
        guard canFail, !advance(from: .new, to: .abandoned) else { return }
        if advance(from: .waiting, to: .abandoned) { resumeElsewhere() }
    }

    /// The queue's turn is not waited for: nothing runs that would need it.
    private nonisolated func resumeElsewhere() {
        DispatchQueue.global().async { self.job?.runSynchronously(on: self.unownedExecutor) }
    }

    private nonisolated func advance(from old: State, to new: State) -> Bool {
        state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }
}
