import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// The plan of a request, kept from the last time it was made if the request is plain.
    ///
    /// - Throws: as for ``FetchPlan``.
    final func keptPlan<T>(of request: NSFetchRequest<T>) throws -> KeptPlan {
        guard let coordinator, let key = request.key else { return KeptPlan(try FetchPlan(request, in: self)) }
        if let kept = coordinator.plans[key] {
            request.isExecuted(with: coordinator.shapes)
            return kept
        }
        let kept = KeptPlan(try FetchPlan(request, in: self))
        if !kept.plan.needsObjects { coordinator.plans.add(kept, key) }
        return kept
    }

    /// The results of a request whose way through an index is known, if that is all there is to it: one store in its
    /// newest state, and nothing unsaved to be laid over it. Nil for others.
    final func indexedResults(_ kept: KeptPlan, _ control: RequestControl?) throws -> FetchResults? {
        guard let page = kept.indexedPage, link == nil, CompiledExecution.isEnabled,
            case .automatic = IndexUse.current, !kept.plan.refreshes
        else { return nil }
        // Whoever hears of the changes may make others, pin the context or remove the store.
        if kept.plan.includesPendingChanges { processPendingChanges() }
        guard generation == nil, changed.isEmpty, let handle = coordinator?.onlyHandle else { return nil }
        try handle.catchUp()
        let (end, isUnlimited) = kept.plan.limit.addingReportingOverflow(kept.plan.offset)
        guard var refs = page.refs(handle.log.snapshot, limit: isUnlimited ? .max : end, control) else {
            try control?.check()
            return nil
        }
        if kept.plan.offset > 0 { refs = Array(refs.dropFirst(kept.plan.offset)) }
        try handle.checkDamage(of: refs, in: handle.log.snapshot)
        if kept.plan.resultType == .managedObjectIDResultType {
            let ids = refs.count <= IDCache.resultsMaximum ? idCache.ids(refs, handle) : newIDs(refs, handle)
            return ids.map { .objectIDs($0) }
        }
        faultStatistics.beginFetch()
        let storeIndex = registry.storeIndex(of: handle)
        let objects = try objects(refs, storeIndex, handle, control)
        if kept.plan.includesValues {
            fetchBatch = FaultBatch(refs, storeIndex, size: kept.plan.batchSize)
        }
        if !kept.plan.returnsFaults { try realizeAll(objects, control) }
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
        for object in objects where object.isFault {
            try pace.step()
            try realizeOrThrow(object)
        }
    }
}
