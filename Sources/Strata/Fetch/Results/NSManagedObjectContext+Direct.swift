import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// The results of a request whose plan says where its constants are looked up; nil when the long way has to find
    /// them: of a child context, of several stores, of stores of the program's own, and when too many rows have the
    /// constants.
    ///
    /// - Parameter report: is told how the rows were found; nil where nobody asks.
    /// - Throws: as `fetch(_:)`.
    final func directResults(
        _ plan: FetchPlan, _ control: RequestControl?, _ report: ScanReport? = nil
    ) throws -> FetchResults? {
        guard plan.prepared.isDirect, !plan.resultType.contains(.countResultType), isReadDirectly else { return nil }
        guard let store = try directStore(plan) else { return nil }
        let (end, isUnlimited) = plan.limit.addingReportingOverflow(plan.offset)
        if plan.includesPendingChanges, !pipeline.changed.isEmpty {
            try refuseUnread(plan, needsObjects: false)
            let overlay = PendingOverlay(self, plan, [store.handle])
            if !overlay.isEmpty {
                let (limit, isTooMany) = end.addingReportingOverflow(overlay.stored.count)
                let wanted = isUnlimited || isTooMany ? Int.max : limit
                guard let refs = try directRefs(plan, store, limit: wanted, isSorted: true, control, report) else {
                    return nil
                }
                return try overlaidResults(refs, plan, store, control)
            }
        }
        guard var refs = try directRefs(plan, store, limit: isUnlimited ? .max : end, isSorted: true, control, report)
        else { return nil }
        if plan.offset > 0 { refs = Array(refs.dropFirst(plan.offset)) }
        return try throwingReadFailures { try results(refs, plan, store.handle, store.snapshot, control) }
    }

    /// How many objects such a request describes, when no row has unsaved changes; nil when the long way has to count.
    final func directCount(_ plan: FetchPlan, _ control: RequestControl?, _ report: ScanReport) throws -> Int? {
        guard plan.prepared.isDirect, isReadDirectly, pipeline.changed.isEmpty || !plan.includesPendingChanges,
            let store = try directStore(plan), store.handle.log.damage.isEmpty,
            let refs = try directRefs(plan, store, limit: .max, isSorted: false, control, report)
        else { return nil }
        return min(max(0, refs.count - plan.offset), plan.limit)
    }

    private final var isReadDirectly: Bool {
        guard link == nil, CompiledExecution.isEnabled, case .automatic = IndexUse.current else { return false }
        return true
    }

    private typealias DirectStore = (handle: StoreHandle, snapshot: Snapshot, path: DirectPath)

    /// The only store, as the context sees it, and the plan's way in it.
    private final func directStore(_ plan: FetchPlan) throws -> DirectStore? {
        guard let handle = coordinator?.onlyHandle, handle.custom == nil else { return nil }
        // A pinned context does not look at what others have committed since.
        if generation == nil { try handle.catchUp() }
        guard let snapshot = snapshot(of: handle), let path = plan.prepared.directPath(handle, snapshot),
            path.isWorthTrying
        else { return nil }
        return (handle, snapshot, path)
    }

    private final func directRefs(
        _ plan: FetchPlan, _ store: DirectStore, limit: Int, isSorted: Bool, _ control: RequestControl?,
        _ report: ScanReport?
    ) throws -> [ObjectRef]? {
        guard let direct = plan.prepared.direct else { return nil }
        do throws(StoreError) {
            if let refs = try DirectSearch.rows(
                plan, direct, store.path, store.handle, store.snapshot, limit: limit, isSorted: isSorted, control,
                report)
            {
                report?.isDirect = true
                return refs
            }
        } catch {
            // What cannot be read meets the long way, too, which has a damaged index built anew.
            try control?.check()
        }
        report?.forget()
        return nil
    }

    private final func overlaidResults(
        _ refs: [ObjectRef], _ plan: FetchPlan, _ store: DirectStore, _ control: RequestControl?
    ) throws -> FetchResults {
        let executor = FetchExecutor(self, plan, turn: ScanTurn(control, nil))
        let seen = SeenStore(store.handle, index: registry.storeIndex(of: store.handle), store.snapshot)
        return try throwingReadFailures {
            let scope = RowScope(store.handle, store.snapshot, control)
            return try executor.working {
                try executor.results(
                    of: executor.matches(refs, seen, scope, withKeys: !plan.sorts.isEmpty, isSorted: false))
            }
        }
    }
}
