import Foundation
import StrataLog

// The least or the greatest value of all rows is the first in an order, which an index may have: then one row is read.
extension FetchExecutor {
    /// Gives a fetch of nothing but extremes the rows that have them.
    ///
    /// - Returns: False where each row has to be looked at.
    func addExtremes(to fetch: inout DictionaryFetch, of store: SeenStore) throws -> Bool {
        let orders = plan.prepared.extremes
        guard CompiledExecution.isEnabled, !plan.needsObjects, !orders.isEmpty else { return false }
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

    /// The first row in an order; nil if there is none, or if columns are added up in less time than it takes to find.
    private func first(of order: PreparedFetch, in store: SeenStore) throws -> ObjectRef? {
        let plan = FetchPlan(order, isBounded: plan.isBounded)
        if self.plan.dictionaries?.columns.allSatisfy(\.isAggregate) == false, let sorts = order.computedSorts {
            // Only the row itself tells what its other columns are.
            let executor = FetchExecutor(context, plan, turn: turn, report: report)
            return try executor.sortedMatches(store, sorts, offset: 0, limit: 1, withKeys: false)?.matches.first?.ref
        }
        guard let sorts = order.columnSorts else { return nil }
        let scan = StoreScan(plan, store, needsRow: false, context: context, report: report, turn: turn)
        return try scan.firstByIndex(sorts, offset: 0, limit: 1) { _ in }?.refs.first
    }
}

extension PreparedFetch {
    /// For each extreme that dictionaries want of all rows the fetch of the row that has it; none if they want anything
    /// else of several rows.
    static func extremes(
        _ dictionaries: DictionaryPlan, of shape: EntityShape, _ settings: FetchSettings, _ predicate: NSPredicate?,
        in context: NSManagedObjectContext
    ) throws -> [PreparedFetch] {
        guard dictionaries.groups.isEmpty,
            dictionaries.aggregates.count == 1 || dictionaries.columns.allSatisfy(\.isAggregate)
        else { return [] }
        var orders: [PreparedFetch] = []
        for aggregate in dictionaries.aggregates {
            guard aggregate.function == .min || aggregate.function == .max,
                case .keyPath(nil, let path) = aggregate.argument.form, !path.text.contains("@")
            else { return [] }
            var order = FetchSettings()
            order.entityName = shape.name
            order.includesSubentities = settings.includesSubentities
            order.affectedStores = settings.affectedStores
            order.includesPendingChanges = false
            order.resultType = .managedObjectIDResultType
            order.fetchLimit = 1
            let isThere = NSPredicate(format: "%K != nil", path.text)
            order.predicate =
                predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, isThere]) } ?? isThere
            order.sortDescriptors = [NSSortDescriptor(key: path.text, ascending: aggregate.function == .min)]
            orders.append(try PreparedFetch(order, resultClass: NSManagedObjectID.self, in: context))
        }
        return orders
    }
}
