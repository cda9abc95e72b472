import Foundation
import StrataSupport

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
    @inlinable
    public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        try waitFor(block) { throw $0 }
    }

    /// Inlined into the program, which knows the type of the result: the generic code takes a tenth of a small request.
    /// `rescue` throws what it is given: only errors of closures may be thrown on.
    @inlinable @inline(__always)
    final func waitFor<T>(_ block: () throws -> T, _ rescue: (any Error) throws -> T) rethrows -> T {
        var result: Result<T, any Error>?
        waitFor { result = Result { try block() } }
        switch result {
        case .success(let value)?: return value
        case .failure(let error)?: return try rescue(error)
        case nil: preconditionFailure("the block was not run")
        }
    }

    /// As ``performAndWait(_:)-swift.method`` for a block that throws nothing.
    @usableFromInline
    final func waitFor(_ block: () -> Void) {
        // Blocks of other contexts may lie between.
        let isNested = ContextQueue.isInside(self)
        queue.sync(for: self) {
            block()
            // On the main queue an object may be in the middle of its making without a block.
            if isNested || underWay > 0 { return }
            processPendingChanges()
            heldResults.release()
        }
    }

    /// Runs a block on the context's queue and suspends until it is done. The block is part of the calling task and has
    /// its task-local values.
    ///
    /// When the task is cancelled, a block that can throw and has not begun is not run any more: `perform` throws
    /// `CancellationError` at once. In a block that runs, fetches, counts, batch and history requests stop and throw
    /// `CancellationError`, as does a save whose turn has not come; the context keeps its changes. A block that cannot
    /// throw is run in any case.
    ///
    /// ```swift
    /// let id = try await context.perform {
    ///     let author = Author(context: context)
    ///     author.name = "Le Guin"
    ///     try context.save()
    ///     return author.objectID
    /// }
    /// ```
    ///
    /// - Throws: what the block throws, and `CancellationError`.
    @inlinable
    public final func perform<T, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        let call = AwaitedBlock(block)
        if schedule == .immediate, isOnOwnQueue {
            waitFor { call.run() }
        } else {
            await performInTurn(canFail: call.canFail) { call.run() }
        }
        return try call.value()
    }

    @usableFromInline final var isOnOwnQueue: Bool { queue.isCurrent }

    /// Runs a block on the context's queue and suspends until it is done, or the task is cancelled.
    ///
    /// - Parameter canFail: whether the block need not be run when the task has been cancelled.
    @usableFromInline
    final func performInTurn(canFail: Bool, _ block: @escaping () -> Void) async {
        await PerformCall(queue, self, canFail: canFail, UncheckedBox(block)).run()
    }
}
