import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// The plan of a request, kept from the last time it was made if the request is plain.
    ///
    /// - Throws: as for ``FetchPlan``.
    final func keptPlan<T>(of request: NSFetchRequest<T>) throws -> KeptPlan {
        guard let coordinator, let key = request.key else { return KeptPlan(try FetchPlan(request, in: self)) }
        if let kept = coordinator.plans[key] { return kept }
        let kept = KeptPlan(try FetchPlan(request, in: self))
        if !kept.plan.needsObjects { coordinator.plans.add(kept, key) }
        return kept
    }

    /// The results of a request whose way through an index is known, if that is all there is to it: one store in its
    /// newest state, and nothing unsaved to be laid over it. Nil for others.
    final func indexedResults(_ kept: KeptPlan) throws -> FetchResults? {
        guard let page = kept.indexedPage, link == nil, generation == nil, changed.isEmpty,
            CompiledExecution.isEnabled, case .automatic = IndexUse.current, !kept.plan.refreshes,
            let handle = coordinator?.onlyHandle
        else { return nil }
        if kept.plan.includesPendingChanges {
            processPendingChanges()
            // Whoever hears of the changes may have made others.
            guard changed.isEmpty else { return nil }
        }
        try handle.catchUp()
        let (end, isUnlimited) = kept.plan.limit.addingReportingOverflow(kept.plan.offset)
        guard var refs = page.refs(handle.log.snapshot, limit: isUnlimited ? .max : end) else { return nil }
        if kept.plan.offset > 0 { refs = Array(refs.dropFirst(kept.plan.offset)) }
        if kept.plan.resultType == .managedObjectIDResultType {
            guard refs.count <= IDCache.resultsMaximum else { return nil }
            return idCache.ids(refs, handle).map { .objectIDs($0) }
        }
        faultStatistics.beginFetch()
        let storeIndex = registry.storeIndex(of: handle)
        let objects = objects(refs, storeIndex, handle)
        if kept.plan.includesValues {
            fetchBatch = FaultBatch(refs, storeIndex, size: kept.plan.batchSize)
        }
        if !kept.plan.returnsFaults { try realizeAll(objects) }
        return .objects(objects)
    }

    /// Fires the faults among some objects.
    ///
    /// - Throws: why the first one cannot be read that cannot.
    final func realizeAll(_ objects: [NSManagedObject]) throws {
        for object in objects where object.isFault {
            object.realize()
            if !readErrors.isEmpty, let error = readErrors[object.objectID] { throw error }
        }
    }
}
