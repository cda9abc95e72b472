import Synchronization

/// A block that a task has handed to a context's queue and waits for.
final class PerformCall: @unchecked Sendable {
    // Unchecked: whoever takes `state` to `begun` has the continuation to himself; the block is run, and let go of, on
    // the context's queue.

    private enum State: UInt8, AtomicRepresentable {
        case new
        /// The continuation is there.
        case waiting
        /// It runs, has been run, or nobody waits for it any more.
        case begun
        /// Cancelled before the task waited.
        case abandoned
    }

    private let context: NSManagedObjectContext
    private var block: (() -> Void)?
    /// Whether the block need not be run once the task has been cancelled.
    private let canFail: Bool
    private let control = RequestControl()
    private let state = Atomic(State.new)
    /// Resumed once, by whoever takes `state` from `waiting` or finds it `abandoned`: a checked one would be an object
    /// more for each call.
    private var continuation: UnsafeContinuation<Void, Never>?

    init(_ context: NSManagedObjectContext, canFail: Bool, _ block: @escaping () -> Void) {
        self.context = context
        self.canFail = canFail
        self.block = block
    }

    func start(_ continuation: UnsafeContinuation<Void, Never>) {
        self.continuation = continuation
        guard advance(from: .new, to: .waiting) else { return continuation.resume() }
        context.queue.async(for: context, control: control) { self.run() }
    }

    /// Lets the task go on if the block has not begun and can fail.
    func cancel() {
        control.cancel()
        guard canFail, !advance(from: .new, to: .abandoned) else { return }
        begin()?.resume()
    }

    private func advance(from old: State, to new: State) -> Bool {
        state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }

    /// Whoever gets the continuation goes on.
    private func begin() -> UnsafeContinuation<Void, Never>? {
        advance(from: .waiting, to: .begun) ? continuation : nil
    }

    private func run() {
        let continuation = begin()
        defer { block = nil }
        guard let continuation, let block else { return }
        block()
        context.endEvent()
        continuation.resume()
    }
}
