import StrataSupport

/// A block that a task has handed to a context's queue and waits for.
final class PerformCall<Value, Failure: Error>: @unchecked Sendable {
    // Unchecked: `state` is guarded by the lock; the block is run, and let go of, on the context's queue.
    typealias Outcome = UncheckedBox<Result<Value, Failure>>

    private enum State {
        case new
        case waiting(CheckedContinuation<Outcome, Never>)
        /// It runs, has been run, or nobody waits for it any more.
        case begun
    }

    private let context: NSManagedObjectContext
    private var block: (() throws(Failure) -> Value)?
    private let control = RequestControl()
    private let lock = AdaptiveMutex<Void>(())
    @exclusivity(unchecked) private var state = State.new

    init(_ context: NSManagedObjectContext, _ block: @escaping () throws(Failure) -> Value) {
        self.context = context
        self.block = block
    }

    /// What a call fails with that was cancelled; nil when it cannot fail.
    private var cancellation: Failure? { CancellationError() as? Failure }

    func start(_ continuation: CheckedContinuation<Outcome, Never>) {
        lock.locked { state = .waiting(continuation) }
        if control.isStopped, abandon() { return }
        context.queue.async(for: context, control: control) { self.run() }
    }

    func cancel() {
        control.cancel()
        _ = abandon()
    }

    /// Lets the task go on if the block has not begun and can fail.
    private func abandon() -> Bool {
        guard let cancellation, let continuation = begin() else { return false }
        continuation.resume(returning: UncheckedBox(.failure(cancellation)))
        return true
    }

    /// Whoever gets the continuation goes on.
    private func begin() -> CheckedContinuation<Outcome, Never>? {
        lock.locked {
            guard case .waiting(let continuation) = state else { return nil }
            state = .begun
            return continuation
        }
    }

    private func run() {
        let continuation = begin()
        defer { block = nil }
        guard let continuation, let block else { return }
        let result: Result<Value, Failure>
        do throws(Failure) {
            result = .success(try block())
        } catch {
            result = .failure(error)
        }
        context.endEvent()
        continuation.resume(returning: UncheckedBox(result))
    }
}
