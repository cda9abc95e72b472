/// A block for which a task waits, with what it gives or throws.
///
/// Inlined into the program, which knows the types: generic code looks them up for each call.
@usableFromInline
final class AwaitedBlock<Value, Failure: Error> {
    @usableFromInline let block: () throws(Failure) -> Value
    /// Nil until the block has been run.
    @usableFromInline var result: Result<Value, Failure>?

    @inlinable
    init(_ block: @escaping () throws(Failure) -> Value) {
        self.block = block
    }

    /// Whether the block need not be run when the task has been cancelled.
    @inlinable var canFail: Bool { CancellationError() as? Failure != nil }

    @inlinable
    func run() {
        do throws(Failure) {
            result = .success(try block())
        } catch {
            result = .failure(error)
        }
    }

    /// What the block gave.
    ///
    /// - Throws: what the block threw, and `CancellationError` when it was not run.
    @inlinable
    func value() throws(Failure) -> Value {
        if let result { return try result.get() }
        guard let error = CancellationError() as? Failure else { preconditionFailure("the block was not run") }
        throw error
    }
}
