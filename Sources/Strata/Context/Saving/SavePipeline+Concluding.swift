import Foundation
import StrataLog

// After the changes have arrived.
extension SavePipeline {
    /// Brings the objects in line with what was written, and tells them and everybody who listens.
    ///
    /// - Returns: what lets go of the objects, once the caller has returned from here; nil when they are few.
    func conclude(_ coordinator: NSPersistentStoreCoordinator) -> SaveDisposal? {
        let stores = stores
        let single = stores.count == 1 ? stores.first : nil
        var all = finishEndings()
        // Every inserted object has been reported; if that was in one notification, its list has mostly been taken
        // over.
        if let set = insertReports.set(of: all.inserted) { all.insertedSet = set }
        // What was reported as deleted may have been brought back, and others have been deleted by a merge.
        if let set = deleteReports.set(of: all.deleted) { all.deletedSet = set }
        let told = overrides
        var saved = takeChanged()
        let isTold = told.contains(.didSave)
        saved.forEachUnretained { clearChanges(of: $0, isTold: isTold) }
        if !settled.isEmpty {
            var known: Set<ObjectMember> = []
            saved = settled + saved
            saved.keepUnknown(&known)
        }
        parent?.takeRows()
        // The changes that the merge policy made are part of the save, not of a new event.
        dropEvent()
        callDidSave(saved, deleted: all.deleted, told)
        context.advanceGeneration()
        all.postSaved(from: context, extra: context.generationInfo(coordinator.saveInfo(stores)))
        all.postSavedIDs(
            from: context, insertedIDs: single?.insertedIDs?.set(of: all.inserted),
            deletedIDs: single?.deletedIDs?.set(of: all.deleted))
        context.tellChildren(all)
        forgetEndings()
        guard !stores.isEmpty else { return nil }
        coordinator.didSave(stores, all, from: context)
        return SaveDisposal(saved, all, [single?.insertedIDs, single?.deletedIDs].compactMap { $0 })
    }

    /// Takes an object whose changes have been saved out of the state of change. False if it was deleted.
    ///
    /// - Parameter isTold: whether it is one of those that `didSave` is called for.
    @discardableResult
    func clearChanges(of object: NSManagedObject, isTold: Bool = true) -> Bool {
        let wasDeleted = object.isMarkedDeleted
        let wasInserted = object.flags.contains(.inserted)
        // Of what others have deleted nothing was saved.
        let isSaved = !(wasDeleted && wasInserted) && !object.flags.contains(.gone)
        if isTold, isSaved, object.hasChanges { object.flags.insert(.saved) }
        object.flags.subtract([
            .listed, .inEvent, .inserted, .updated, .deletePropagated, .insertReported, .dirtySlots, .dirtyToMany,
        ])
        if wasDeleted {
            object.flags.insert(.gone)
            // didSave still sees that the object is deleted.
            if wasInserted {
                object.flags.remove(.deleted)
                context.detach(object)
            }
            return false
        }
        object.overlay?.clearDirty(object.summary)
        let isToParent = context.link != nil
        if !object.toMany.isEmpty { for state in object.toMany { state?.didSave(isToParent: isToParent) } }
        return true
    }

    /// Tells the objects that have been saved, after which those that were deleted leave.
    ///
    /// - Parameter overrides: what some class of the objects overrides.
    func callDidSave(
        _ objects: ContiguousArray<NSManagedObject>, deleted: ContiguousArray<NSManagedObject>,
        _ overrides: MethodOverrides
    ) {
        if overrides.contains(.didSave) {
            objects.forEachUnretained { object in
                guard object.flags.contains(.saved) else { return }
                object.flags.remove(.saved)
                object.didSave()
            }
        }
        if deleted.isEmpty { return }
        // What didSave has inserted again stays.
        let context: NSManagedObjectContext = context
        let leaving = overrides.contains(.didSave) ? deleted.filter(\.isMarkedDeleted) : deleted
        registry.forget(leaving)
        leaving.forEachUnretained { object in
            object.flags.remove(.deleted)
            object.flags.insert(.deletionSaved)
            context.detach(object)
        }
    }
}
