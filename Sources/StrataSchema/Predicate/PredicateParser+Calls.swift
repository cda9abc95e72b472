import Foundation

extension PredicateParser {
    /// Reads a call; the current token is the opening parenthesis after its name.
    mutating func parseCall(
        _ name: String, _ keyword: String, at start: Int
    ) throws(PredicateFormatError) -> NSExpression {
        try expect(.openParenthesis)
        switch keyword {
        case "SUBQUERY": return try parseSubquery(at: start)
        case "TERNARY": return try parseTernary(at: start)
        case "CAST", "castObject:toType:": return try parseCast(at: start)
        case "FUNCTION": return try parseFunction(at: start)
        case "FETCH": return try parseFetch(at: start)
        default:
            let arguments = try parseList(until: .closeParenthesis)
            let name = PredicateFunction.canonicalName(name)
            return try make(.function(target: nil, name: name, arguments: arguments), at: start)
        }
    }

    private mutating func parseSubquery(at start: Int) throws(PredicateFormatError) -> NSExpression {
        let collection = try parseExpression(.set)
        try expect(.comma)
        guard case .variable(let variable) = token else {
            throw fail("SUBQUERY needs a variable such as $x, not \(token.name)")
        }
        try advance()
        try expect(.comma)
        let predicate = try parsePredicate(.or)
        try expect(.closeParenthesis)
        return try make(.subquery(collection, variable, predicate), at: start)
    }

    private mutating func parseTernary(at start: Int) throws(PredicateFormatError) -> NSExpression {
        let predicate = try parsePredicate(.or)
        try expect(.comma)
        let branches = try parseList(until: .closeParenthesis)
        guard branches.count == 2 else { throw fail("TERNARY needs a predicate and two values", at: start) }
        return try make(.conditional(predicate, branches[0], branches[1]), at: start)
    }

    private mutating func parseCast(at start: Int) throws(PredicateFormatError) -> NSExpression {
        let arguments = try parseList(until: .closeParenthesis)
        guard arguments.count == 2 else { throw fail("CAST needs a value and the name of a type", at: start) }
        if case .constant(let value?) = arguments[0].form, case .constant(let type as String) = arguments[1].form,
            let literal = PredicateCast.literal(value, type)
        {
            return NSExpression(forConstantValue: literal)
        }
        return try make(.function(target: nil, name: "castObject:toType:", arguments: arguments), at: start)
    }

    private mutating func parseFunction(at start: Int) throws(PredicateFormatError) -> NSExpression {
        let arguments = try parseList(until: .closeParenthesis)
        guard arguments.count >= 2, case .constant(let name as String) = arguments[1].form else {
            throw fail("FUNCTION needs a value and the name of a function", at: start)
        }
        let target = arguments[0]
        if name == "valueForKeyPath:", arguments.count == 3,
            case .constant(let path as String) = arguments[2].form, !KeyPathComponents(path).names.isEmpty
        {
            var operand: NSExpression? = target
            if case .evaluatedObject = target.form { operand = nil }
            return try make(.keyPath(operand: operand, path: KeyPathComponents(path)), at: start)
        }
        return try make(.function(target: target, name: name, arguments: Array(arguments.dropFirst(2))), at: start)
    }

    private mutating func parseFetch(at start: Int) throws(PredicateFormatError) -> NSExpression {
        let arguments = try parseList(until: .closeParenthesis)
        guard arguments.count == 3, case .constant(let flag) = arguments[2].form, let flag = Arithmetic(flag) else {
            throw fail("FETCH needs a request, a context and YES or NO", at: start)
        }
        let expression = NSFetchRequestExpression(
            form: .fetch(request: arguments[0], context: arguments[1], countOnly: flag.doubleValue != 0))
        try checkDepth(expression.depth, at: start)
        return expression
    }
}
