import Foundation
import StrataIO
import StrataLog

extension NSManagedObjectContext {
    /// Takes an object in that was just created, of an entity of the coordinator's model.
    final func insertNew(_ object: NSManagedObject) {
        guard !object.summary.pointee.isAbstract else {
            programmerError(
                object.shape.name, "the entity is abstract and has no objects of its own",
                "Insert an object of one of its subentities")
        }
        object.flags.formUnion([.inserted, .defaultsBelow, .realized])
        registry.add(object)
        if isRetaining { retained.append(object) }
        list(object)
        stateMayHaveChanged()
        object.awakeFromInsert()
    }

    /// Inserts an object that was created without context. An object that is here already is inserted again if it was
    /// deleted.
    ///
    /// - Precondition: the object belongs to no other context.
    final func insertObject(_ object: NSManagedObject) {
        if object.registry === registry {
            guard object.isDeleted else { return }
            list(object)
            object.flags.subtract([.deleted, .deletePropagated])
            if object.storeIndex != 0 { object.flags.insert(.updated) }
            return
        }
        guard object.registry == nil else {
            programmerError(
                object.shape.name, "insert(_:) was given an object that belongs to another context",
                "Use context.object(with: object.objectID) to have the object in this context")
        }
        guard coordinator?.shapes === object.shape.model else {
            programmerError(
                object.shape.name,
                "insert(_:) was given an object whose entity is not of the model of the context's coordinator",
                "Load the model once and make entities, containers and coordinators of that one")
        }
        insertNew(object)
    }

    /// Marks an object as deleted. Its relationships follow the delete rules when pending changes are processed.
    ///
    /// - Precondition: the object belongs to this context.
    final func deleteObject(_ object: NSManagedObject) {
        guard object.flags.isDisjoint(with: [.deleted, .gone, .preparingDeletion]) else { return }
        guard object.belongs(to: registry) else {
            programmerError(
                object.shape.name, "delete(_:) was given an object that is in another context, or in none",
                "Delete context.object(with: object.objectID) instead")
        }
        object.realize()
        if object.flags.contains(.gone) { return }
        if object.overrides.contains(.prepareForDeletion) {
            object.flags.insert(.preparingDeletion)
            object.prepareForDeletion()
            object.flags.remove(.preparingDeletion)
        }
        list(object)
        object.flags.insert(.deleted)
        if object.flags.contains(.inserted) { hasUnsavedDeletions = true }
    }

    /// Follows the delete rules of everything that is deleted, for a save of a context that does so only then.
    final func propagateDeletions() {
        let dependents = mergedDependents
        mergedDependents = []
        for object in dependents where object.belongs(to: registry) { deleteObject(object) }
        guard !propagatesDeletesAtEndOfEvent else { return }
        // The list grows while cascades run.
        var index = 0
        while index < changed.count {
            propagateDeletion(changed[index])
            index += 1
        }
    }

    private func propagateDeletion(_ object: NSManagedObject) {
        guard object.isDeleted, !object.flags.contains(.deletePropagated) else { return }
        object.flags.insert(.deletePropagated)
        object.propagateDeletion(in: self)
    }

    /// Follows the delete rules of what was deleted and posts
    /// `NSManagedObjectContextObjectsDidChange` for everything that changed since the last time.
    final func processChanges() {
        isProcessingScheduled = false
        guard !event.isEmpty || !refreshed.isEmpty else { return }
        // The list grows while cascades run.
        var index = 0
        while propagatesDeletesAtEndOfEvent || isSaving, index < event.count {
            let object = event[index]
            if object.isDeleted { propagateDeletion(object) }
            index += 1
        }
        postObjectsDidChange()
        if undoRecorder == nil { forgetUnsavedDeletions() }
    }

    /// Objects that were deleted without ever having been saved leave the context when the event is over. With an undo
    /// manager they stay until the next save: their deletion may be undone.
    private func forgetUnsavedDeletions() {
        guard hasUnsavedDeletions else { return }
        hasUnsavedDeletions = false
        forgetReports()
        changed.removeAll { object in
            guard object.flags.isSuperset(of: [.inserted, .deleted]), !object.flags.contains(.inEvent) else {
                return false
            }
            assignments[ObjectIdentifier(object)] = nil
            object.flags.subtract([
                .listed, .inserted, .updated, .deleted, .deletePropagated, .insertReported, .dirtySlots, .dirtyToMany,
            ])
            detach(object)
            return true
        }
    }

    private func postObjectsDidChange() {
        let (objects, sets) = (event, eventSets)
        eventSets = nil
        sets?.add(objects, upTo: objects.count)
        event.removeAll(keepingCapacity: objects.count < 1_024)
        var changes = ObjectChanges()
        changes.inserted.reserveCapacity(objects.count)
        changes.refreshed = refreshed
        refreshed = []
        undoRecorder?.register(objects)
        earlierValues.beginReport()
        objects.forEachUnretained { object in
            object.flags.remove(.inEvent)
            if object.isDeleted {
                if object.flags.isReportedWhenDeleted { changes.deleted.append(object) }
            } else if object.flags.isReportedAsInserted {
                object.flags.insert(.insertReported)
                changes.inserted.append(object)
            } else if object.hasChanges {
                changes.updated.append(object)
            }
        }
        undoRecorder?.amend(&changes, objects)
        sets?.give(to: &changes)
        changes.post(.NSManagedObjectContextObjectsDidChange, from: self)
        if let set = changes.insertedSet {
            insertReports += 1
            reportedInserts = insertReports == 1 ? set : nil
            reportedInsertOrder = insertReports == 1 ? changes.inserted : nil
        }
        if let set = changes.deletedSet {
            deleteReports += 1
            reportedDeletes = deleteReports == 1 ? set : nil
            reportedDeleteOrder = deleteReports == 1 ? changes.deleted : nil
        }
        objects.forEachUnretained { object in
            if !object.flags.contains(.inEvent) { object.endEvent() }
        }
        undoRecorder?.didReport()
        earlierValues.endReport()
    }

    /// Hands those objects of the event on that the other core does not have yet.
    @inline(never)
    final func fillEventSets() {
        let sets = eventSets ?? EventSets()
        eventSets = sets
        // The last one is about to be told what has become of it.
        sets.add(event, upTo: event.count - 1)
    }

    /// A block given to `perform` is an event: ends it.
    final func endEvent() {
        processPendingChanges()
        undoRecorder?.manager.closeEventGroup()
        heldResults.release()
    }

    /// On the main queue nobody may ever call `perform`, so the end of the current turn stands for the end of the
    /// event.
    final func scheduleProcessing() {
        guard queueType == .mainQueueConcurrencyType, !isProcessingScheduled else { return }
        isProcessingScheduled = true
        queue.async { [weak self] in self?.processPendingChanges() }
    }

    /// Sets which store inserted objects are saved to, when more than one has their entity.
    final func assignObject(_ object: Any, to store: NSPersistentStore) {
        guard let object = object as? NSManagedObject else {
            programmerError(
                "NSManagedObjectContext.assign(_:to:)", "\(type(of: object)) is no managed object",
                "Assign managed objects only")
        }
        if object.storeIndex != 0 {
            guard let owner = object.objectID.persistentStore, owner.handle !== store.handle else { return }
            programmerError(
                "NSManagedObjectContext.assign(_:to:)",
                "an object of \(object.shape.name) that has a permanent ID cannot change its store",
                "Assign objects before they are saved, or insert a new one with these values")
        }
        guard store.handle?.map.holds(object.shape) == true else {
            programmerError(
                "NSManagedObjectContext.assign(_:to:)",
                "the store does not hold objects of \(object.shape.name), or has been removed",
                "Assign the object to a store whose configuration has the entity")
        }
        assignments[ObjectIdentifier(object)] = store
    }

    // MARK: Going back

    /// Gives up all changes and everything that could be undone: inserted objects leave the context, all others have
    /// the values again that they were last read or saved with.
    ///
    /// `NSManagedObjectContextObjectsDidChange` tells of objects whose insertion had been reported as deleted, of those
    /// whose deletion had been processed as inserted, and of all others as refreshed.
    final func rollBackChanges() {
        undoRecorder?.discard()
        earlierValues.forgetEvent()
        let objects = changed
        var changes = ObjectChanges()
        eventSets = nil
        changed = []
        event = []
        assignments = [:]
        forgetReports()
        required = []
        mergedDependents = []
        for object in objects {
            let flags = object.flags
            object.flags.subtract([
                .listed, .inEvent, .inserted, .updated, .deleted, .deletePropagated, .insertReported,
            ])
            if flags.contains(.inserted) {
                detach(object)
                if flags.contains(.insertReported), !flags.contains(.deleted) { changes.deleted.append(object) }
            } else if flags.contains(.gone) {
                // The row is gone all the same: reading it will show that again.
                object.turnIntoFault(keepingChanges: false)
                object.flags.remove(.gone)
            } else {
                object.restoreCommitted()
                object.withoutChangeTracking { object.awake(fromSnapshotEvents: .rollback) }
                if flags.contains(.deletePropagated) {
                    changes.inserted.append(object)
                    refreshed.remove(object)
                } else {
                    refreshed.insert(object)
                }
            }
        }
        forgetUnread()
        isProcessingScheduled = false
        changes.refreshed = refreshed
        refreshed = []
        changes.post(.NSManagedObjectContextObjectsDidChange, from: self)
    }

    /// Forgets every object, every change and everything that could be undone. Objects that the program still holds
    /// belong to no context any more.
    ///
    /// Posts `NSManagedObjectContextObjectsDidChange` with the IDs of all objects under `NSInvalidatedAllObjectsKey`.
    final func forgetEverything() {
        undoRecorder?.discard()
        earlierValues.forgetEvent()
        var invalidated: [NSManagedObjectID] = []
        eventSets = nil
        changed = []
        event = []
        forgetReports()
        required = []
        mergedDependents = []
        refreshed = []
        retained = []
        heldResults.release()
        assignments = [:]
        readErrors = [:]
        adoptPermanentIDs()
        noteMerged()
        generation?.moveOn()
        faults.forget()
        idCache.removeAll()
        registry.forgetLeftovers()
        for object in registry.all {
            invalidated.append(object.objectID)
            registry.forget(object)
            if !object.becomeNobodys(), object.storeIndex != 0 {
                object.willTurnIntoFault()
                object.didTurnIntoFault()
            }
            detach(object)
        }
        forgetPermanentIDs()
        post(.NSManagedObjectContextObjectsDidChange, [NSInvalidatedAllObjectsKey: invalidated])
    }

    /// Brings an object up to date with the store.
    ///
    /// - Parameter flag: false gives up the object's changes and makes it a fault; true reads the newest row and lays
    ///   the changes over it again, which `awake(fromSnapshotEvents:)` tells the object instead of `awakeFromFetch()`.
    final func refreshObject(_ object: NSManagedObject, mergeChanges flag: Bool) {
        guard object.registry === registry, !object.flags.contains(.gone) else { return }
        if object.flags.contains(.inserted) || object.storeIndex == 0 {
            if !flag, !object.isFault, !object.isDeleted { empty(object) }
            return
        }
        // What has been read as empty may be part of the changes.
        if changed.isEmpty { readErrors[object.objectID] = nil }
        if generation == nil, let handle = registry.handle(object.storeIndex) {
            // A store that cannot be read says so when the object is.
            try? handle.catchUp()
        }
        if flag {
            let wasFault = object.isFault
            let references = ReferenceRebase(object)
            object.turnIntoFault(keepingChanges: true)
            if !wasFault {
                object.flags.insert(.refreshing)
                object.realize()
                object.flags.remove(.refreshing)
                references?.apply()
            }
            if !object.flags.contains(.unobserved) { object.observedEverythingDidChange() }
        } else {
            object.turnIntoFault(keepingChanges: false)
            object.flags.subtract([.updated, .deleted, .deletePropagated])
        }
        refreshed.insert(object)
        scheduleProcessing()
    }

    /// Makes a fault of an object that was never saved. It fires with its default values.
    private func empty(_ object: NSManagedObject) {
        for relationship in object.shape.relationships {
            if relationship.isToMany {
                object.setToMany(relationship, to: [])
            } else {
                object.setToOne(relationship, to: nil)
            }
        }
        object.turnIntoFault(keepingChanges: false)
        refreshed.insert(object)
        scheduleProcessing()
    }

    /// Refreshes all registered objects: those with changes keep them over the newest rows, all others become faults,
    /// which breaks the circles of references among them.
    final func refreshEverything() {
        noteMerged()
        for object in registry.all where !object.isFault || object.hasChanges || !object.toMany.isEmpty {
            refresh(object, mergeChanges: object.hasChanges)
        }
        processPendingChanges()
    }
}
