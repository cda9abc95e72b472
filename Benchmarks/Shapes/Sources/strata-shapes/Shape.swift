import Foundation
import Strata

/// A request, and the statement that asks SQLite the same.
struct Shape {
    /// A condition, a value or an order in both languages.
    struct Term {
        let strata: String
        let sql: String

        init(_ strata: String, _ sql: String) {
            self.strata = strata
            self.sql = sql
        }

        /// A key path, or what is computed, under a name of its own.
        var property: Any {
            if !strata.contains(where: { "(@ ".contains($0) }) { return strata }
            let description = NSExpressionDescription()
            description.name = strata.filter { $0.isLetter || $0.isNumber }
            description.expression = NSExpression(format: strata)
            description.expressionResultType = .undefinedAttributeType
            return description
        }
    }

    enum Result {
        case count
        /// The IDs of the objects.
        case ids(offset: Int, limit: Int)
        /// Some values of each row.
        case rows([Term], limit: Int)
        case distinct([Term])
        case groups([Term], [Aggregate])
        /// One aggregate of all rows.
        case total(Aggregate)
    }

    struct Aggregate {
        let function: String
        let argument: Term
        var isDistinct = false

        var name: String { function + (isDistinct ? " distinct " : " ") + argument.strata }
        var sql: String {
            ["count:": "COUNT", "sum:": "SUM", "average:": "AVG", "min:": "MIN", "max:": "MAX"][function]!
                + "(\(isDistinct ? "DISTINCT " : "")\(argument.sql))"
        }
    }

    let entity: String
    let condition: Term?
    let order: [(term: Term, isAscending: Bool)]
    let result: Result
    /// Over groups.
    var having: Term?

    func prepare(_ request: NSFetchRequest<any NSFetchRequestResult>) {
        request.predicate = condition.map { NSPredicate(format: $0.strata, argumentArray: []) }
        if !order.isEmpty {
            request.sortDescriptors = order.map { NSSortDescriptor(key: $0.term.strata, ascending: $0.isAscending) }
        }
        switch result {
        case .count: break
        case .ids(let offset, let limit):
            request.resultType = .managedObjectIDResultType
            request.fetchOffset = offset
            request.fetchLimit = limit
        case .rows(let columns, let limit):
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = columns.map(\.property)
            request.fetchLimit = limit
        case .distinct(let columns):
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = columns.map(\.property)
            request.returnsDistinctResults = true
        case .groups(let groups, let aggregates):
            request.resultType = .dictionaryResultType
            request.propertiesToGroupBy = groups.map(\.property)
            request.propertiesToFetch = groups.map(\.property) + aggregates.map { Self.description($0) }
            request.havingPredicate = having.map { NSPredicate(format: $0.strata, argumentArray: []) }
        case .total(let aggregate):
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [Self.description(aggregate)]
        }
    }

    private static func description(_ aggregate: Aggregate) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = aggregate.name.filter(\.isLetter)
        var argument = NSExpression(format: aggregate.argument.strata)
        if aggregate.isDistinct { argument = NSExpression(forFunction: "distinct:", arguments: [argument]) }
        description.expression = NSExpression(forFunction: aggregate.function, arguments: [argument])
        description.expressionResultType = .undefinedAttributeType
        return description
    }

    var sql: String {
        var columns = entity == "Customer" ? "c.id" : "o.id"
        var end = ""
        switch result {
        case .count: columns = "COUNT(*)"
        case .ids(let offset, let limit): if limit > 0 { end = " LIMIT \(limit) OFFSET \(offset)" }
        case .rows(let terms, let limit):
            columns = terms.map(\.sql).joined(separator: ", ")
            if limit > 0 { end = " LIMIT \(limit)" }
        case .distinct(let terms): columns = "DISTINCT " + terms.map(\.sql).joined(separator: ", ")
        case .groups(let terms, let aggregates):
            columns = (terms.map(\.sql) + aggregates.map(\.sql)).joined(separator: ", ")
            end = " GROUP BY " + terms.map(\.sql).joined(separator: ", ")
            if let having { end += " HAVING " + having.sql }
        case .total(let aggregate): columns = aggregate.sql
        }
        let whole = [columns, condition?.sql ?? ""] + order.map(\.term.sql)
        var text = "SELECT \(columns) FROM " + (entity == "Customer" ? "customers c" : "orders o")
        if entity != "Customer", whole.contains(where: { $0.contains("c.") }) {
            text += " LEFT JOIN customers c ON c.id = o.customer"
        }
        var conditions = entity == "RushOrder" ? ["o.ent = 2"] : []
        if let condition { conditions.append("(\(condition.sql))") }
        if !conditions.isEmpty { text += " WHERE " + conditions.joined(separator: " AND ") }
        if case .ids = result, !order.isEmpty { text += sqlOrder }
        if case .rows = result, !order.isEmpty { text += sqlOrder }
        return text + end
    }

    private var sqlOrder: String {
        " ORDER BY " + order.map { $0.term.sql + ($0.isAscending ? "" : " DESC") }.joined(separator: ", ")
    }

    var text: String {
        let kind =
            switch result {
            case .count: "count"
            case .ids(let offset, let limit): limit == 0 ? "all IDs" : "\(limit) IDs from \(offset)"
            case .rows(let terms, let limit): "rows of " + Self.list(terms) + (limit > 0 ? ", \(limit)" : "")
            case .distinct(let terms): "distinct " + Self.list(terms)
            case .groups(let terms, let aggregates):
                "groups by " + Self.list(terms) + ": " + aggregates.map(\.name).joined(separator: ", ")
            case .total(let aggregate): aggregate.name
            }
        let sorts = order.map { $0.term.strata + ($0.isAscending ? "" : " desc") }.joined(separator: ", ")
        return "\(entity): \(kind)" + (condition.map { " where \($0.strata)" } ?? "")
            + (having.map { " having \($0.strata)" } ?? "")
            + (sorts.isEmpty ? "" : " by \(sorts)")
    }

    private static func list(_ terms: [Term]) -> String { terms.map(\.strata).joined(separator: ", ") }
}
