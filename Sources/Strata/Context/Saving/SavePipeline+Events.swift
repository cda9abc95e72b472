import Foundation
import StrataLog
import StrataSupport

// Gathering what changes, until an event ends.
extension SavePipeline {
    /// Puts an object into the lists of what has changed.
    ///
    /// Comes before the change itself, so that an undo manager learns what was there.
    ///
    /// - Parameter context: the pipeline's, which every caller has: counting a reference to it would cost more than the
    ///   rest.
    func list(_ object: NSManagedObject, in context: NSManagedObjectContext) {
        if context.checksQueue { context.checkChange(object) }
        if context.undoRecorder != nil {
            if !object.flags.contains(.inEvent) { context.undoRecorder?.capture(object) }
        } else if object.flags.isSuperset(of: [.listed, .dirtySlots]), !object.flags.contains(.inEvent), !isSaving {
            // What changes in the course of a save is in no event that is reported.
            context.earlierValues.keep(object)
        }
        if !object.flags.contains(.listed) {
            object.flags.insert(.listed)
            if changed.isEmpty, settled.isEmpty { overrides = [] }
            overrides.formUnion(object.overrides)
            changed.append(object)
        }
        if !object.flags.contains(.inEvent) {
            object.flags.insert(.inEvent)
            event.append(object)
            if event.count & (EventSets.step - 1) == 0 { fillEventSets() }
            scheduleProcessing(in: context)
        }
    }

    /// Hands those objects of the event on that the other core does not have yet.
    @inline(never)
    private func fillEventSets() {
        let sets = eventSets ?? EventSets()
        eventSets = sets
        // The last one is about to be told what has become of it.
        sets.add(event, upTo: event.count - 1)
    }

    /// On the main queue nobody may ever call `perform`, so the end of the current turn stands for the end of the
    /// event.
    func scheduleProcessing(in context: NSManagedObjectContext) {
        guard context.queueType == .mainQueueConcurrencyType, !isProcessingScheduled else { return }
        isProcessingScheduled = true
        context.queue.async { [weak context] in context?.processPendingChanges() }
    }

    /// Follows the delete rules of everything that is deleted, for a save of a context that does so only then.
    func propagateDeletions() {
        let context: NSManagedObjectContext = context
        let dependents = mergedDependents
        mergedDependents = []
        for object in dependents where object.belongs(to: registry) { context.deleteObject(object) }
        followDeletions()
    }

    /// Follows delete rules until they delete nothing more.
    ///
    /// The list is taken before it is gone through: an object that fires may run the program's code, which may end an
    /// event and so come here again.
    func followDeletions() {
        while !pendingDeletions.isEmpty {
            let context: NSManagedObjectContext = context
            let objects = pendingDeletions
            pendingDeletions = []
            objects.forEachUnretained { object in
                guard object.isMarkedDeleted, !object.flags.contains(.deletePropagated) else { return }
                object.flags.insert(.deletePropagated)
                object.propagateDeletion(in: context)
            }
        }
    }

    /// Follows the delete rules of what was deleted and posts
    /// `NSManagedObjectContextObjectsDidChange` for everything that changed since the last time.
    func processChanges() {
        isProcessingScheduled = false
        guard !event.isEmpty || !refreshed.isEmpty else { return }
        let context: NSManagedObjectContext = context
        if context.propagatesDeletesAtEndOfEvent || isSaving { followDeletions() }
        postObjectsDidChange()
        if context.undoRecorder == nil { forgetUnsavedDeletions() }
    }

    /// Objects that were deleted without ever having been saved leave the context when the event is over. With an undo
    /// manager they stay until the next save: their deletion may be undone. So do those whose delete rules wait for the
    /// save.
    private func forgetUnsavedDeletions() {
        guard hasUnsavedDeletions, pendingDeletions.isEmpty else { return }
        hasUnsavedDeletions = false
        let context: NSManagedObjectContext = context
        forgetReports()
        changed.removeAll { object in
            guard object.flags.isSuperset(of: [.inserted, .deleted]), !object.flags.contains(.inEvent) else {
                return false
            }
            assignments[ObjectIdentifier(object)] = nil
            object.flags.subtract([
                .listed, .inserted, .updated, .deleted, .deletePropagated, .insertReported, .dirtySlots, .dirtyToMany,
            ])
            context.detach(object)
            return true
        }
    }

    private func postObjectsDidChange() {
        let context: NSManagedObjectContext = context
        let (objects, sets) = (event, eventSets)
        eventSets = nil
        sets?.add(objects, upTo: objects.count)
        event.removeAll(keepingCapacity: objects.count < 1_024)
        var changes = ObjectChanges()
        changes.inserted.reserveCapacity(objects.count)
        changes.refreshed = refreshed
        refreshed = []
        context.undoRecorder?.register(objects)
        context.earlierValues.beginReport()
        objects.forEachUnretained { object in
            object.flags.remove(.inEvent)
            if object.isMarkedDeleted {
                if object.flags.isReportedWhenDeleted { changes.deleted.append(object) }
            } else if object.flags.isReportedAsInserted {
                object.flags.insert(.insertReported)
                changes.inserted.append(object)
            } else if object.hasChanges {
                changes.updated.append(object)
            }
        }
        context.undoRecorder?.amend(&changes, objects)
        sets?.give(to: &changes)
        // What is said of these changes is said before others are.
        context.undisturbed { changes.report(from: context) }
        refreshBases = [:]
        insertReports.add(changes.insertedSet, changes.inserted)
        deleteReports.add(changes.deletedSet, changes.deleted)
        objects.forEachUnretained { object in
            if !object.flags.contains(.inEvent) { object.endEvent() }
        }
        context.undoRecorder?.didReport()
        context.earlierValues.endReport()
    }

    /// Changed objects of which somebody who hears the notification that is posted may not have been told: those that
    /// others have changed because of it, and those of notifications in whose middle it is posted. None, as a rule.
    var untold: [NSManagedObject] {
        reports.dropLast().reduce(into: Array(event)) { objects, changes in
            objects += changes.inserted
            objects += changes.updated
            objects += changes.deleted
            objects += changes.refreshed
        }
    }

    /// Reports objects that left the context because a conflict showed that their rows are gone.
    func reportDropped() {
        guard !dropped.isEmpty else { return }
        var changes = ObjectChanges()
        changes.deleted = dropped
        dropped = []
        changes.report(from: context)
    }

    // MARK: Forgetting

    /// Which objects have been reported by notifications no longer counts.
    func forgetReports() {
        insertReports = ReportedObjects()
        deleteReports = ReportedObjects()
    }

    /// Takes objects that were dropped out of the lists of what has changed: of all at once, as there may be many.
    func forgetDropped() {
        changed.removeAll { !$0.flags.contains(.listed) }
        eventSets = nil
        event.removeAll { !$0.flags.contains(.inEvent) }
    }

    /// Forgets what has happened since pending changes were last processed.
    func dropEvent() {
        eventSets = nil
        event.forEachUnretained { object in
            object.flags.remove(.inEvent)
            object.endEvent()
        }
        event = []
        context.undoRecorder?.forgetEvent()
        context.earlierValues.forgetEvent()
    }

    /// Forgets what has changed, and the event that runs.
    ///
    /// - Returns: the objects that had changed.
    @discardableResult
    func forgetChanges() -> ContiguousArray<NSManagedObject> {
        eventSets = nil
        event = []
        mergedDependents = []
        pendingDeletions = []
        return takeChanged()
    }

    /// Forgets what had changed since the last save, and what is known of it.
    ///
    /// - Returns: the objects that had changed.
    func takeChanged() -> ContiguousArray<NSManagedObject> {
        let objects = changed
        changed = []
        assignments = [:]
        required = []
        forgetReports()
        return objects
    }
}
