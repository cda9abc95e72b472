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
        let scan = StoreScan(plan, store, needsRow: false, context: context, report: report, turn: turn)
        return try scan.firstByIndex(sorts, offset: 0, limit: 1, mayTestRows: false) { _ in }?.refs.first
    }
}

extension DictionaryPlan {
    /// Whether some columns are those of a row, not of several.
    fileprivate var showsRows: Bool { !columns.allSatisfy(\.isAggregate) }
}

extension PreparedFetch {
    /// For each extreme that dictionaries want of all rows the fetch of the row that has it; none if they want anything
    /// else of several rows.
    ///
    /// With a predicate columns are as quick as an index that would have to be looked through for a row that satisfies
    /// it; but other columns of the row that has an extreme are known only once that row is.
    static func extremes(
        _ dictionaries: DictionaryPlan, of shape: EntityShape, _ settings: FetchSettings, _ predicate: NSPredicate?,
        in context: NSManagedObjectContext
    ) -> [PreparedFetch] {
        let showsRow = dictionaries.showsRows
        guard dictionaries.groups.isEmpty, showsRow ? dictionaries.aggregates.count == 1 : predicate == nil else {
            return []
        }
        var extremes: [(key: String, isLeast: Bool)] = []
        for aggregate in dictionaries.aggregates {
            guard aggregate.function == .min || aggregate.function == .max,
                case .keyPath(nil, let path) = aggregate.argument.form, !path.text.contains("@")
            else { return [] }
            extremes.append((path.text, aggregate.function == .min))
        }
        let orders = extremes.compactMap { key, isLeast in
            var order = FetchSettings()
            order.entityName = shape.name
            order.includesSubentities = settings.includesSubentities
            order.affectedStores = settings.affectedStores
            order.includesPendingChanges = false
            order.resultType = .managedObjectIDResultType
            order.fetchLimit = 1
            order.sortDescriptors = [NSSortDescriptor(key: key, ascending: isLeast)]
            // Null comes first, so that the greatest value is null only if all are.
            let isThere = isLeast || showsRow ? [NSPredicate(format: "%K != nil", key)] : []
            let conditions = (predicate.map { [$0] } ?? []) + isThere
            if !conditions.isEmpty { order.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions) }
            // A predicate that is as deep as one may be has no room for another condition: each row is looked at then.
            return try? PreparedFetch(order, resultClass: NSManagedObjectID.self, in: context)
        }
        return orders.count == extremes.count ? orders : []
    }
}
