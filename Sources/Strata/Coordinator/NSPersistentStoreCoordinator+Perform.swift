import Foundation

extension NSPersistentStoreCoordinator {
    /// Runs a block on the coordinator's queue, waits for it and returns what it returns. May be nested.
    public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try waitFor(block) }

    final func waitFor<T>(_ block: () throws -> T) rethrows -> T {
        if DispatchQueue.getSpecific(key: queueKey) == true { return try block() }
        return try queue.sync(execute: block)
    }

    /// Runs a block on the coordinator's queue and suspends until it is done.
    ///
    /// - Throws: what the block throws.
    public final func perform<T, Failure: Error>(
        _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        let box = UncheckedBox(block)
        let result: UncheckedBox<Result<T, Failure>> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(Failure) {
                    continuation.resume(returning: UncheckedBox(.success(try box.value())))
                } catch {
                    continuation.resume(returning: UncheckedBox(.failure(error)))
                }
            }
        }
        return try result.value.get()
    }
}
