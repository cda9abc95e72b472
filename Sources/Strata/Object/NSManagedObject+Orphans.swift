import StrataLog
import StrataRuntime

// Objects whose context has gone, and what they still read. On Apple's platforms a context that nobody holds lives
// until the autorelease pool ends: `try container.newBackgroundContext().fetch(request).map(\.name)` reads its results
// there. Here it goes at once, so its objects read their rows without it.
//
// What is read is what the store has at that moment. Nothing is kept that could form circles of objects, which no
// context would break.
extension NSManagedObject {
    /// The registry, if the object's context has gone without having been told to forget the object.
    @inline(never)
    private final var orphanedRegistry: ObjectRegistry? {
        guard let registry, registry.context == nil, !flags.contains(.gone) else { return nil }
        return registry
    }

    /// The open store of an object whose context has gone; nil when its rows can only be read through a context.
    private final var orphanStore: StoreHandle? {
        guard let handle = orphanedRegistry?.handle(storeIndex), !handle.isDetached, handle.custom == nil else {
            return nil
        }
        return handle
    }

    /// Fires the fault. Without a row, and when it cannot be read, the object has no values: the log says of a damaged
    /// row that it is one.
    final func realizeWithoutContext() {
        flags.insert(.realized)
        if storeIndex == 0 { flags.insert(.defaultsBelow) }
        guard let handle = orphanStore else { return }
        do {
            try handle.catchUp()
            let shown = handle.log.snapshot
            let location = try shown.locate(ref)
            if location.isAbsent { return }
            let block = try shown.block(at: location)
            try block.verify()
            attach(block, row: location.row, location: location)
        } catch {
            flags.insert(.unreadable)
            return
        }
        if overrides.contains(.awakeFromFetch) { withoutChangeTracking { awakeFromFetch() } }
    }

    /// What a to-one relationship refers to.
    final func orphanTarget(_ target: ObjectRef) -> NSManagedObject? {
        guard orphanStore != nil, let registry = orphanedRegistry else { return nil }
        return registry.object(target, storeIndex) ?? registry.newFault(target, storeIndex)
    }

    /// The members of a to-many relationship, for whoever asks at this moment; nil when the context has not gone.
    final func orphanState(_ relationship: RelationshipShape) -> ToManyState? {
        guard let handle = orphanStore, let registry = orphanedRegistry else { return nil }
        let reader = RelationshipReader(handle: handle, snapshot: handle.log.snapshot)
        guard let entries = try? reader.members(relationship, of: ref) else { return nil }
        let state = ToManyState()
        state.isLoaded = true
        for object in registry.objects(entries.map(\.ref), storeIndex, handle: handle)
        where state.members.insert(object).inserted && relationship.isOrdered {
            state.order.append(object)
        }
        return state
    }
}
