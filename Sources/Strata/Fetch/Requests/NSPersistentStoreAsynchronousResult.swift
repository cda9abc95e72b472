public import Foundation
import StrataSupport
import Synchronization

/// The answer to a request that is still being worked on.
///
/// Safe to use from any thread.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult, @unchecked Sendable {
    // Unchecked: what changes is in the mutex; the context is only handed on.
    private struct State {
        var error: (any Error)?
    }

    private let state = Mutex(State())
    private let context: NSManagedObjectContext?
    private let storedProgress: Progress?

    /// A result of no request, for subclasses that stand in for one.
    override public init() {
        (context, storedProgress) = (nil, nil)
        super.init()
    }

    init(_ context: NSManagedObjectContext, progress: Progress?) {
        self.context = context
        storedProgress = progress
        super.init()
    }

    /// The context that the request was given to.
    ///
    /// - Precondition: it is the result of a request.
    open var managedObjectContext: NSManagedObjectContext {
        guard let context else {
            programmerError(
                "NSPersistentStoreAsynchronousResult", "a result that was made without a request has no context",
                "Override managedObjectContext")
        }
        return context
    }

    /// Why there is no result; nil while the work goes on and after it succeeded. `CocoaError` 3072 after
    /// ``cancel()``.
    open var operationError: (any Error)? { state.withLock { $0.error } }

    /// How far the work has come. Nil for results that were there at once.
    open var progress: Progress? { storedProgress }

    /// Gives the work up as soon as possible. What is finished stays as it is.
    open func cancel() { storedProgress?.cancel() }

    final func fail(_ error: any Error) {
        state.withLock { $0.error = error }
    }
}
