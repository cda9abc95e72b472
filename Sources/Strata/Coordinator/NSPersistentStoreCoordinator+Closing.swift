import Dispatch
import Foundation
import StrataSupport
import Synchronization

extension NSPersistentStoreCoordinator {
    /// Closes all stores in order, so that the next opening has nothing to replay.
    ///
    /// Waits for the blocks that have been given to `perform` of the coordinator's contexts with queues of their own,
    /// and for every save, batch request and asynchronous fetch that is running and every store that is being added,
    /// then removes the stores: a compaction ends with the step that it is in, and a checkpoint is written. Blocks of
    /// the main queue are not waited for, but for their saves and batch requests. What another coordinator has open,
    /// too, stays open there.
    ///
    /// From then on, fetches, counts, saves and batch requests of the contexts throw `CocoaError` 134070 (134030 for
    /// insertions). They throw 134070 meanwhile, too, in blocks that come after those that are waited for, whatever
    /// context they are of: nothing is begun that the closing would cut short. Faults that fire in such a block once
    /// the stores are gone read as empty, which is logged. Sequences of the persistent history end. Stores may be added
    /// again.
    ///
    /// Stop what makes requests first: a block that never ends is waited for. Cancelling the task does not end the
    /// waiting: when this returns, the stores are closed. May be called on any thread, also several times and from
    /// several tasks, all of which wait for the end.
    ///
    /// - Throws: the error of the first store that could not be closed in order: nothing that was saved is lost by it,
    ///   but the next opening replays the log. All stores are closed all the same.
    public final func close() async throws {
        beginClosing()
        for context in contexts where context.concurrencyType != .mainQueueConcurrencyType {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                context.queue.async {
                    context.shut(for: self)
                    continuation.resume()
                }
            }
        }
        let work = UncheckedBox { [self] () throws -> Void in
            opening.wait()
            writing.wait()
            // Those who follow the history go on to its end and are done.
            defer {
                endClosing()
                historyWaiters.signal()
            }
            try removeAll()
        }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            closingQueue.async { continuation.resume(with: Result { try work.value() }) }
        }
    }

    private func removeAll() throws {
        var failure: (any Error)?
        for store in persistentStores {
            // One that the program has removed itself meanwhile is closed.
            guard persistentStores.contains(where: { $0 === store }) else { continue }
            do {
                try remove(store)
            } catch {
                failure = failure ?? error
                // Metadata that cannot be written keeps no store open.
                guard persistentStores.contains(where: { $0 === store }) else { continue }
                store.forgetMetadataChange()
                try? remove(store)
            }
        }
        if let failure { throw failure }
    }
}

extension NSManagedObjectContext {
    /// Blocks of the context that begin from now on come too late for a coordinator that is being closed. To be called
    /// on the context's queue, or before anybody else has the context.
    final func shut(for coordinator: NSPersistentStoreCoordinator) {
        shutBy = coordinator.closing.load(ordering: .acquiring)
    }

    /// Refuses what a block asks of a coordinator that is being closed without waiting for the block.
    ///
    /// - Throws: `CocoaError` 134070.
    final func refuseLate() throws {
        guard let coordinator else { return }
        let number = coordinator.closing.load(ordering: .acquiring)
        // The block that counts is the one that was waited for, or not: it may have others run inside of it.
        guard number != 0, let context = ContextQueue.outermostContext(of: coordinator), context.shutBy == number else {
            return
        }
        throw DescribedError(
            .persistentStoreOperation,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The coordinator's stores are closed, or about to be: close() was called before this block began."
            ])
    }
}

extension NSPersistentContainer {
    /// Closes the container's stores in order, for a graceful end of a service: stop accepting, finish what was
    /// accepted, close.
    ///
    /// - Throws: as ``NSPersistentStoreCoordinator/close()``, which says what is waited for and what comes after.
    public final func close() async throws {
        try await persistentStoreCoordinator.close()
    }
}
