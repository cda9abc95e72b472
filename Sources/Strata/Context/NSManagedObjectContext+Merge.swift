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
        checkQueue()
        merge(Self.ids(notification.userInfo ?? [:]))
    }

    static func mergeRemote(_ changes: [AnyHashable: Any], into contexts: [NSManagedObjectContext]) {
        for context in contexts {
            context.performAndWait {
                var ids = ids(changes)
                let resolve = { (key: String) -> [NSManagedObjectID] in
                    objects(changes[key]).compactMap { value in
                        (value as? URL).flatMap { context.coordinator?.managedObjectID(forURIRepresentation: $0) }
                    }
                }
                ids.inserted += resolve(NSInsertedObjectsKey) + resolve(NSInsertedObjectIDsKey)
                ids.updated += resolve(NSUpdatedObjectsKey) + resolve(NSUpdatedObjectIDsKey)
                ids.deleted += resolve(NSDeletedObjectsKey) + resolve(NSDeletedObjectIDsKey)
                context.merge(ids)
            }
        }
    }

    private static func ids(_ info: [AnyHashable: Any]) -> MergedIDs {
        func find(_ keys: [String]) -> [NSManagedObjectID] {
            keys.flatMap { objects(info[$0]) }.compactMap { value in
                value as? NSManagedObjectID ?? (value as? NSManagedObject)?.objectID
            }
        }
        return MergedIDs(
            inserted: find([NSInsertedObjectsKey, NSInsertedObjectIDsKey]),
            updated: find([NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey]),
            deleted: find([NSDeletedObjectsKey, NSDeletedObjectIDsKey]))
    }

    private static func objects(_ value: Any?) -> [Any] {
        guard let value, let elements = AnyElements(value) else { return [] }
        return elements.elements.compactMap { $0 }
    }

    final func merge(_ ids: MergedIDs) {
        // What was saved later is not part of the past that the context shows.
        if isPast { return }
        adoptPermanentIDs()
        processPendingChanges()
        advanceGeneration()
        noteMerged()
        for id in ids.updated {
            if let object = registeredObject(for: id) { refresh(object, mergeChanges: true) }
        }
        var inserted: ContiguousArray<NSManagedObject> = []
        for id in ids.inserted where canHave(id) {
            if let object = registeredObject(for: id) {
                refresh(object, mergeChanges: true)
            } else {
                inserted.append(object(with: id))
            }
        }
        var deleted: ContiguousArray<NSManagedObject> = []
        for id in ids.deleted {
            guard let object = registeredObject(for: id) else { continue }
            drop(object)
            deleted.append(object)
        }
        forgetDropped()
        var changes = ObjectChanges()
        changes.inserted = inserted
        changes.deleted = deleted
        changes.refreshed = refreshed
        let refreshedIDs = Set(refreshed.map(\.objectID))
        refreshed = []
        // Children may have what this context has let go.
        tellChildren(of: ids)
        guard !changes.isEmpty else { return }
        changes.post(.NSManagedObjectContextObjectsDidChange, from: self)
        NotificationCenter.default.post(
            name: .NSManagedObjectContextDidMergeChangesObjectIDs, object: self,
            userInfo: [
                NSInsertedObjectIDsKey: Set(ids.inserted), NSUpdatedObjectIDsKey: Set(ids.updated),
                NSDeletedObjectIDsKey: Set(ids.deleted), NSRefreshedObjectIDsKey: refreshedIDs,
            ])
    }

    /// Whether there may be an object with this ID: it names an open store, or what the parent has not saved.
    private func canHave(_ id: NSManagedObjectID) -> Bool {
        guard let identity = id.identity else { return link != nil }
        return coordinator?.handle(identity) != nil
    }

    /// The object's row has been deleted elsewhere. ``forgetDropped()`` has to follow.
    final func drop(_ object: NSManagedObject) {
        if !object.flags.contains(.unobserved) { object.observedEverythingWillChange() }
        // Nothing in the context refers to it any more.
        ObjectMerge(object).cutReferences()
        refreshed.remove(object)
        undoRecorder?.forgetEvent(of: object)
        for relationship in object.shape.relationships {
            guard let inverse = relationship.inverse, inverse.isToMany, !relationship.isToMany,
                let overlay = object.overlay, overlay.isPresent(relationship.slot), !overlay.isNull(relationship.slot)
            else { continue }
            overlay.object(at: object.shape.slots[relationship.slot].offset).existingState(inverse)?.unload()
        }
        if !object.flags.contains(.unobserved) { object.observedEverythingDidChange() }
        object.flags.subtract([.listed, .inEvent, .updated, .deleted])
        // A fault can no longer be read: it reads as empty.
        object.flags.insert([.gone, .realized])
        // Without a registry an object does not know its store any more.
        _ = object.objectID
        detach(object)
    }

    /// Takes objects that were dropped out of the lists of what has changed: of all at once, as there may be many.
    final func forgetDropped() {
        changed.removeAll { !$0.flags.contains(.listed) }
        eventSets = nil
        event.removeAll { !$0.flags.contains(.inEvent) }
    }

    /// Takes an object out of the context. What it refers to goes, since objects that refer to each other and belong to
    /// no context would never be freed.
    final func detach(_ object: NSManagedObject) {
        registry.forget(object)
        object.registry = nil
        object.overlay?.clearReferences(object.facts)
        object.toMany = []
    }
}
