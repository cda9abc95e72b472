/// What a request for dictionaries asks of the objects that it finds.
struct Table {
    enum Function: String, CaseIterable {
        case count, sum, min, max, average

        /// Sums of these are exact, and no not-a-number is among them.
        func takes(_ kind: Kind) -> Bool {
            switch self {
            case .count: kind.isComparable && kind != .double && kind != .float
            case .sum, .average: kind == .int16 || kind == .int32
            case .min, .max: kind.isOrdered && kind != .double && kind != .float
            }
        }
    }

    struct Aggregate {
        var function: Function
        var path: Condition.Path

        var name: String { function.rawValue + "_" + path.text.replacing(".", with: "_") }

        var kind: Kind {
            switch function {
            case .count, .sum: .int64
            case .average: .double
            case .min, .max: path.attribute.kind
            }
        }
    }

    /// What the rows show, or are grouped by.
    var columns: [Condition.Path]
    /// None for rows that are not grouped.
    var aggregates: [Aggregate] = []
    var isDistinct = false

    var paths: [Condition.Path] { columns + aggregates.map(\.path) }

    /// The keys of the dictionaries.
    var names: [(name: String, kind: Kind)] {
        columns.map { ($0.text, $0.attribute.kind) } + aggregates.map { ($0.name, $0.kind) }
    }

    mutating func dropDuplicates() {
        var seen: Set<String> = []
        columns.removeAll { !seen.insert($0.text).inserted }
        aggregates.removeAll { !seen.insert($0.name).inserted }
    }

    /// The rows of objects.
    func answer(_ keys: [Int], _ world: World) -> [[Value]] {
        let rows = keys.map { key in columns.map { $0.value(key, world) } }
        guard isDistinct || !aggregates.isEmpty else { return rows }
        // Without columns there is one group, also of nothing.
        var (order, groups) = ([[UInt8]](), [[UInt8]: [Int]]())
        if columns.isEmpty { (order, groups) = ([[]], [[]: []]) }
        for (index, row) in rows.enumerated() {
            // As bytes: texts that Unicode calls equivalent are different values.
            let name = Array(row.map { "\($0)" }.joined(separator: "|").utf8)
            if groups[name] == nil { order.append(name) }
            groups[name, default: []].append(index)
        }
        return order.map { name in
            let members = groups[name] ?? []
            let row = members.first.map { rows[$0] } ?? []
            return row + aggregates.map { $0.value(members.map { keys[$0] }, world) }
        }
    }
}

extension Table.Aggregate {
    /// Nulls do not count. A sum of nothing is 0, as that of SQLite's `total`, which Core Data uses.
    func value(_ keys: [Int], _ world: World) -> Value {
        let values = keys.map { path.value($0, world) }.filter { $0 != .null }
        let sum = values.reduce(Int64(0)) { sum, value in
            guard case .int(let number) = value else { return sum }
            return sum &+ number
        }
        func precedes(_ a: Value, _ b: Value) -> Bool { a.order(b, path.attribute.kind) < 0 }
        return switch function {
        case .count: .int(Int64(values.count))
        case .sum: .int(sum)
        case .average: values.isEmpty ? .null : .real(Double(sum) / Double(values.count))
        case .min: values.min(by: precedes) ?? .null
        case .max: values.max(by: precedes) ?? .null
        }
    }
}

extension Table: CustomStringConvertible {
    var description: String {
        names.map(\.name).joined(separator: ", ") + (isDistinct ? ", distinct" : aggregates.isEmpty ? "" : ", grouped")
    }
}
