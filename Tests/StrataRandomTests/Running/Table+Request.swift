import CoreData

extension Table {
    /// Makes a request ask for the table.
    func complete(_ request: NSFetchRequest<NSDictionary>) {
        request.resultType = .dictionaryResultType
        request.returnsDistinctResults = isDistinct
        request.propertiesToFetch =
            columns.map(\.text)
            + aggregates.map { aggregate in
                let description = NSExpressionDescription()
                description.name = aggregate.name
                description.expression = NSExpression(
                    forFunction: "\(aggregate.function.rawValue):",
                    arguments: [NSExpression(forKeyPath: aggregate.path.text)])
                description.expressionResultType = aggregate.kind.type
                return description
            }
        if !aggregates.isEmpty, !columns.isEmpty { request.propertiesToGroupBy = columns.map(\.text) }
    }

    /// The same as lines of a program.
    var lines: [String] {
        let texts = columns.map { "\"\($0.text)\"" }
        var lines = [
            "request.resultType = .dictionaryResultType", "request.returnsDistinctResults = \(isDistinct)",
            "var columns: [Any] = [\(texts.joined(separator: ", "))]",
        ]
        for aggregate in aggregates {
            lines += [
                "do {", "    let column = NSExpressionDescription()", "    column.name = \"\(aggregate.name)\"",
                "    column.expression = NSExpression(forFunction: \"\(aggregate.function.rawValue):\", "
                    + "arguments: [NSExpression(forKeyPath: \"\(aggregate.path.text)\")])",
                "    column.expressionResultType = \(aggregate.kind.typeName)", "    columns.append(column)", "}",
            ]
        }
        lines.append("request.propertiesToFetch = columns")
        if !aggregates.isEmpty, !columns.isEmpty {
            lines.append("request.propertiesToGroupBy = [\(texts.joined(separator: ", "))]")
        }
        return lines
    }
}
