import StrataLog

extension StoreScan {
    /// So many rows more than are wanted are read at first, since the last of these may be alike in the index.
    private static let alikeRows = 64
    /// Where that takes more than one row in so many, all are sorted.
    private static let rowsPerRead = 8

    /// A scan of a few rows, among which are the first of an order, when an index has what the order begins with:
    /// `name` of `name, author.city`. Nil when none has, or sorting all rows is likely to be quicker.
    ///
    /// - Parameter limit: how many of the first rows are wanted.
    package func firstByPrefix(_ sorts: [ComputedSort], limit: Int) throws -> CompiledScan? {
        let plain = sorts.prefix { $0.ofColumn != nil }.compactMap(\.ofColumn)
        // Tests have few rows.
        let maximum = IndexUse.current == .always ? Int.max : search.rowCount / Self.rowsPerRead
        guard !plain.isEmpty, limit > 0, limit < maximum - Self.alikeRows else { return nil }
        do {
            guard let compiled = try compiledForIndex(limit: limit), compiled.rest == nil else { return nil }
            // Fewer columns have more rows that are alike.
            var isTried = false
            for count in stride(from: plain.count, through: 1, by: -1) where !isTried {
                let order = IndexOrder(sorts: Array(plain[..<count]), isWhole: false)
                let wish = IndexWish.page(offset: 0, limit: limit + Self.alikeRows)
                let refs = try usingIndex(compiled, wish, order: order) { choice throws(StoreError) in
                    isTried = true
                    return try first(limit, of: choice, order.sorts, maximum)
                }
                if let refs { return scan(over: refs, reading: sorts.map(\.expression)) }
            }
            return nil
        } catch let error as StoreError {
            throw scope.failure(error)
        }
    }

    /// A scan of some rows that satisfy the predicate.
    func scan(over refs: [ObjectRef], reading expressions: [RowExpression]) -> CompiledScan {
        let all = CompiledPredicate.everyRow
        return CompiledScan(
            scope.handle, scope.snapshot, all, root: search.root, plan.shape, entities: entities, reading: expressions
        ).over(refs.sorted { $0.key < $1.key }, all)
    }

    /// The first matches in an index, with all that are like the last of them. Nil when those are too many.
    private func first(
        _ limit: Int, of choice: IndexChoice, _ sorts: [ColumnSort], _ maximum: Int
    ) throws(StoreError) -> [ObjectRef]? {
        var rows = RowReader(scope.snapshot)
        var most = limit + Self.alikeRows
        while most < maximum {
            try turn?.control?.checkRead()
            var refs: [ObjectRef] = []
            let statistics = try matches(of: choice, limit: most, &refs)
            let isEnd = refs.count < most
            if isEnd || !areAlike(refs[limit - 1], refs[most - 1], in: sorts, &rows) {
                report.statistics.add(statistics)
                report.record(choice)
                return refs
            }
            // Begins again, but seldom: what has been read by then is a third of all.
            let (next, isTooMany) = most.multipliedReportingOverflow(by: 4)
            if isTooMany { return nil }
            most = next
        }
        return nil
    }

    /// Whether two rows have the same values. Not if one cannot be read, which whoever sorts them will find.
    private func areAlike(
        _ left: ObjectRef, _ right: ObjectRef, in sorts: [ColumnSort], _ rows: inout RowReader
    ) -> Bool {
        do throws(StoreError) {
            guard let left = try rows.row(left), let right = try rows.row(right) else { return false }
            for sort in sorts {
                let columns = (try left.block.column(sort.slot), try right.block.column(sort.slot))
                if sort.order.order(columns.0, left.index, columns.1, right.index) != 0 { return false }
            }
            return true
        } catch {
            return false
        }
    }
}
