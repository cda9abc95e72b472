import Foundation
import Strata

/// What a block may set of its context, as it was before.
///
/// The next block's request is another's: it must not save under this one's author, nor read the past that this one was
/// pinned to, which a reset leaves as it is.
struct PooledSettings {
    private let author: String?
    private let mergePolicy: Any
    private let generation: NSQueryGenerationToken?
    private let automaticallyMerges: Bool
    private let undoManager: UndoManager?
    private let propagatesDeletes: Bool
    private let deletesInaccessibleFaults: Bool
    private let stalenessInterval: TimeInterval

    /// On the context's queue.
    init(_ context: NSManagedObjectContext) {
        author = context.transactionAuthor
        mergePolicy = context.mergePolicy
        generation = context.queryGenerationToken
        automaticallyMerges = context.automaticallyMergesChangesFromParent
        undoManager = context.undoManager
        propagatesDeletes = context.propagatesDeletesAtEndOfEvent
        deletesInaccessibleFaults = context.shouldDeleteInaccessibleFaults
        stalenessInterval = context.stalenessInterval
    }

    /// On the context's queue, which has no objects any more.
    func restore(_ context: NSManagedObjectContext) {
        context.transactionAuthor = author
        context.mergePolicy = mergePolicy
        if context.queryGenerationToken != generation { try? context.setQueryGenerationFrom(generation) }
        if context.automaticallyMergesChangesFromParent != automaticallyMerges {
            context.automaticallyMergesChangesFromParent = automaticallyMerges
        }
        if context.undoManager !== undoManager { context.undoManager = undoManager }
        context.propagatesDeletesAtEndOfEvent = propagatesDeletes
        context.shouldDeleteInaccessibleFaults = deletesInaccessibleFaults
        context.stalenessInterval = stalenessInterval
    }
}
