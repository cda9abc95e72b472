import Foundation
import StrataLog

extension NSManagedObjectContext {
    /// The results of a request whose way through an index is known, if that is all there is to it: one store in its
    /// newest state, and nothing unsaved to be laid over it. Nil for others.
    ///
    /// - Parameter report: is told how the rows were found; nil where nobody asks.
    final func indexedResults(
        _ plan: FetchPlan, _ control: RequestControl?, _ report: ScanReport? = nil
    ) throws -> FetchResults? {
        guard link == nil, plan.prepared.isIndexedPage, CompiledExecution.isEnabled,
            case .automatic = IndexUse.current, let page = coordinator?.plans.page(of: plan)
        else { return nil }
        guard generation == nil, pipeline.changed.isEmpty, let handle = coordinator?.onlyHandle else { return nil }
        try handle.catchUp()
        guard let refs = page.refs(handle.log.snapshot, offset: plan.offset, limit: plan.limit, control) else {
            try control?.check()
            return nil
        }
        report?.record(index: page.name, estimated: refs.count)
        return try results(refs, plan, handle, handle.log.snapshot, control)
    }
}
