import Foundation
import StrataLog

// Sorting by columns: no value is boxed, and only as many rows are kept as are wanted.
extension FetchExecutor {
    /// What is found, in order, when the predicate is compiled and the order is that of values that are computed a
    /// column at a time.
    ///
    /// With unsaved changes to be laid over the rows, which have to be sorted among them, as many more rows are found
    /// as may be replaced, with their sort keys; then a limit is needed.
    ///
    /// - Parameter overlay: the changes.
    /// - Returns: Nil when it takes the interpreter.
    func sortedSearch(_ stores: [SeenStore], _ overlay: PendingOverlay) throws -> StoredMatches? {
        guard stores.count == 1, plan.dictionaries == nil, context.link == nil, let sorts = sortsOfColumns else {
            return nil
        }
        let (end, isUnlimited) = plan.limit.addingReportingOverflow(plan.offset)
        if isUnlimited, !overlay.isEmpty { return nil }
        let (limit, isTooMany) = end.addingReportingOverflow(overlay.stored.count)
        // Changes may come before what the offset ends at.
        let offset = overlay.isEmpty ? plan.offset : 0
        try turn?.begin()
        defer { turn?.leave() }
        return try sortedMatches(
            stores[0], sorts, offset: offset, limit: isUnlimited || isTooMany ? Int.max : limit,
            withKeys: !overlay.isEmpty)
    }

    /// The order of the request, when it is one of values that are computed a column at a time, and there is one.
    var sortsOfColumns: [ComputedSort]? {
        guard CompiledExecution.isEnabled, !plan.sorts.isEmpty, keySorts.count == plan.sorts.count, !plan.needsObjects
        else { return nil }
        return plan.prepared.computedSorts
    }

    /// The first rows of a store in an order, once it is the request's turn.
    ///
    /// - Parameters:
    ///   - offset: so many of them nobody wants.
    ///   - limit: how many are wanted, those of the offset included.
    ///   - withKeys: whether each comes with what it is sorted by; then they come in the order of their creation.
    /// - Returns: Nil when it takes the interpreter.
    func sortedMatches(
        _ store: SeenStore, _ sorts: [ComputedSort], offset: Int, limit: Int, withKeys: Bool
    ) throws -> StoredMatches? {
        let scan = storeScan(store, needsRow: false)
        if let refs = try scan.firstDirectly(limit: limit) {
            return try matches(refs, store, scan.scope, withKeys: withKeys)
        }
        if let sorts = plan.prepared.columnSorts {
            let found = try scan.firstByIndex(sorts, offset: offset, limit: limit - offset) {
                if plan.prepared.isIndexedPage { context.coordinator?.plans.record($0, for: plan, in: store.snapshot) }
            }
            if let found {
                var stored = try matches(found.refs, store, scan.scope, withKeys: withKeys)
                stored.skipped = found.skipped
                return stored
            }
        }
        guard
            let columns = try scan.firstByPrefix(sorts, limit: limit) ?? scan.firstByTargets(sorts, limit: limit)
                ?? scan.columnScan(reading: sorts.map(\.expression))
        else { return nil }
        // Who wants all rows has each part sorted where it is read; to select them would leave that to one processor.
        let limit = limit < scan.entities.rowCount(in: store.snapshot) ? limit : Int.max
        var rows = SortedRows(sorts, limit: limit, control)
        do {
            var bound: UInt64?
            let control = control
            try scan.run(columns, .steady) { rowGroup in
                var part = SortedRows(sorts, limit: limit, control)
                let count = rowGroup.count
                try part.add(rowGroup, bound: bound)
                return (part, count)
            } take: { (part: (rows: SortedRows, count: Int)) in
                try rows.merge(part.rows)
                report.statistics.rowsMatched += part.count
                bound = rows.bound
                return true
            }
        } catch is NotCompiled {
            report.statistics = ScanStatistics()
            return nil
        }
        report.sortsColumns = true
        var stored = try matches(&rows, offset: offset, store, scan.scope, withKeys: withKeys)
        stored.skipped = offset
        return stored
    }

    private func matches(
        _ rows: inout SortedRows, offset: Int, _ store: SeenStore, _ scope: RowScope, withKeys: Bool
    ) throws -> StoredMatches {
        var found = StoredMatches()
        let entries = try rows.finish(offset: offset)
        found.isSorted = !withKeys
        var pace = ControlPace(control, every: 256)
        let keySorts = keySorts
        found.matches = try entries.map { entry in
            try pace.step()
            var match = FetchMatch(ref: entry.ref, storeIndex: store.index)
            if withKeys, let shape = scope.handle.map.shape(entry.ref.entity) {
                let row = try row(entry, rows.parts[Int(entry.part)], scope)
                match.keys = SortKeys(RowSource(scope, shape, row.block, row.index), keySorts)
            }
            return match
        }
        try scope.check()
        // Changes are laid over rows in the order of their creation.
        if withKeys { found.matches.sort { $0.ref.key < $1.ref.key } }
        return found
    }

    private func row(_ entry: SortedRows.Entry, _ part: ScanPart, _ scope: RowScope) throws -> Row {
        do {
            switch part {
            case .block(let block): return Row(block: block, index: Int(entry.row))
            case .rowGroup(let columns): return try scope.rows.row(at: columns.rowGroup.location(Int(entry.row)))
            case .computed: preconditionFailure("computed columns are no rows")
            }
        } catch {
            throw StoreFailure.cocoaError(error, reading: scope.handle)
        }
    }
}
