import Foundation
import StrataLog
import StrataSupport

extension NSManagedObjectContext {
    /// Takes an object in that was just created, of an entity of the coordinator's model.
    final func insertNew(_ object: NSManagedObject) {
        guard !object.summary.pointee.isAbstract else {
            programmerError(
                object.shape.name, "the entity is abstract and has no objects of its own",
                "Insert an object of one of its subentities")
        }
        ForeignObjects.record(object)
        object.flags.remove(.deletionSaved)
        object.flags.formUnion([.inserted, .defaultsBelow, .realized])
        registry.add(object)
        if isRetaining { retained.append(object) }
        pipeline.list(object, in: self)
        stateMayHaveChanged()
        undisturbed { object.awakeFromInsert() }
    }

    /// Inserts an object that was created without context. An object that is here already is inserted again if it was
    /// deleted.
    ///
    /// - Precondition: the object belongs to no other context.
    final func insertObject(_ object: NSManagedObject) {
        if object.registry === registry {
            guard object.isMarkedDeleted else { return }
            pipeline.list(object, in: self)
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
    /// One that is deleted already stays so, also when it has left the context for that: what was never saved goes as
    /// soon as pending changes are processed.
    ///
    /// - Precondition: the object belongs to no other context.
    final func deleteObject(_ object: NSManagedObject) {
        guard object.flags.isDisjoint(with: [.deleted, .gone, .preparingDeletion]) else { return }
        guard object.belongs(to: registry) else {
            guard let other = object.registry, other.context != nil else { return }
            programmerError(
                object.shape.name, "delete(_:) was given an object that is in another context",
                "Delete context.object(with: object.objectID) instead")
        }
        object.realize()
        if object.flags.contains(.gone) { return }
        if object.overrides.contains(.prepareForDeletion) {
            object.flags.insert(.preparingDeletion)
            undisturbed { object.prepareForDeletion() }
            object.flags.remove(.preparingDeletion)
        }
        pipeline.list(object, in: self)
        object.flags.insert(.deleted)
        pipeline.pendingDeletions.append(object)
        if object.flags.contains(.inserted) { pipeline.hasUnsavedDeletions = true }
    }

    /// A block given to `perform` is an event: ends it.
    final func endEvent() {
        processPendingChanges()
        undoRecorder?.manager.closeEventGroup()
        heldResults.release()
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
        guard store.handle?.map.serves(object.shape) == true else {
            programmerError(
                "NSManagedObjectContext.assign(_:to:)",
                "the store does not hold objects of \(object.shape.name), or has been removed",
                "Assign the object to a store whose configuration has the entity")
        }
        // A save that failed may have reserved a key in another store.
        object.standing = .none
        pipeline.assignments[ObjectIdentifier(object)] = store
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
        let objects = pipeline.forgetChanges()
        var changes = ObjectChanges()
        for object in objects {
            let flags = object.flags
            object.flags.subtract([
                .listed, .inEvent, .inserted, .updated, .deleted, .deletePropagated, .insertReported,
            ])
            if flags.contains(.inserted) {
                detach(object)
                // A deletion of the event that is given up has not been told yet.
                let isKnown = flags.contains(.insertReported) && !flags.contains(.deletePropagated)
                if isKnown { changes.deleted.append(object) }
            } else if flags.contains(.gone) {
                // The row is gone all the same: reading it will show that again.
                object.turnIntoFault(keepingChanges: false)
                object.flags.remove(.gone)
            } else {
                object.restoreCommitted()
                undisturbed { object.withoutChangeTracking { object.awake(fromSnapshotEvents: .rollback) } }
                if flags.contains(.deletePropagated) {
                    changes.inserted.append(object)
                    pipeline.refreshed.remove(object)
                } else {
                    pipeline.refreshed.insert(object)
                }
            }
        }
        forgetUnread()
        pipeline.isProcessingScheduled = false
        changes.refreshed = pipeline.refreshed
        pipeline.refreshed = []
        pipeline.refreshBases = [:]
        changes.report(from: self)
    }

    /// Forgets every object, every change and everything that could be undone. Objects that the program still holds
    /// belong to no context any more; those that are stored become faults, which fire with nothing.
    ///
    /// Posts `NSManagedObjectContextObjectsDidChange` with the IDs of all objects under `NSInvalidatedAllObjectsKey`.
    final func forgetEverything() {
        // Objects that nobody but their change holds are forgotten as well, and have to be named.
        let changed = pipeline.changed
        undoRecorder?.discard()
        earlierValues.forgetEvent()
        var invalidated: [NSManagedObjectID] = []
        pipeline.forgetChanges()
        pipeline.refreshed = []
        pipeline.refreshBases = [:]
        retained = []
        heldResults.release()
        readTrouble.errors = [:]
        adoptPermanentIDs()
        recordMerged()
        generation?.moveOn()
        faults.forget()
        largeValues.removeAll()
        numbersOutOfRange.removeAll()
        idCache.removeAll()
        registry.forgetUnreleased()
        for object in registry.all {
            invalidated.append(object.objectID)
            registry.forget(object)
            let isStored = object.storeIndex != 0 && !object.flags.contains(.inserted)
            let wasFault = object.leaveContext()
            if isStored {
                // Nobody can read its row for it any more: it has no values, and is no fault that would fire.
                if !wasFault { object.turnIntoFault(keepingChanges: false) }
                object.flags.insert([.realized, .gone])
            }
            detach(object)
        }
        withExtendedLifetime(changed) {}
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
            if !flag, !object.isUnread, !object.isMarkedDeleted { empty(object) }
            return
        }
        // What has been read as empty may be part of the changes.
        if pipeline.changed.isEmpty { readTrouble.errors[object.objectID] = nil }
        if generation == nil, let handle = registry.handle(object.storeIndex) {
            // A store that cannot be read says so when the object is.
            try? handle.catchUp()
        }
        if flag {
            readAnew(object)
        } else {
            object.turnIntoFault(keepingChanges: false)
            object.flags.subtract([.updated, .deleted, .deletePropagated])
        }
        pipeline.refreshed.insert(object)
        pipeline.scheduleProcessing(in: self)
    }

    /// Reads an object's newest row and lays its changes over it.
    private func readAnew(_ object: NSManagedObject) {
        let wasFault = object.isUnread
        let base = wasFault ? nil : RefreshBase(object)
        object.dropUnchangedValues()
        let references = ReferenceRebase(object)
        if !object.flags.contains(.unobserved) { ObservedObjects.willReadAnew(object, isKnown: base != nil) }
        object.turnIntoFault(keepingChanges: true)
        if !wasFault {
            object.flags.insert(.refreshing)
            object.realize()
            object.flags.remove(.refreshing)
            references?.apply()
        }
        if let base, pipeline.refreshBases[ObjectIdentifier(object)] == nil {
            pipeline.refreshBases[ObjectIdentifier(object)] = base
        }
        if object.flags.contains(.unobserved) { return }
        ObservedObjects.didReadAnew(object, base?.changedKeys(of: object, includesUnread: true))
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
        pipeline.refreshed.insert(object)
        pipeline.scheduleProcessing(in: self)
    }

    /// Refreshes all registered objects: those with changes or transient values keep them over the newest rows, all
    /// others become faults, which breaks the circles of references among them.
    final func refreshEverything() {
        recordMerged()
        for object in registry.all where !object.isUnread || object.hasChanges || !object.toMany.isEmpty {
            refresh(object, mergeChanges: object.hasChanges || object.hasTransientValues)
        }
        processPendingChanges()
    }
}
