import Foundation
import Strata

/// What a block may set of its context, as it was before.
///
/// The next block's request is another's: it must not save under this one's author, nor read the past that this one was
/// pinned to, which a reset leaves as it is.
struct PooledSettings {
    private let name: String?
    private let author: String?
    private let userInfo: [AnyHashable: Any]
    private let mergePolicy: Any
    private let generation: NSQueryGenerationToken?
    private let automaticallyMerges: Bool
    private let undoManager: UndoManager?
    private let propagatesDeletes: Bool
    private let deletesInaccessibleFaults: Bool
    private let stalenessInterval: TimeInterval
    private let retainsObjects: Bool
    private let isObserved: Bool

    /// On the context's queue.
    init(_ context: NSManagedObjectContext) {
        name = context.name
        author = context.transactionAuthor
        userInfo = context.userInfo.count == 0 ? [:] : context.userInfo as? [AnyHashable: Any] ?? [:]
        mergePolicy = context.mergePolicy
        generation = context.queryGenerationToken
        automaticallyMerges = context.automaticallyMergesChangesFromParent
        undoManager = context.undoManager
        propagatesDeletes = context.propagatesDeletesAtEndOfEvent
        deletesInaccessibleFaults = context.shouldDeleteInaccessibleFaults
        stalenessInterval = context.stalenessInterval
        retainsObjects = context.retainsRegisteredObjects
        isObserved = context.isObservationEnabled
    }

    /// On the context's queue, which has no objects any more.
    func restore(_ context: NSManagedObjectContext) {
        context.name = name
        context.transactionAuthor = author
        if context.userInfo.count > 0 || !userInfo.isEmpty { context.userInfo.setDictionary(userInfo) }
        context.mergePolicy = mergePolicy
        if context.queryGenerationToken != generation { try? context.setQueryGenerationFrom(generation) }
        if context.automaticallyMergesChangesFromParent != automaticallyMerges {
            context.automaticallyMergesChangesFromParent = automaticallyMerges
        }
        if context.undoManager !== undoManager { context.undoManager = undoManager }
        context.propagatesDeletesAtEndOfEvent = propagatesDeletes
        context.shouldDeleteInaccessibleFaults = deletesInaccessibleFaults
        context.stalenessInterval = stalenessInterval
        if context.retainsRegisteredObjects != retainsObjects { context.retainsRegisteredObjects = retainsObjects }
        if context.isObservationEnabled != isObserved { context.isObservationEnabled = isObserved }
    }
}
