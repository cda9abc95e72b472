import Foundation
import StrataLog

extension StoreScan {
    private func planner(_ compiled: CompiledPredicate) -> IndexPlanner {
        IndexPlanner(
            scope.handle, scope.snapshot, { plan.predicate }, compiled, root: search.root, entities: search.numbers)
    }

    /// Hands on the index to be used, if there is one: ``IndexPlanner/usingIndex(_:order:_:)``.
    func usingIndex<Result>(
        _ compiled: CompiledPredicate, _ wanted: IndexWish, order: IndexOrder? = nil,
        _ body: (IndexChoice) throws(StoreError) -> Result?
    ) throws(StoreError) -> Result? {
        guard !scope.snapshot.orderedIndexes.isEmpty else { return nil }
        return try planner(compiled).usingIndex(wanted, order: order, body)
    }

    /// The predicate compiled, when objects are not needed and it names none.
    ///
    /// - Parameter limit: how many of the first rows in the index's order are wanted.
    func compiledForIndex(limit: Int = .max) throws -> CompiledPredicate? {
        guard search.root != 0, scope.snapshot.orderedIndexes.contains(where: { $0.definition.root == search.root }),
            objects == nil, CompiledExecution.isEnabled, !plan.mayNameObjects,
            let prepared = try self.prepared()
        else { return nil }
        guard let candidates = prepared.candidates else { return prepared.predicate }
        // The rows are known. In the order of an index only a few of the others come before enough of them have come.
        guard let whole = prepared.whole, limit < search.rowCount,
            Double(limit) * Double(search.rowCount) < Double(candidates.count) * Double(candidates.count)
        else { return nil }
        return whole
    }

    /// How many rows satisfy the predicate, when an index knows without looking at one.
    func indexCount() throws -> Int? {
        do {
            guard plan.hasPredicate, let compiled = try compiledForIndex() else { return nil }
            return try usingIndex(compiled, .count) { choice throws(StoreError) in
                guard choice.isCounted else { return nil }
                report.record(choice)
                report.statistics.rowsMatched += choice.estimated
                return choice.estimated
            }
        } catch let error as StoreError {
            throw scope.failure(error)
        }
    }

    /// The first matches in the order of some columns, when an index has that order; nil when none has, or sorting is
    /// likely to be quicker.
    ///
    /// - Parameters:
    ///   - offset: so many of them nobody wants. They are left out where that spares reading them.
    ///   - limit: how many are wanted behind those.
    ///   - mayTestRows: whether an index may be used whose rows have to be tested.
    ///   - chosen: is told which index has been read.
    /// - Returns: also how many have been left out.
    package func firstByIndex(
        _ sorts: [ColumnSort], offset: Int, limit: Int, mayTestRows: Bool = true, _ chosen: (IndexChoice) -> Void
    ) throws -> (refs: [ObjectRef], skipped: Int)? {
        let (sum, isUnlimited) = limit.addingReportingOverflow(offset)
        let end = isUnlimited ? Int.max : sum
        let wanted = IndexWish.page(offset: offset, limit: limit)
        do {
            guard let compiled = try compiledForIndex(limit: end), compiled.rest == nil else { return nil }
            return try usingIndex(compiled, wanted, order: IndexOrder(sorts: sorts)) { choice throws(StoreError) in
                guard mayTestRows || choice.isCounted else { return nil }
                var refs: [ObjectRef] = []
                let skipped = choice.isCounted ? offset : 0
                report.statistics.add(try matches(of: choice, skipping: skipped, limit: end - skipped, &refs))
                report.record(choice)
                chosen(choice)
                report.statistics.rowsMatched += refs.count
                return (refs, skipped)
            }
        } catch let error as StoreError {
            throw scope.failure(error)
        }
    }

    /// Adds the matches among the rows of an index, in its order, until there are enough.
    ///
    /// - Parameter skipped: see ``IndexChoice/forEach(of:skipping:_:_:)``.
    /// - Returns: what was looked at besides the index.
    func matches(
        of choice: IndexChoice, skipping skipped: Int = 0, limit: Int, _ refs: inout [ObjectRef]
    ) throws(StoreError) -> ScanStatistics {
        refs.reserveCapacity(min(limit, choice.estimated))
        guard choice.isCovered else { return try test(choice, limit: limit, &refs) }
        try choice.forEach(of: entities, skipping: skipped, turn?.control) { ref throws(StoreError) in
            refs.append(ref)
            return refs.count < limit
        }
        return ScanStatistics()
    }

    /// Adds the rows of an index that satisfy what the index does not say, until there are enough.
    private func test(
        _ choice: IndexChoice, limit: Int, _ refs: inout [ObjectRef]
    ) throws(StoreError) -> ScanStatistics {
        let scan = CompiledScan(
            scope.handle, scope.snapshot, choice.residual, root: search.root, plan.shape, entities: entities
        ).over([], choice.residual)
        var test = ResidualFilter(
            scan, ColumnEvaluator(scope.handle, scope.snapshot, turn?.control, scan.tables(turn?.control)),
            limit: limit, turn?.control)
        try choice.forEach(of: entities, turn?.control) { ref throws(StoreError) in try test.add(ref) }
        try test.finish()
        refs = test.matches
        return test.statistics
    }
}
