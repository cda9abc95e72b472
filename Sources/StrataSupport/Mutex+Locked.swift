public import Synchronization

// A lock beside what it guards, for results that are not Sendable: `withLock` wants them to be sent out of the lock.

extension Mutex where Value == Void {
    /// Runs the body with the lock held. What it guards is for the caller to say.
    @inlinable @inline(__always)
    package borrowing func locked<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var result: Result?
        try withLock { _ throws(Failure) in result = try body() }
        guard let result else { preconditionFailure("the body has run") }
        return result
    }
}

extension AdaptiveMutex where Value == Void {
    /// Runs the body with the lock held. What it guards is for the caller to say.
    @inlinable @inline(__always)
    package borrowing func locked<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var result: Result?
        try withLock { _ throws(Failure) in result = try body() }
        guard let result else { preconditionFailure("the body has run") }
        return result
    }
}
