import Foundation
import StrataLog

/// Makes the dictionaries of a fetch out of rows: one a row, or one a group, without making objects.
struct DictionaryFetch {
    /// A dictionary's values, one for each name, with what it is sorted by.
    private struct Entry {
        var values: [Any?]
        var keys: SortKeys?
    }

    /// How a column over groups gets its value.
    private enum GroupValue {
        /// What the group shows of it.
        case plain
        /// An aggregate by itself.
        case aggregate(Int)
        /// Computed of aggregates.
        case computed
    }

    /// The rows that agree in what is grouped by.
    private struct Group {
        /// What is grouped by.
        var keys: [Any?]
        var states: [AggregateState]
        /// Of columns that are no aggregates, from the row that stands for the group.
        var plain: [Any?]
        /// Of what only the predicate for groups names, from the same row.
        var bare: [Any?] = []
        /// What the group is sorted by and is no column, from its first row.
        var sortValues: [Any?]
    }

    private let plan: FetchPlan
    private let dictionaries: DictionaryPlan
    private let sorts: [KeySortDescriptor]
    /// The names of the dictionaries' values, and the columns that they are of: of two columns with one name the last.
    private let names: [String]
    private let shown: [Int]
    private let groupValues: [GroupValue]
    /// Whether expressions are evaluated over groups, which read their aggregates as variables.
    private let needsBindings: Bool
    /// The predicate for groups, if it asks nothing but aggregates.
    private let groupCondition: GroupCondition?
    /// For each descriptor the value that it names; nil for what is none of the dictionaries'.
    private let sortNames: [Int?]
    private var entries: [Entry] = []
    /// The results, where they were made straight of columns.
    private var made: [NSDictionary]?
    private var groups: [Group] = []
    /// Whether the groups have been put in their order.
    private var areGroupsOrdered = false
    /// Whether no two of the entries are alike, since groups were made of them.
    private var isDistinct = false
    private var groupNumbers: [[Operand.DistinctKey]: Int] = [:]
    /// Where only one extreme is asked for, other columns are those of its row, as in SQLite.
    private let representative: Int?

    init(_ plan: FetchPlan, _ dictionaries: DictionaryPlan, _ sorts: [KeySortDescriptor]) {
        self.plan = plan
        self.dictionaries = dictionaries
        self.sorts = sorts
        let all = dictionaries.columns
        let shown = all.indices.filter { index in !all[(index + 1)...].contains { $0.name == all[index].name } }
        names = shown.map { all[$0].name }
        self.shown = shown
        sortNames = sorts.map { sort in shown.firstIndex { all[$0].name == sort.path.text } }
        groupValues = all.map { column in
            guard column.isAggregate else { return .plain }
            guard case .variable(let name) = column.expression.form,
                let index = dictionaries.aggregates.indices.first(where: { Aggregate.variable($0) == name })
            else { return .computed }
            return .aggregate(index)
        }
        needsBindings =
            dictionaries.having != nil
            || groupValues.contains {
                if case .computed = $0 { true } else { false }
            }
        let aggregates = dictionaries.aggregates
        groupCondition = dictionaries.having.flatMap { GroupCondition($0, aggregateCount: aggregates.count) }
        let extremes = aggregates.indices.filter {
            aggregates[$0].function == .min || aggregates[$0].function == .max
        }
        // Asked for in two places, one extreme is one.
        representative = extremes.first.flatMap { first in
            extremes.allSatisfy { aggregates[$0].isSame(as: aggregates[first]) } ? first : nil
        }
    }

    /// Takes the rows of one store in by columns, as far as that gives the same; false when it does not.
    ///
    /// To be asked only if there is no other store: groups are put together here.
    mutating func addColumns(_ scan: StoreScan, _ report: ScanReport) throws -> Bool {
        guard CompiledExecution.isEnabled, !plan.needsObjects, plan.sorts.count == sorts.count,
            dictionaries.isGrouped || plan.isDistinct,
            let grouping = ColumnGrouping(dictionaries, sorts, plan.shape),
            let columns = try scan.columnScan(reading: grouping.expressions)
        else { return false }
        var all = GroupedColumns(grouping)
        var found: [Group] = []
        do {
            try scan.run(columns, .whole) { rowGroup in
                var part = GroupedColumns(grouping)
                try part.add(rowGroup)
                return (part, rowGroup.count)
            } take: { (part: (groups: GroupedColumns, rows: Int)) in
                report.statistics.rowsMatched += part.rows
                try all.merge(part.groups)
                return true
            }
            var pace = TurnPace(scan.turn, every: 256)
            let order =
                dictionaries.isGrouped
                ? try all.ordered(&pace) : (0..<all.count).sorted { all.firstKeys[$0] < all.firstKeys[$1] }
            report.groupsColumns = true
            if let columns = shownColumns(of: grouping), all.count > 0 {
                let shown = try holding(order, of: all, &pace)
                made = try results(of: all, shown.dropFirst(plan.offset).prefix(plan.limit), columns, scan)
                return true
            }
            found.reserveCapacity(all.count)
            for number in order {
                try pace.step()
                let (keys, states) = try all.group(number, scan.scope)
                found.append(
                    Group(
                        keys: keys, states: states, plain: grouping.plainGroups.map { $0.flatMap { keys[$0] } },
                        sortValues: sorts.map { _ in nil }))
            }
        } catch is NotCompiled {
            report.statistics = ScanStatistics()
            report.groupsColumns = false
            return false
        } catch let error as StoreError {
            throw scan.scope.failure(error)
        }
        if dictionaries.isGrouped {
            groups = found
            areGroupsOrdered = true
        } else {
            entries = found.map { row in
                let values = shown.map { row.plain[$0] }
                let sortValues = sortNames.map { $0.flatMap { values[$0] } }
                let keys = sorts.isEmpty ? nil : SortKeys(values: sortValues, sorts)
                return Entry(values: values, keys: keys)
            }
            isDistinct = true
        }
        return true
    }

    /// What each value of the dictionaries is of groups by columns. Nil where more is done with groups than to show
    /// them.
    private func shownColumns(of grouping: ColumnGrouping) -> [GroupedColumns.Shown]? {
        // Groups that show the same are one among distinct results.
        guard dictionaries.having == nil || groupCondition != nil, sorts.isEmpty,
            !dictionaries.isGrouped || !plan.isDistinct
        else { return nil }
        var columns: [GroupedColumns.Shown] = []
        for index in shown {
            switch groupValues[index] {
            case .plain:
                guard let group = grouping.plainGroups[index] else { return nil }
                columns.append(.key(group))
            case .aggregate(let aggregate): columns.append(.aggregate(aggregate, dictionaries.columns[index].type))
            case .computed: return nil
            }
        }
        return columns
    }

    /// The groups that satisfy the predicate for groups.
    private func holding(_ groups: [Int], of all: GroupedColumns, _ pace: inout TurnPace) throws -> [Int] {
        guard let groupCondition else { return groups }
        return try groups.filter { group in
            try pace.step()
            EvaluationWork.beginObject()
            return groupCondition.holds { all.state($0, of: group).result }
        }
    }

    /// So many groups are made to dictionaries by one thread.
    private static let groupsOfPiece = 2_048

    private func results(
        of all: GroupedColumns, _ order: ArraySlice<Int>, _ columns: [GroupedColumns.Shown], _ scan: StoreScan
    ) throws -> [NSDictionary] {
        let control = scan.turn?.control
        return try ScanPool.shared.mapPieces(of: order.count, by: Self.groupsOfPiece, scan.turn) { range in
            let scope = RowScope(scan.scope.handle, scan.scope.snapshot, control)
            var template = DictionaryTemplate(names)
            var pace = ControlPace(control, every: 64)
            var values: [AnyObject?] = columns.map { _ in nil }
            return try range.map { position in
                try pace.step()
                let group = order[order.startIndex + position]
                for (index, column) in columns.enumerated() { values[index] = try all.object(column, of: group, scope) }
                return template.dictionary(values)
            }
        }
    }

    /// Takes in, where all rows are one group and nothing but extremes are wanted, the rows that have these.
    ///
    /// - Parameter row: the row of an aggregate; nil if that has to be found in another way.
    /// - Returns: False, with nothing taken in, if one of them has none.
    mutating func addExtremes(_ row: (Int) throws -> RowSource?) rethrows -> Bool {
        var group = Group(
            keys: [], states: dictionaries.aggregates.map { AggregateState($0) },
            plain: dictionaries.columns.map { _ in nil }, sortValues: sorts.map { _ in nil })
        for (index, aggregate) in dictionaries.aggregates.enumerated() {
            guard let row = try row(index) else { return false }
            let context = EvaluationContext(object: row, bindings: nil)
            _ = group.states[index].add(Self.detached(aggregate.argument.evaluate(context)))
            if index == representative { group.plain = plainValues(context) }
        }
        groups = [group]
        return true
    }

    /// Takes the rows of one store in.
    mutating func add(_ scan: StoreScan) throws {
        guard plan.sorts.count == sorts.count else {
            throw FetchProblem.error("Dictionaries are sorted by keys only, not by Swift key paths without a name.")
        }
        let (end, isUnlimited) = plan.limit.addingReportingOverflow(plan.offset)
        let isEnough = sorts.isEmpty && !plan.isDistinct && !dictionaries.isGrouped && !isUnlimited ? end : Int.max
        if entries.count >= isEnough { return }
        var copy = self
        try scan.forEach { _, row in
            guard let row else { return true }
            if copy.dictionaries.isGrouped {
                copy.addToGroup(row)
            } else {
                copy.addEntry(row)
            }
            return copy.entries.count < isEnough
        }
        self = copy
    }

    // MARK: Rows

    private mutating func addEntry(_ row: RowSource) {
        let context = EvaluationContext(object: row, bindings: nil)
        var values = shown.map { value(of: dictionaries.columns[$0], context) }
        if plan.isDistinct { values = values.map(DistinctValue.shown) }
        var keys: SortKeys?
        if !sorts.isEmpty {
            keys = SortKeys(values: sorts.indices.map { sortValue($0, values, row) }, sorts)
        }
        entries.append(Entry(values: values, keys: keys))
    }

    private func value(of column: DictionaryPlan.Column, _ context: EvaluationContext) -> Any? {
        ResultConversion.convert(column.expression.evaluate(context), to: column.type)
    }

    /// A column's value if the descriptor names one, else the row's.
    private func sortValue(_ sort: Int, _ values: [Any?], _ row: RowSource) -> Any? {
        if let name = sortNames[sort] { return values[name] }
        return Self.detached(KeyValueAccess.value(of: row, path: sorts[sort].path))
    }

    /// The row is a cursor, which moves on: what stays must not refer to it.
    private static func detached(_ value: Any?) -> Any? { (value as? RowSource)?.objectID ?? value }

    // MARK: Groups

    private mutating func addToGroup(_ row: RowSource) {
        let context = EvaluationContext(object: row, bindings: nil)
        let keys = dictionaries.groups.map { DistinctValue.shown(value(of: $0, context)) }
        let number = number(of: keys, context, row)
        var isNewRepresentative = false
        for (index, aggregate) in dictionaries.aggregates.enumerated() {
            let value = Self.detached(aggregate.argument.evaluate(context))
            if groups[number].states[index].add(value), index == representative { isNewRepresentative = true }
        }
        if isNewRepresentative {
            groups[number].plain = plainValues(context)
            groups[number].bare = bareValues(context)
        }
    }

    private mutating func number(of keys: [Any?], _ context: EvaluationContext, _ row: RowSource) -> Int {
        let operands = keys.map { Operand.DistinctKey(Operand($0)) }
        if let known = groupNumbers[operands] { return known }
        groupNumbers[operands] = groups.count
        groups.append(
            Group(
                keys: keys, states: dictionaries.aggregates.map { AggregateState($0) },
                plain: plainValues(context), bare: bareValues(context),
                sortValues: sorts.map { sort in
                    dictionaries.names.contains(sort.path.text)
                        ? nil : Self.detached(KeyValueAccess.value(of: row, path: sort.path))
                }))
        return groups.count - 1
    }

    private func plainValues(_ context: EvaluationContext) -> [Any?] {
        dictionaries.columns.map { $0.isAggregate ? nil : DistinctValue.shown(value(of: $0, context)) }
    }

    private func bareValues(_ context: EvaluationContext) -> [Any?] {
        dictionaries.bare.map { Self.detached($0.evaluate(context)) }
    }

    /// The group's dictionary, nil if it does not satisfy the predicate for groups.
    private func entry(_ group: Group) -> Entry? {
        var bindings: [String: Any] = [:]
        var grouped: [String: Any] = [:]
        if needsBindings {
            for (index, state) in group.states.enumerated() {
                bindings[Aggregate.variable(index)] = state.result ?? NSNull()
            }
        }
        if needsBindings || !sorts.isEmpty {
            for (column, key) in zip(dictionaries.groups, group.keys) { grouped[column.name] = key }
        }
        let source = GroupSource(values: grouped)
        let values: [Any?] = shown.map { index in
            let column = dictionaries.columns[index]
            switch groupValues[index] {
            case .plain: return group.plain[index]
            case .aggregate(let aggregate): return group.states[aggregate].shown(as: column.type)
            case .computed: return value(of: column, EvaluationContext(object: source, bindings: bindings))
            }
        }
        if let having = dictionaries.having {
            // Fetched expressions go by their names, as variables and as keys.
            var named: [String: Any] = [:]
            for (name, value) in zip(names, values) { named[name] = value }
            for (index, value) in group.bare.enumerated() {
                bindings[DictionaryPlan.variable(index)] = value ?? NSNull()
            }
            let all = bindings.merging(named) { first, _ in first }
            let source = GroupSource(values: grouped.merging(named) { first, _ in first })
            EvaluationWork.beginObject()
            guard having.evaluate(with: source, substitutionVariables: all) else { return nil }
        }
        guard !sorts.isEmpty else { return Entry(values: values) }
        let sortValues = sorts.indices.map { sort in
            sortNames[sort].flatMap { values[$0] } ?? grouped[sorts[sort].path.text] ?? group.sortValues[sort]
        }
        return Entry(values: values, keys: SortKeys(values: sortValues, sorts))
    }

    /// Groups in the order of what they are grouped by, as SQLite gives them.
    private func orderedGroups(_ turn: ScanTurn?) throws -> [Group] {
        if areGroupsOrdered { return groups }
        // What values are is found out once each.
        let operands = groups.map { $0.keys.map { Operand($0) } }
        var pace = TurnPace(turn, every: 256)
        let order = try groups.indices.sorted { left, right in
            try pace.step()
            for (a, b) in zip(operands[left], operands[right]) {
                let order = a.order(b)
                if order != .orderedSame { return order == .orderedAscending }
                // Null and what is no number are alike in an order of objects, but are two groups.
                if a.isNull != b.isNull { return a.isNull }
            }
            return false
        }
        return order.map { groups[$0] }
    }

    // MARK: Results

    /// - Throws: why the request should stop.
    mutating func results(_ turn: ScanTurn?) throws -> [NSDictionary] {
        if let made { return made }
        var pace = TurnPace(turn, every: 256)
        if dictionaries.isGrouped {
            // Aggregates without groups are over all rows, even if there are none.
            if groups.isEmpty, dictionaries.groups.isEmpty {
                groups.append(
                    Group(
                        keys: [], states: dictionaries.aggregates.map { AggregateState($0) },
                        plain: dictionaries.columns.map { _ in nil }, sortValues: sorts.map { _ in nil }))
            }
            entries = try orderedGroups(turn).compactMap { group in
                try pace.step()
                return entry(group)
            }
        }
        if !sorts.isEmpty {
            try entries.sort { left, right in
                try pace.step()
                guard let a = left.keys, let b = right.keys else { return false }
                return SortKeys.precedes(a, b, sorts)
            }
        }
        if plan.isDistinct, !isDistinct {
            // Foundation's dictionaries have their count as hash, and its decimals none that ends.
            var seen: Set<[Operand.DistinctKey]> = []
            entries = try entries.filter { entry in
                try pace.step()
                return seen.insert(entry.values.map { Operand.DistinctKey(Operand($0)) }).inserted
            }
        }
        // What is not asked for is not made.
        if plan.offset > 0 || entries.count > plan.limit {
            entries = Array(entries.dropFirst(plan.offset).prefix(plan.limit))
        }
        // Null is left out.
        var template = DictionaryTemplate(names)
        return try entries.map { entry in
            try pace.step()
            return template.dictionary(entry.values.map { $0.map { $0 as AnyObject } })
        }
    }
}

/// What expressions over a group read by name: what it is grouped by, under its full path.
private struct GroupSource: KeyValueCoding {
    let values: [String: Any]
    /// The steps of the path so far, each with its dot.
    var prefix = ""

    func value(forKey key: String) -> Any? {
        if let value = values[prefix + key] { return value }
        let inner = GroupSource(values: values, prefix: prefix + key + ".")
        return values.keys.contains { $0.hasPrefix(inner.prefix) } ? inner : nil
    }
}
