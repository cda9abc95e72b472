extension Condition {
    /// What a format's placeholders stand for.
    enum Argument {
        case value(Value, Kind)
        case list([Value], Kind)
        case object(Int)
    }

    /// The format of the predicate, and its arguments.
    var format: (text: String, arguments: [Argument]) {
        var arguments: [Argument] = []
        let text = write("", 0, &arguments)
        return (text, arguments)
    }

    /// - Parameter prefix: what comes before each key path, in a subquery its variable and a dot.
    private func write(_ prefix: String, _ depth: Int, _ arguments: inout [Argument]) -> String {
        switch self {
        case .always(let truth): return truth ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .compare(let path, let relation, let value):
            arguments.append(.value(value, path.attribute.kind))
            return "\(prefix)\(path.text) \(relation.rawValue) %@"
        case .isNull(let path, let isNull): return "\(prefix)\(path.text) \(isNull ? "==" : "!=") nil"
        case .among(let path, let values):
            arguments.append(.list(values, path.attribute.kind))
            return "\(prefix)\(path.text) IN %@"
        case .between(let path, let low, let high):
            arguments += [.value(low, path.attribute.kind), .value(high, path.attribute.kind)]
            return "\(prefix)\(path.text) BETWEEN {%@, %@}"
        case .leads(let steps, let isEqual, let key):
            if let key { arguments.append(.object(key)) }
            let path = prefix + steps.joined(separator: ".")
            return "\(path) \(isEqual ? "==" : "!=") \(key == nil ? "nil" : "%@")"
        case .members(let quantifier, let name, let attribute, let relation, let value):
            arguments.append(.value(value, attribute.kind))
            return "\(quantifier.rawValue) \(prefix)\(name).\(attribute.name) \(relation.rawValue) %@"
        case .count(let steps, let name, let relation, let number):
            let path = prefix + (steps + [name]).joined(separator: ".")
            return "\(path).@count \(relation.rawValue) \(number)"
        case .subquery(let steps, let name, let condition, let relation, let number):
            let path = prefix + (steps + [name]).joined(separator: ".")
            let inner = condition.write("$x\(depth).", depth + 1, &arguments)
            return "SUBQUERY(\(path), $x\(depth), \(inner)).@count \(relation.rawValue) \(number)"
        case .and(let parts):
            return parts.map { "(\($0.write(prefix, depth, &arguments)))" }.joined(separator: " AND ")
        case .or(let parts):
            return parts.map { "(\($0.write(prefix, depth, &arguments)))" }.joined(separator: " OR ")
        case .not(let part): return "NOT (\(part.write(prefix, depth, &arguments)))"
        }
    }
}
