public import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, later. Pending changes are processed after it.
    public final func perform(_ block: @escaping () -> Void) {
        queue.async {
            block()
            self.processPendingChanges()
        }
    }

    /// Runs a block on the context's queue and waits for it. May be nested.
    @_disfavoredOverload
    public final func performAndWait(_ block: () -> Void) {
        let isNested = queue.isCurrent
        queue.sync {
            block()
            if !isNested { processPendingChanges() }
        }
    }

    /// Runs a block on the context's queue, waits for it and returns what it returns. May be nested.
    ///
    /// - Throws: what the block throws.
    public final func performAndWait<T, Failure: Error>(_ block: () throws(Failure) -> T) throws(Failure) -> T {
        let isNested = queue.isCurrent
        let result: Result<T, Failure> = queue.sync {
            do throws(Failure) {
                let value = try block()
                if !isNested { processPendingChanges() }
                return .success(value)
            } catch {
                if !isNested { processPendingChanges() }
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Runs a block on the context's queue and suspends until it is done.
    ///
    /// - Throws: what the block throws.
    public final func perform<T, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        if schedule == .immediate, queue.isCurrent { return try performAndWait(block) }
        let box = UncheckedBox(block)
        let context = UncheckedBox(self)
        let result: UncheckedBox<Result<T, Failure>> = await withCheckedContinuation { continuation in
            queue.async {
                let result: Result<T, Failure>
                do throws(Failure) {
                    result = .success(try box.value())
                } catch {
                    result = .failure(error)
                }
                context.value.processPendingChanges()
                continuation.resume(returning: UncheckedBox(result))
            }
        }
        return try result.value.get()
    }
}
