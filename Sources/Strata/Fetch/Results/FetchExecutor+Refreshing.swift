import StrataLog

// Results that were in memory before they were fetched.
extension FetchExecutor {
    /// Brings results that are out of date up to date. Nobody is told of the others.
    func refresh(_ objects: [NSManagedObject]) {
        for object in objects where !object.isFault && object.storeIndex != 0 && !object.isInserted {
            if !isCurrent(object) { context.refresh(object, mergeChanges: true) }
        }
    }

    /// Whether an object has what the store has, apart from its own changes.
    private func isCurrent(_ object: NSManagedObject) -> Bool {
        // A parent's objects are not those of the store, and a custom store wants to be asked.
        guard context.link == nil, let handle = context.registry.handle(object.storeIndex), handle.custom == nil,
            let snapshot = context.snapshot(of: handle)
        else { return false }
        do {
            // Compaction moves rows without changing them.
            if try snapshot.locate(object.ref) != object.version.location,
                try snapshot.row(object.ref)?.version.sequence != object.version.sequence
            {
                return false
            }
            if object.toMany.isEmpty { return true }
            if object.toMany.dropFirst(object.shape.relationships.count).contains(where: { $0 != nil }) { return false }
            let reader = RelationshipReader(handle: handle, snapshot: snapshot)
            return try object.shape.relationships.allSatisfy { relationship in
                guard let state = object.existingState(relationship), state.isLoaded else { return true }
                return try isCurrent(state, relationship, reader.members(relationship, of: object.ref).map(\.ref))
            }
        } catch {
            // Reading the object says what is wrong.
            return false
        }
    }

    /// - Parameter stored: the members that the store has, in order if they have one.
    private func isCurrent(_ state: ToManyState, _ relationship: RelationshipShape, _ stored: [ObjectRef]) -> Bool {
        if relationship.isOrdered, !state.isChanged { return state.order.map(\.ref) == stored }
        let unchanged = state.members.filter { !state.added.contains($0) }
        var known = Set(unchanged.map(\.ref))
        for object in state.removed.objects { known.insert(object.ref) }
        return known == Set(stored)
    }
}
