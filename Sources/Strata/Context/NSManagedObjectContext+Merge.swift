import Foundation
import StrataLog

/// What another context has saved.
struct MergedIDs: Sendable {
    var inserted: [NSManagedObjectID]
    var updated: [NSManagedObjectID]
    var deleted: [NSManagedObjectID]
}

extension NSManagedObjectContext {
    final func mergeSaved(_ notification: Notification) {
        checkQueue("mergeChanges(fromContextDidSave:)")
        // What a transaction of the history tells is no context's notification, and names fewer objects.
        merge(Self.ids(notification.userInfo ?? [:]), areOfSave: notification.object is NSManagedObjectContext)
    }

    static func mergeRemote(_ changes: [AnyHashable: Any], into contexts: [NSManagedObjectContext]) {
        for context in contexts {
            context.performAndWait {
                context.merge(
                    ids(changes) { context.coordinator?.managedObjectID(forURIRepresentation: $0) }, areOfSave: false)
            }
        }
    }

    /// - Parameter resolve: finds the IDs that URIs stand for.
    private static func ids(
        _ info: [AnyHashable: Any], _ resolve: (URL) -> NSManagedObjectID? = { _ in nil }
    ) -> MergedIDs {
        func find(_ keys: [String]) -> [NSManagedObjectID] {
            keys.flatMap { objects(info[$0]) }.compactMap { value in
                value as? NSManagedObjectID ?? (value as? NSManagedObject)?.objectID ?? (value as? URL).flatMap(resolve)
            }
        }
        return MergedIDs(
            inserted: find([NSInsertedObjectsKey, NSInsertedObjectIDsKey]),
            updated: find([
                NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey,
                NSInvalidatedObjectsKey, NSInvalidatedObjectIDsKey,
            ]),
            deleted: find([NSDeletedObjectsKey, NSDeletedObjectIDsKey]))
    }

    private static func objects(_ value: Any?) -> [Any] {
        guard let value, let elements = AnyElements(value) else { return [] }
        return elements.elements.compactMap { $0 }
    }

    /// - Parameter areOfSave: whether the IDs are all that a save has changed. Else they may be those of a batch
    ///   request or of the history, which have a row that was written, and other ends have to be found.
    final func merge(_ ids: MergedIDs, areOfSave: Bool = true) {
        // What was saved later is not part of the past that the context shows.
        if isPast { return }
        adoptPermanentIDs()
        processPendingChanges()
        advanceGeneration()
        recordMerged()
        underWay += 1
        let updated = ids.updated.compactMap { registeredObject(for: $0) }
        // Before the others, since a fetch tells of what has been refreshed by then.
        let controllers = followers?.all ?? []
        let arrivals = controllers.flatMap { $0.arrivals(among: ids.updated) + $0.related(among: ids.updated) }
        for object in updated where object.registry === registry { refresh(object, mergeChanges: true) }
        pipeline.refreshed.formUnion(arrivals)
        var inserted: ContiguousArray<NSManagedObject> = []
        for id in ids.inserted where canHave(id) {
            if let object = registeredObject(for: id) {
                if takeMergedDeletionBack(object) {
                    inserted.append(object)
                } else {
                    refresh(object, mergeChanges: true)
                }
            } else {
                inserted.append(object(with: id))
            }
        }
        if !areOfSave {
            var ends = MergedEnds(updated, in: self)
            ends.refresh(updated: updated, inserted: inserted)
        }
        var ids = ids
        var doomed = ids.deleted.compactMap { registeredObject(for: $0) }
        if !areOfSave {
            var deletions = MergedDeletions(ids.deleted, in: self)
            let cascaded = deletions.takeCascaded()
            doomed += cascaded
            ids.deleted += cascaded.map(\.objectID)
            deletions.refreshReferrers()
        }
        var deleted: ContiguousArray<NSManagedObject> = []
        for object in doomed where object.registry === registry && deleteMerged(object) { deleted.append(object) }
        if !deleted.isEmpty { pipeline.forgetReports() }
        pipeline.forgetDropped()
        var changes = ObjectChanges()
        changes.inserted = inserted
        changes.deleted = deleted
        changes.refreshed = pipeline.refreshed
        let refreshedIDs = Set(pipeline.refreshed.map(\.objectID))
        pipeline.refreshed = []
        // Children may have what this context has let go.
        tellChildren(of: ids, areOfSave: areOfSave)
        defer { if !pipeline.event.isEmpty { processPendingChanges() } }
        if !changes.isEmpty { changes.report(from: self) }
        pipeline.refreshBases = [:]
        underWay -= 1
        post(
            .NSManagedObjectContextDidMergeChangesObjectIDs,
            [
                NSInsertedObjectIDsKey: Set(ids.inserted), NSUpdatedObjectIDsKey: Set(ids.updated),
                NSDeletedObjectIDsKey: Set(ids.deleted), NSRefreshedObjectIDsKey: refreshedIDs,
            ])
    }

    /// Whether there may be an object with this ID: it names an open store, or what the parent has not saved.
    final func canHave(_ id: NSManagedObjectID) -> Bool {
        guard let identity = id.identity else { return link != nil }
        return coordinator?.handle(identity) != nil
    }

    // MARK: Deletions

    /// Deletes an object whose row has been deleted elsewhere. It stays in the context as deleted until the next save,
    /// which has nothing to write of it. ``SavePipeline/forgetDropped()`` has to follow.
    ///
    /// The delete rules have been followed in the store; here only what has not been saved can still refer to it. False
    /// if nothing changes for those who listen, since the object was deleted here, too.
    private func deleteMerged(_ object: NSManagedObject) -> Bool {
        if object.flags.contains(.gone) { return false }
        let wasReported = object.isMarkedDeleted && !object.flags.contains(.inEvent)
        // A fault can no longer be read: it reads as empty.
        object.flags.insert(.realized)
        deleteObject(object)
        // The program may have reset the context when it was told.
        guard object.registry === registry else { return false }
        let dependents = unsavedDependents(of: object)
        if propagatesDeletesAtEndOfEvent {
            dependents.forEach(deleteObject)
        } else {
            pipeline.mergedDependents += dependents
        }
        disconnect(object)
        object.toMany = []
        pipeline.list(object, in: self)
        undoRecorder?.forgetEvent(of: object)
        earlierValues.forget(object)
        object.flags.remove(.inEvent)
        object.flags.formUnion([.gone, .deleted, .deletePropagated])
        return !wasReported
    }

    /// What the cascade rule reaches: what refers to the object since the last save, or it to them.
    private func unsavedDependents(of object: NSManagedObject) -> [NSManagedObject] {
        var dependents: [NSManagedObject] = []
        for relationship in object.shape.relationships where relationship.deleteRule == .cascadeDeleteRule {
            if relationship.isToMany {
                dependents += object.existingState(relationship)?.added.objects ?? []
            } else if let overlay = object.overlay, overlay.isDirty(relationship.slot),
                let other = object.toOneTarget(relationship)
            {
                dependents.append(other)
            }
        }
        return dependents
    }

    /// An object that was deleted elsewhere is there again, as one whose deletion is undone is. False if it was not.
    private func takeMergedDeletionBack(_ object: NSManagedObject) -> Bool {
        guard object.flags.isSuperset(of: [.gone, .deleted]) else { return false }
        object.flags.subtract([.gone, .deleted, .deletePropagated, .listed])
        object.turnIntoFault(keepingChanges: false)
        return true
    }
}
