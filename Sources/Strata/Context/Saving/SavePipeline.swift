import Foundation
import StrataLog
import StrataSupport

/// The way of a context's changes, from the first one to the notifications of the save that writes them.
///
/// Gathers what has changed since the last save (``changed``) and since pending changes were last processed
/// (``event``). A save takes these steps, one file each:
///
/// 1. `+Events`: ends the event, follows delete rules, and tells who listens.
/// 2. `+Preparing`: calls `willSave` until nothing changes any more, derives attributes, validates.
/// 3. `+Endings`: divides the changes by where they go, and hands them over: a ``SaveEnding`` for each store, or for
///   the parent.
/// 4. `+Concluding`: takes the objects out of the state of change, and tells who listens.
///
/// There is one for each context. It belongs to the context's queue.
final class SavePipeline {
    // SAFETY: the context owns its pipeline. Each access counts a reference: what goes through many objects asks once.
    unowned(unsafe) private(set) var context: NSManagedObjectContext!
    var registry: ObjectRegistry { context.registry }

    // MARK: What is gathered

    /// All objects that are or were inserted, updated or deleted since the last save, in that order.
    @exclusivity(unchecked) var changed: ContiguousArray<NSManagedObject> = []
    /// What some class of these overrides.
    @exclusivity(unchecked) var overrides: MethodOverrides = []
    /// The objects that changed since pending changes were last processed.
    @exclusivity(unchecked) var event: ContiguousArray<NSManagedObject> = []
    /// The sets of these for the notification that reports them; nil while they are few.
    @exclusivity(unchecked) var eventSets: EventSets?
    /// What the objects-did-change notifications tell that are being posted: more than one when somebody who is told of
    /// changes makes others and has them processed.
    var reports: [ObjectChanges] = []
    /// Reported by the next objects-did-change notification.
    var refreshed: Set<NSManagedObject> = []
    /// What of these could be read had before.
    var refreshBases: [ObjectIdentifier: RefreshBase] = [:]
    /// What notifications since the last save have told of insertions and deletions.
    var insertReports = ReportedObjects()
    var deleteReports = ReportedObjects()
    /// Stores that inserted objects were assigned to.
    var assignments: [ObjectIdentifier: NSPersistentStore] = [:]
    /// Objects that ``NSManagedObjectContext/detectConflicts(for:)`` was called for.
    var required: Set<NSManagedObject> = []
    /// The deleted objects whose delete rules have not been followed yet, in the order of their deletion. A list of its
    /// own, since a rule may delete what is in ``changed`` and ``event`` already.
    @exclusivity(unchecked) var pendingDeletions: ContiguousArray<NSManagedObject> = []
    /// What merged deletions reach by the cascade rule, in a context that follows the rules only when it saves.
    @exclusivity(unchecked) var mergedDependents: [NSManagedObject] = []
    /// Inserted objects that a merge policy has merged into others.
    @exclusivity(unchecked) var mergedAway: [(object: NSManagedObject, successor: NSManagedObject)] = []
    /// Whether an object was deleted that has never been saved.
    var hasUnsavedDeletions = false
    /// Whether the end of the main queue's turn is going to end the event.
    var isProcessingScheduled = false

    // MARK: The save that runs

    private(set) var isSaving = false
    /// What may take the save back as long as it waits for its turn.
    private(set) var control: RequestControl?
    /// The part of each store, or that of the parent, which gets all of it.
    @exclusivity(unchecked) var stores: [StoreEnding] = []
    @exclusivity(unchecked) var parent: ParentEnding?
    /// What some stores have got already while another one's conflicts were resolved.
    var settled: ContiguousArray<NSManagedObject> = []
    /// Whether a coordinator's `execute(_:with:)` has been asked to hand the changes over.
    var isHandOverAsked = false
    /// What the derived attributes were computed from.
    var derivationView: DerivationView?
    /// Objects whose rows turned out to be gone.
    var dropped: ContiguousArray<NSManagedObject> = []

    /// Whether delete rules have still to be followed: a deletion may have been undone before.
    private var hasPendingDeletions: Bool {
        pendingDeletions.contains { $0.isMarkedDeleted && !$0.flags.contains(.deletePropagated) }
    }

    /// Whether a save would have something to do.
    var hasChanges: Bool {
        if !context.propagatesDeletesAtEndOfEvent, hasPendingDeletions { return true }
        return changed.contains { object in
            object.isInserted || object.isUpdated || (object.isMarkedDeleted && !object.flags.contains(.inserted))
        }
    }

    /// To be called once, when the context is being made.
    func begin(_ context: NSManagedObjectContext) { self.context = context }

    /// Writes all changes to their stores, or gives them to the parent: see ``NSManagedObjectContext/save()``.
    ///
    /// - Throws: `CocoaError` with a validation code, 134030 for a context that shows the past or has read as empty
    ///   what could not be read, 133020 for conflicts that the merge policy does not resolve, or a store's error with
    ///   the engine's as its underlying one.
    /// - Complexity: O(n) in the changed objects.
    func save() throws {
        guard let coordinator = context.coordinator else {
            if !hasChanges { return }
            throw DescribedError(
                .persistentStoreSave,
                userInfo: [NSLocalizedDescriptionKey: "The context has no persistent store coordinator."])
        }
        guard !isSaving else { throw SaveFailure.recursiveSave }
        isSaving = true
        coordinator.writing.enter()
        defer {
            coordinator.writing.leave()
            isSaving = false
            registry.endPuttingAside()
            derivationView = nil
            control = nil
            isHandOverAsked = false
            forgetEndings()
        }
        control = ContextQueue.currentControl
        try control?.check()
        // Nothing that belongs to a save is stopped half way: only its commit, as long as it waits.
        guard EventHub.wants(.save) else {
            return try context.unstoppable {
                var unheard: SaveObservation?
                try save(to: coordinator, &unheard)
            }
        }
        var observation: SaveObservation? = SaveObservation()
        var parts = EventParts()
        do {
            try parts.gather { try context.unstoppable { try save(to: coordinator, &observation) } }
            observation?.end(self, nil, with: parts)
        } catch {
            observation?.end(self, error, with: parts)
            throw error
        }
    }

    /// - Parameter observation: notes the save for those who want to hear of it.
    private func save(to coordinator: NSPersistentStoreCoordinator, _ observation: inout SaveObservation?) throws {
        try processEverything()
        guard hasChanges || !required.isEmpty else { return try finishWithoutChanges(coordinator) }
        try context.refusePast()
        try context.refuseUnread()
        try context.refuseLate()
        context.post(.NSManagedObjectContextWillSave)
        try callWillSave()
        dropUnchangedValues()
        try updateDerivedAttributes()
        try validateChanges(changed)
        defer { reportDropped() }
        try makeEndings(coordinator)
        try handOver(coordinator)
        observation?.record(self)
        conclude(coordinator)?.start(registry)
        if context.link == nil { try coordinator.savePendingMetadata() }
    }

    /// Lets go of objects that were changed when nothing of that is left to be saved.
    private func finishWithoutChanges(_ coordinator: NSPersistentStoreCoordinator) throws {
        if !changed.isEmpty { takeChanged().forEachUnretained { clearChanges(of: $0, isTold: false) } }
        if context.link == nil { try coordinator.savePendingMetadata() }
        // Observers of saves hear of each one, also of those that had nothing to write.
        var none = ObjectChanges()
        none.postSaved(from: context)
    }
}
