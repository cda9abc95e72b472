import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, later. Pending changes are processed after it, and the undo manager's group
    /// for the event is closed.
    public final func perform(_ block: @escaping () -> Void) {
        queue.async {
            ContextQueue.with(self) {
                block()
                self.endEvent()
            }
        }
    }

    /// Runs a block on the context's queue, waits for it and returns what it returns. May be nested.
    ///
    /// - Throws: what the block throws.
    public final func performAndWait<T, Failure: Error>(_ block: () throws(Failure) -> T) throws(Failure) -> T {
        let isNested = ContextQueue.currentContext === self
        let result: Result<T, Failure> = queue.sync {
            if isNested { return Self.result(block) }
            return ContextQueue.with(self) {
                let result = Self.result(block)
                processPendingChanges()
                return result
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
                let result = ContextQueue.with(context.value) {
                    let result = Self.result(box.value)
                    context.value.endEvent()
                    return result
                }
                continuation.resume(returning: UncheckedBox(result))
            }
        }
        return try result.value.get()
    }

    private static func result<T, Failure: Error>(_ block: () throws(Failure) -> T) -> Result<T, Failure> {
        do throws(Failure) {
            return .success(try block())
        } catch {
            return .failure(error)
        }
    }
}
