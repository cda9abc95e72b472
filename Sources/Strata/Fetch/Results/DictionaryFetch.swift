import Foundation
import StrataLog

/// Makes the dictionaries of a fetch out of rows: one a row, or one a group, without making objects.
struct DictionaryFetch {
    /// A dictionary with what it is sorted by.
    private struct Entry {
        var values: [String: Any]
        var keys: SortKeys?
    }

    /// The rows that agree in what is grouped by.
    private struct Group {
        /// What is grouped by.
        var keys: [Any?]
        var states: [AggregateState]
        /// Of columns that are no aggregates, from the row that stands for the group.
        var plain: [Any?]
        /// What the group is sorted by and is no column, from the same row.
        var sortValues: [Any?]
    }

    private let plan: FetchPlan
    private let dictionaries: DictionaryPlan
    private let sorts: [KeySortDescriptor]
    private var entries: [Entry] = []
    private var groups: [Group] = []
    /// Whether no two of the entries are alike, since groups were made of them.
    private var isDistinct = false
    private var groupNumbers: [[Operand.Key]: Int] = [:]
    /// Where only one extreme is asked for, other columns are those of its row, as in SQLite.
    private let representative: Int?

    init(_ plan: FetchPlan, _ dictionaries: DictionaryPlan, _ sorts: [KeySortDescriptor]) {
        self.plan = plan
        self.dictionaries = dictionaries
        self.sorts = sorts
        let functions = dictionaries.aggregates.map(\.function)
        let extremes = functions.indices.filter { functions[$0] == .min || functions[$0] == .max }
        representative = extremes.count == 1 ? extremes.first : nil
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
            for number in 0..<all.count {
                try pace.step()
                let (keys, states) = try all.group(number, scan.scope)
                found.append(
                    Group(
                        keys: keys, states: states, plain: grouping.plainGroups.map { $0.flatMap { keys[$0] } },
                        sortValues: sorts.map { _ in nil }))
            }
        } catch is NotCompiled {
            report.statistics = ScanStatistics()
            return false
        } catch let error as StoreError {
            throw scan.scope.failure(error)
        }
        if dictionaries.isGrouped {
            groups = found
        } else {
            let order = found.indices.sorted { all.firstKeys[$0] < all.firstKeys[$1] }
            entries = order.map { found[$0] }.map { row in
                var values: [String: Any] = [:]
                for (column, value) in zip(dictionaries.columns, row.plain) { values[column.name] = value }
                let keys = sorts.isEmpty ? nil : SortKeys(values: sorts.map { values[$0.path.text] }, sorts)
                return Entry(values: values, keys: keys)
            }
            isDistinct = true
        }
        report.groupsColumns = true
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
        var values: [String: Any] = [:]
        for column in dictionaries.columns { values[column.name] = value(of: column, context) }
        var keys: SortKeys?
        if !sorts.isEmpty {
            keys = SortKeys(values: sorts.map { sortValue($0, values, row) }, sorts)
        }
        entries.append(Entry(values: values, keys: keys))
    }

    private func value(of column: DictionaryPlan.Column, _ context: EvaluationContext) -> Any? {
        ResultConversion.convert(column.expression.evaluate(context), to: column.type)
    }

    /// A column's value if the descriptor names one, else the row's.
    private func sortValue(_ sort: KeySortDescriptor, _ values: [String: Any], _ row: RowSource) -> Any? {
        if let value = values[sort.path.text] { return value }
        if dictionaries.columns.contains(where: { $0.name == sort.path.text }) { return nil }
        return Self.detached(KeyValueAccess.value(of: row, path: sort.path))
    }

    /// The row is a cursor, which moves on: what stays must not refer to it.
    private static func detached(_ value: Any?) -> Any? { (value as? RowSource)?.objectID ?? value }

    // MARK: Groups

    private mutating func addToGroup(_ row: RowSource) {
        let context = EvaluationContext(object: row, bindings: nil)
        let keys = dictionaries.groups.map { value(of: $0, context) }
        let number = number(of: keys, context, row)
        var isNewRepresentative = false
        for (index, aggregate) in dictionaries.aggregates.enumerated() {
            let value = Self.detached(aggregate.argument.evaluate(context))
            if groups[number].states[index].add(value), index == representative { isNewRepresentative = true }
        }
        if isNewRepresentative { groups[number].plain = plainValues(context) }
    }

    private mutating func number(of keys: [Any?], _ context: EvaluationContext, _ row: RowSource) -> Int {
        let operands = keys.map { Operand.Key(Operand($0)) }
        if let known = groupNumbers[operands] { return known }
        groupNumbers[operands] = groups.count
        groups.append(
            Group(
                keys: keys, states: dictionaries.aggregates.map { AggregateState($0) },
                plain: plainValues(context),
                sortValues: sorts.map { sort in
                    dictionaries.names.contains(sort.path.text)
                        ? nil : Self.detached(KeyValueAccess.value(of: row, path: sort.path))
                }))
        return groups.count - 1
    }

    private func plainValues(_ context: EvaluationContext) -> [Any?] {
        dictionaries.columns.map { $0.isAggregate ? nil : value(of: $0, context) }
    }

    /// The group's dictionary, nil if it does not satisfy the predicate for groups.
    private func entry(_ group: Group) -> Entry? {
        var bindings: [String: Any] = [:]
        for (index, state) in group.states.enumerated() {
            bindings[Aggregate.variable(index)] = state.result ?? NSNull()
        }
        var grouped: [String: Any] = [:]
        for (column, key) in zip(dictionaries.groups, group.keys) { grouped[column.name] = key }
        let source = GroupSource(values: grouped)
        var values: [String: Any] = [:]
        for (index, column) in dictionaries.columns.enumerated() {
            guard column.isAggregate else {
                values[column.name] = group.plain[index]
                continue
            }
            let context = EvaluationContext(object: source, bindings: bindings)
            values[column.name] = value(of: column, context)
        }
        if let having = dictionaries.having {
            // Fetched expressions go by their names, as variables and as keys.
            let all = bindings.merging(values) { first, _ in first }
            let source = GroupSource(values: grouped.merging(values) { first, _ in first })
            EvaluationWork.beginObject()
            guard having.evaluate(with: source, substitutionVariables: all) else { return nil }
        }
        guard !sorts.isEmpty else { return Entry(values: values) }
        let sortValues = zip(sorts, group.sortValues).map { sort, other in
            values[sort.path.text] ?? grouped[sort.path.text] ?? other
        }
        return Entry(values: values, keys: SortKeys(values: sortValues, sorts))
    }

    /// Groups in the order of what they are grouped by, as SQLite gives them.
    private func orderedGroups(_ turn: ScanTurn?) throws -> [Group] {
        // What values are is found out once each.
        let operands = groups.map { $0.keys.map { Operand($0) } }
        if let codes = Self.codes(operands) {
            return groups.indices.sorted { codes[$0] < codes[$1] }.map { groups[$0] }
        }
        var pace = TurnPace(turn, every: 256)
        let order = try groups.indices.sorted { left, right in
            try pace.step()
            for (a, b) in zip(operands[left], operands[right]) {
                let order = a.order(b)
                if order != .orderedSame { return order == .orderedAscending }
            }
            return false
        }
        return order.map { groups[$0] }
    }

    /// Numbers in the order of the values, when all are integers or null, or all are saved objects or null, and there
    /// is one for each group: comparing values themselves takes most of the time of a request with many groups.
    private static func codes(_ operands: [[Operand]]) -> [(rank: Int, code: UInt64)]? {
        var codes: [(rank: Int, code: UInt64)] = []
        codes.reserveCapacity(operands.count)
        var kind = 0
        for values in operands {
            guard values.count == 1 else { return nil }
            switch values[0] {
            case .null: codes.append((0, 0))
            case .integer(let value): codes.append((1, UInt64(bitPattern: value) ^ 1 << 63))
            case .object(let value):
                guard let id = value as? NSManagedObjectID, !id.isTemporaryID else { return nil }
                codes.append((2, id.ref.key))
            default: return nil
            }
            let rank = codes[codes.count - 1].rank
            if rank == 0 { continue }
            if kind != 0, kind != rank { return nil }
            kind = rank
        }
        return codes
    }

    // MARK: Results

    /// - Throws: why the request should stop.
    mutating func results(_ turn: ScanTurn?) throws -> [NSDictionary] {
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
            let names = dictionaries.columns.map(\.name)
            var seen: Set<[Operand.Key]> = []
            entries = try entries.filter { entry in
                try pace.step()
                return seen.insert(names.map { Operand.Key(Operand(entry.values[$0])) }).inserted
            }
        }
        let results = try entries.map { entry in
            try pace.step()
            return NSDictionary(dictionary: entry.values)
        }
        if plan.offset == 0, results.count <= plan.limit { return results }
        return Array(results.dropFirst(plan.offset).prefix(plan.limit))
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
