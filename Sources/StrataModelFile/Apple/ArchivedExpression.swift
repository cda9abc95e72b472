import Foundation

/// Archived expressions as texts in the notation of predicate formats.
struct ArchivedExpression {
    private static let symbols: [String: String] = [
        "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/", "raise:toPower:": "**",
    ]

    /// Words that a key path may begin with only behind a number sign.
    private static let reserved: Set<String> = [
        "AND", "OR", "NOT", "IN", "ANY", "ALL", "SOME", "NONE", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH",
        "BETWEEN", "TRUE", "FALSE", "YES", "NO", "NIL", "NULL", "SELF", "ANYKEY", "TRUEPREDICATE", "FALSEPREDICATE",
        "CAST", "SUBQUERY", "FUNCTION", "TERNARY", "FETCH", "UNION", "INTERSECT", "MINUS", "FIRST", "LAST", "SIZE",
    ]

    /// - Throws: ``ArchiveError`` when the expression holds what has no text, such as a block.
    static func format(_ expression: ArchivedObject, depth: Int = 0) throws -> String {
        guard depth < ArchivedPredicate.maximumDepth else { throw ArchiveError("an expression is nested too deeply") }
        switch expression.className {
        case "NSSelfExpression": return "SELF"
        case "NSAnyKeyExpression": return "ANYKEY"
        case "NSVariableExpression":
            guard let name = try expression.string("NSVariable") else { break }
            return "$" + name
        case "NSConstantValueExpression": return try constant(expression.value("NSConstantValue"), depth)
        case "NSKeyPathSpecifierExpression":
            guard let path = try expression.string("NSKeyPath") else { break }
            return escaped(path)
        case "NSKeyPathExpression": return try keyPath(expression, depth)
        case "NSFunctionExpression": return try function(expression, depth)
        case "NSAggregateExpression": return "{" + (try list(expression, "NSCollection", depth)) + "}"
        case "NSSetExpression": return try set(expression, depth)
        case "NSTernaryExpression":
            guard let condition = try expression.object("NSPredicate"),
                let first = try expression.object("NSTrueExpression"),
                let second = try expression.object("NSFalseExpression")
            else { break }
            let test = try ArchivedPredicate.format(condition, depth: depth + 1)
            return "TERNARY(\(test), \(try format(first, depth: depth + 1)), \(try format(second, depth: depth + 1)))"
        case "NSFetchRequestExpression":
            guard let request = try expression.object("NSFRExpression"),
                let context = try expression.object("NSMOCExpression")
            else { break }
            let count = try expression.flag("NSCountOnlyFlag") ? "YES" : "NO"
            return "FETCH(\(try format(request, depth: depth + 1)), \(try format(context, depth: depth + 1)), \(count))"
        default: throw ArchiveError("an expression of the class \(expression.className) has no text")
        }
        throw ArchiveError("an expression of the class \(expression.className) is not complete")
    }

    private static func set(_ expression: ArchivedObject, _ depth: Int) throws -> String {
        let names = [5: "UNION", 6: "INTERSECT", 7: "MINUS"]
        guard let left = try expression.object("NSLeftExpression"),
            let right = try expression.object("NSRightExpression"),
            let name = try expression.integer("NSExpressionType").flatMap({ names[$0] })
        else { throw ArchiveError("a set expression is not complete") }
        return "(\(try format(left, depth: depth + 1)) \(name) \(try format(right, depth: depth + 1)))"
    }

    private static func list(
        _ expression: ArchivedObject, _ key: String, _ depth: Int
    ) throws -> String {
        var texts: [String] = []
        for element in try expression.objects(key) { texts.append(try format(element, depth: depth + 1)) }
        return texts.joined(separator: ", ")
    }

    private static func keyPath(_ expression: ArchivedObject, _ depth: Int) throws -> String {
        guard let operand = try expression.object("NSOperand"),
            let argument = try expression.objects("NSArguments").first
        else { throw ArchiveError("a key path is not complete") }
        let path = try argument.string("NSKeyPath") ?? format(argument, depth: depth + 1)
        if operand.className == "NSSelfExpression" { return escaped(path) }
        let start = try format(operand, depth: depth + 1)
        return operand.className == "NSFunctionExpression" ? "(\(start)).\(path)" : "\(start).\(path)"
    }

    private static func escaped(_ path: String) -> String {
        let first = path.split(separator: ".", omittingEmptySubsequences: false).first.map { String($0) } ?? ""
        return reserved.contains(first.uppercased()) ? "#" + path : path
    }

    private static func function(_ expression: ArchivedObject, _ depth: Int) throws -> String {
        guard let operand = try expression.object("NSOperand"), let name = try expression.string("NSSelectorName")
        else {
            throw ArchiveError("a function is not complete")
        }
        var arguments: [String] = []
        for argument in try expression.objects("NSArguments") {
            arguments.append(try format(argument, depth: depth + 1))
        }
        // The built-in functions are methods of a class of Foundation's own.
        guard try operand.string("NSConstantValueClassName") == "_NSPredicateUtilities" else {
            let all = [try format(operand, depth: depth + 1), QuotedText.of(name)] + arguments
            return "FUNCTION(\(all.joined(separator: ", ")))"
        }
        switch (name, arguments.count) {
        case ("castObject:toType:", 2): return "CAST(\(arguments[0]), \(arguments[1]))"
        case ("objectFrom:withIndex:", 2): return "\(arguments[0])[\(arguments[1])]"
        case (_, 2):
            if let symbol = symbols[name] { return "(\(arguments[0]) \(symbol) \(arguments[1]))" }
        default: break
        }
        return "\(name)(\(arguments.joined(separator: ", ")))"
    }

    // MARK: Constants

    private static func constant(_ value: ArchivedValue, _ depth: Int) throws -> String {
        switch value {
        case .null: return "nil"
        case .bool(let value): return value ? "YES" : "NO"
        case .integer(let value): return String(value)
        case .real(let value): return value.isFinite ? value.description : "CAST(\"\(value)\", \"NSNumber\")"
        case .date(let seconds): return "CAST(\(seconds), \"NSDate\")"
        case .data(let data): return "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
        case .string(let text): return QuotedText.of(text)
        case .list: throw ArchiveError("a constant is no value")
        case .object(let object): return try constant(object, depth)
        }
    }

    private static func constant(_ object: ArchivedObject, _ depth: Int) throws -> String {
        if ["NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet"].contains(object.className) {
            guard depth < ArchivedPredicate.maximumDepth else { throw ArchiveError("a constant is nested too deeply") }
            var texts: [String] = []
            for element in try object.elements() { texts.append(try constant(element, depth + 1)) }
            return "{\(texts.joined(separator: ", "))}"
        }
        guard let value = try ArchivedConstants.value(.object(object)) else {
            throw ArchiveError("a constant of the class \(object.className) has no text")
        }
        switch value {
        case .string(let text) where object.className == "NSUUID": return "CAST(\"\(text)\", \"NSUUID\")"
        case .string(let text) where object.className == "NSURL": return "CAST(\(QuotedText.of(text)), \"NSURL\")"
        case .string(let text): return QuotedText.of(text)
        case .decimal(let text): return "CAST(\"\(text)\", \"NSDecimalNumber\")"
        case .date(let seconds): return "CAST(\(seconds), \"NSDate\")"
        case .data(let data): return "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
        case .integer(let number): return String(number)
        case .real(let number): return number.description
        case .boolean(let flag): return flag ? "YES" : "NO"
        case .array, .dictionary: throw ArchiveError("a constant of the class \(object.className) has no text")
        }
    }
}
