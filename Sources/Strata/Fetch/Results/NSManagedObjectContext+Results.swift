import StrataLog

extension NSManagedObjectContext {
    /// What a plan makes of stored rows of one store, which are in its order and all that it wants; nil if one is of an
    /// entity that the store does not have.
    final func results(
        _ refs: [ObjectRef], _ plan: FetchPlan, _ handle: StoreHandle, _ snapshot: Snapshot, _ control: RequestControl?
    ) throws -> FetchResults? {
        try handle.checkDamage(of: refs, in: snapshot)
        if plan.resultType == .managedObjectIDResultType {
            let ids = refs.count <= IDCache.resultsMaximum ? idCache.ids(refs, handle) : newIDs(refs, handle)
            return ids.map { .objectIDs($0) }
        }
        faults.beginFetch()
        let storeIndex = registry.storeIndex(of: handle)
        let objects = try objects(refs, storeIndex, handle, control)
        if plan.includesValues {
            faults.expect(results: FaultBatch(refs, storeIndex, size: plan.batchSize))
        }
        if !plan.returnsFaults { try realizeAll(objects, control) }
        for path in plan.prefetchedPaths { try Prefetch(self, control).run(path, objects) }
        return .objects(objects)
    }

    /// The objects of rows of one store, made some at a time.
    final func objects(
        _ refs: [ObjectRef], _ storeIndex: UInt16, _ handle: StoreHandle, _ control: RequestControl?
    ) throws -> [NSManagedObject] {
        guard let control, refs.count > Self.objectsPerCheck else { return objects(refs, storeIndex, handle) }
        var made: [NSManagedObject] = []
        made.reserveCapacity(refs.count)
        for start in stride(from: 0, to: refs.count, by: Self.objectsPerCheck) {
            try control.check()
            made += objects(Array(refs[start..<min(start + Self.objectsPerCheck, refs.count)]), storeIndex, handle)
        }
        return made
    }

    private static let objectsPerCheck = 8_192

    /// IDs of objects of one store; nil if one is of an entity that the store does not have.
    private func newIDs(_ refs: [ObjectRef], _ handle: StoreHandle) -> [NSManagedObjectID]? {
        var ids: [NSManagedObjectID] = []
        ids.reserveCapacity(refs.count)
        let identity = handle.identity
        for ref in refs {
            guard let shape = handle.map.shape(ref.entity) else { return nil }
            ids.append(NSManagedObjectID(ref: ref, identity: identity, shape: shape))
        }
        return ids
    }

    /// Fires the faults among some objects.
    ///
    /// - Throws: why the first one cannot be read that cannot.
    final func realizeAll(_ objects: [NSManagedObject], _ control: RequestControl? = nil) throws {
        var pace = ControlPace(control, every: 256)
        for object in objects where object.isUnread {
            try pace.step()
            try realizeOrThrow(object)
        }
    }
}
