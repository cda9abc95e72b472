// Objects that leave a context.
extension NSManagedObjectContext {
    /// The object's row turned out to have been deleted elsewhere when it was to be written: the object leaves the
    /// context. ``SavePipeline/forgetDropped()`` has to follow.
    final func drop(_ object: NSManagedObject) {
        disconnect(object)
        object.flags.subtract([.listed, .inEvent, .updated, .deleted])
        object.flags.insert([.gone, .realized])
        // Without a registry an object does not know its store any more.
        _ = object.objectID
        detach(object)
    }

    /// Nothing in the context refers to the object any more.
    final func disconnect(_ object: NSManagedObject) {
        if !object.flags.contains(.unobserved) { object.observedEverythingWillChange() }
        ObjectMerge(object).cutReferences()
        pipeline.refreshed.remove(object)
        undoRecorder?.forgetEvent(of: object)
        earlierValues.forget(object)
        for relationship in object.shape.relationships {
            guard let inverse = relationship.inverse, inverse.isToMany, !relationship.isToMany,
                let overlay = object.overlay, overlay.isPresent(relationship.slot), !overlay.isNull(relationship.slot)
            else { continue }
            overlay.object(at: object.shape.slots[relationship.slot].offset).existingState(inverse)?.unload()
        }
        if !object.flags.contains(.unobserved) { object.observedEverythingDidChange() }
    }

    /// Takes an object out of the context. What it refers to goes, since objects that refer to each other and belong to
    /// no context would never be freed.
    final func detach(_ object: NSManagedObject) {
        registry.forget(object)
        object.registry = nil
        // A key counts in one store only, and another context may take the object in.
        if object.storeIndex == 0 { object.standing = .none }
        object.overlay?.clearReferences(object.summary)
        object.toMany = []
    }
}
