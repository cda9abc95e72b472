import Foundation

extension NSManagedObjectContext {
    /// Runs a block on the context's queue, later. Pending changes are processed after it, and the undo manager's group
    /// for the event is closed.
    final func enqueue(_ block: @escaping () -> Void) {
        queue.async(for: self) {
            block()
            self.endEvent()
        }
    }

    /// Runs a block on the context's queue, waits for it and returns what it returns. May be nested.
    ///
    /// - Throws: what the block throws.
    public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        try waitFor(block) { throw $0 }
    }

    /// As ``performAndWait(_:)-swift.method`` for a block that throws nothing.
    final func waitFor(_ block: () -> Void) {
        waitFor(block) { _ in }
    }

    /// `rescue` throws what it is given: only errors of closures may be thrown on.
    private final func waitFor<T>(_ block: () throws -> T, _ rescue: (any Error) throws -> T) rethrows -> T {
        let isNested = ContextQueue.currentContext === self
        let result: Result<T, any Error> = queue.sync(for: self) {
            let result = Result { try block() }
            if !isNested { processPendingChanges() }
            return result
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): return try rescue(error)
        }
    }

    /// Runs a block on the context's queue and suspends until it is done.
    ///
    /// - Throws: what the block throws.
    public final func perform<T>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws -> T
    ) async rethrows -> T {
        if schedule == .immediate, queue.isCurrent { return try performAndWait(block) }
        return try await suspendFor(block) { throw $0 }
    }

    private func suspendFor<T>(
        _ block: @escaping () throws -> T, _ rescue: (any Error) throws -> T
    ) async rethrows -> T {
        let box = UncheckedBox(block)
        let context = UncheckedBox(self)
        let result: UncheckedBox<Result<T, any Error>> = await withCheckedContinuation { continuation in
            queue.async(for: self) {
                let result = Result { try box.value() }
                context.value.endEvent()
                continuation.resume(returning: UncheckedBox(result))
            }
        }
        switch result.value {
        case .success(let value): return value
        case .failure(let error): return try rescue(error)
        }
    }
}
