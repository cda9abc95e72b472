import Foundation
import StrataLog

// The least or the greatest value of all rows is the first in an order, which an index may have: then one row is read.
extension FetchExecutor {
    /// Gives a fetch of nothing but extremes the rows that have them.
    ///
    /// - Returns: False where each row has to be looked at.
    func addExtremes(to fetch: inout DictionaryFetch, of store: SeenStore) throws -> Bool {
        let orders = plan.prepared.extremes
        guard CompiledExecution.isEnabled, !plan.needsObjects, !orders.isEmpty, keySorts.count == plan.sorts.count
        else { return false }
        let scope = RowScope(store.handle, store.snapshot, control)
        do {
            let isFound = try fetch.addExtremes { index in
                guard let ref = try first(of: orders[index], in: store), let row = try scope.rows.row(ref),
                    let shape = scope.handle.map.shape(row.ref.entity)
                else { return nil }
                return RowSource(scope, shape, row.block, row.index)
            }
            try scope.check()
            if !isFound { report.forget() }
            return isFound
        } catch let error as StoreError {
            throw scope.failure(error)
        }
    }

    /// The first row in an order; nil if there is none, or if no index leads to it at once.
    private func first(of order: PreparedFetch, in store: SeenStore) throws -> ObjectRef? {
        let plan = FetchPlan(order, isBounded: plan.isBounded)
        if self.plan.dictionaries?.showsRows == true, let sorts = order.computedSorts {
            let executor = FetchExecutor(context, plan, turn: turn, report: report)
            return try executor.sortedMatches(store, sorts, offset: 0, limit: 1, withKeys: false)?.matches.first?.ref
        }
        guard let sorts = order.columnSorts else { return nil }
        let scan = FetchExecutor(context, plan, turn: turn, report: report).storeScan(store, needsRow: false)
        return try scan.firstByIndex(sorts, offset: 0, limit: 1, mayTestRows: false) { _ in }?.refs.first
    }
}
