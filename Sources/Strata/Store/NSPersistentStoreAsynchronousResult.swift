public import Foundation
import Synchronization

/// The answer to a request that runs on after it was asked.
///
/// Safe to use from any thread, except for ``managedObjectContext``.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    // Unchecked: what changes is in the mutex.

    private struct State {
        var error: (any Error)?
        var isCancelled = false
    }

    /// The context that asked.
    public let managedObjectContext: NSManagedObjectContext
    /// How far the request has come; nil if nobody had a progress to report to when it was asked.
    public let progress: Progress?
    private let state = Mutex<State>(State())

    init(_ context: NSManagedObjectContext, progress: Progress?) {
        managedObjectContext = context
        self.progress = progress
        super.init()
    }

    /// What went wrong; nil while the request runs and when it has succeeded.
    open var operationError: (any Error)? { state.withLock { $0.error } }

    /// Asks the request to stop. It may be done already.
    open func cancel() {
        state.withLock { $0.isCancelled = true }
        progress?.cancel()
    }

    /// Whether ``cancel()`` has been called, here or on the progress.
    final var isCancelled: Bool { state.withLock { $0.isCancelled } || progress?.isCancelled ?? false }

    final func fail(_ error: any Error) {
        state.withLock { $0.error = error }
    }
}
