import StrataLog

// Results that were in memory before they were fetched.
extension FetchExecutor {
    /// Brings results that are out of date up to date. Nobody is told of the others.
    func refresh(_ objects: [NSManagedObject]) {
        for object in objects where object.storeIndex != 0 && !object.isInserted {
            // The members of a fault's relationships may be in memory, too.
            if object.isUnread && object.toMany.isEmpty || isCurrent(object) { continue }
            context.refresh(object, mergeChanges: true)
        }
    }

    /// Whether an object has what the store or the parent has, apart from its own changes. An error does not matter
    /// here: reading the object says what is wrong.
    private func isCurrent(_ object: NSManagedObject) -> Bool {
        // What fetched properties have found is fetched anew.
        if object.toMany.dropFirst(object.shape.relationships.count).contains(where: { $0 != nil }) { return false }
        if let link = context.link { return (try? isCurrent(object, in: link)) ?? false }
        // A custom store wants to be asked.
        guard let handle = context.registry.handle(object.storeIndex), handle.custom == nil,
            let snapshot = context.snapshot(of: handle)
        else { return false }
        return (try? isCurrent(object, in: snapshot, handle)) ?? false
    }

    private func isCurrent(_ object: NSManagedObject, in snapshot: Snapshot, _ handle: StoreHandle) throws -> Bool {
        // Compaction moves rows without changing them.
        if !object.isUnread, try snapshot.locate(object.ref) != object.version.location,
            try snapshot.row(object.ref)?.version.sequence != object.version.sequence
        {
            return false
        }
        let reader = RelationshipReader(handle: handle, snapshot: snapshot)
        return try loadedRelationships(of: object).allSatisfy { relationship, state in
            isCurrent(state, relationship, try reader.members(relationship, of: object.ref).map(\.ref), \.ref)
        }
    }

    /// The parent's unsaved changes have no version: only the very row that was read is surely the newest.
    private func isCurrent(_ object: NSManagedObject, in link: ParentLink) throws -> Bool {
        if !object.isUnread {
            let shared = context.sharedRef(of: object)
            guard let row = try context.withParent(link, { try $0.rowForChild(shared)?.row }),
                row.block === object.block, row.index == Int(object.row)
            else { return false }
        }
        return try loadedRelationships(of: object).allSatisfy { relationship, state in
            let members = try context.membersFromParent(relationship, of: object, link)
            return isCurrent(state, relationship, members.map { ObjectIdentifier($0) }) { ObjectIdentifier($0) }
        }
    }

    private func loadedRelationships(of object: NSManagedObject) -> [(RelationshipShape, ToManyState)] {
        if object.toMany.isEmpty { return [] }
        return object.shape.relationships.compactMap { relationship in
            guard let state = object.existingState(relationship), state.isLoaded else { return nil }
            return (relationship, state)
        }
    }

    /// - Parameters:
    ///   - stored: the members without the context's changes, in order if they have one.
    ///   - name: what they are named by.
    private func isCurrent<Name: Hashable>(
        _ state: ToManyState, _ relationship: RelationshipShape, _ stored: [Name], _ name: (NSManagedObject) -> Name
    ) -> Bool {
        if relationship.isOrdered, !state.isChanged { return state.order.map(name) == stored }
        var known = Set(state.members.lazy.filter { !state.added.contains($0) }.map(name))
        known.formUnion(state.removed.objects.map(name))
        return known == Set(stored)
    }
}
