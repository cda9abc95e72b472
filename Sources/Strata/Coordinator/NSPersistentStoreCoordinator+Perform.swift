import Foundation
import StrataSupport

extension NSPersistentStoreCoordinator {
    /// Runs a block on the coordinator's queue, waits for it and returns what it returns. May be nested, also with
    /// blocks of contexts.
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
        let result: Result<T, any Error> = queue.sync(for: nil) { Result { try block() } }
        switch result {
        case .success(let value): return value
        case .failure(let error): return try rescue(error)
        }
    }

    /// Runs a block on the coordinator's queue and suspends until it is done. The block is part of the calling task and
    /// is run also when that has been cancelled; fetches, counts, batch and history requests in it stop then, as in a
    /// context's ``NSManagedObjectContext/perform(schedule:_:)``.
    ///
    /// - Throws: what the block throws.
    public final func perform<T, Failure: Error>(
        _ block: @escaping () throws(Failure) -> T
    ) async throws(Failure) -> T {
        let call = AwaitedBlock(block)
        await PerformCall(queue, nil, canFail: false, UncheckedBox { call.run() }).run()
        return try call.value()
    }
}
