import Foundation

extension PredicateParser {
    // MARK: Prefixes

    /// Reads an operand with what precedes and follows it: `NOT`, `ANY`, a sign; `.key`, `[index]`.
    mutating func parsePrefix() throws(PredicateFormatError) -> Node {
        nesting += 1
        defer { nesting -= 1 }
        try checkDepth(nesting - 1, at: tokenStart)
        let start = tokenStart
        switch token {
        case .symbol(.not):
            return try parseNot(at: start)
        case .symbol(.minus):
            return .expression(try parseNegative(at: start))
        case .symbol(.bitNot):
            try advance()
            let form = ExpressionForm.function(
                target: nil, name: "onesComplement:", arguments: [try parseExpression(.operand)])
            return .expression(try make(form, at: start))
        case .symbol(.openParenthesis):
            try advance()
            let inner = try parse(.or)
            try expect(.closeParenthesis)
            guard case .expression(let expression) = inner else { return inner }
            return .expression(try parsePostfix(expression, at: start))
        case .word(let word):
            return try parseWord(word, at: start)
        default:
            return try parseAtom(at: start)
        }
    }

    private mutating func parseNot(at start: Int) throws(PredicateFormatError) -> Node {
        try advance()
        let operand = try parsePredicate(.comparison)
        return .predicate(try negated(operand, at: start))
    }

    private func negated(_ predicate: NSPredicate, at start: Int) throws(PredicateFormatError) -> NSPredicate {
        let result = CompoundPredicate(type: .not, subpredicates: [predicate])
        try checkDepth(result.depth, at: start)
        return result
    }

    /// A minus sign is part of a literal, and a subtraction from zero before anything else.
    private mutating func parseNegative(at start: Int) throws(PredicateFormatError) -> NSExpression {
        try advance()
        switch token {
        case .integer(let magnitude):
            try advance()
            let value: Any = Int64(exactly: magnitude).map { Int(-$0) } ?? -Double(magnitude)
            let isMinimum = magnitude == Int64.min.magnitude
            return try parsePostfix(NSExpression(forConstantValue: isMinimum ? Int.min : value), at: start)
        case .double(let value):
            try advance()
            return try parsePostfix(NSExpression(forConstantValue: -value), at: start)
        default:
            let operand = try parseExpression(.operand)
            let zero = NSExpression(forConstantValue: 0)
            return try make(.function(target: nil, name: "from:subtract:", arguments: [zero, operand]), at: start)
        }
    }

    /// `ANY`, `ALL` and `NONE` change the comparison that follows.
    private mutating func parseModified(_ word: String, at start: Int) throws(PredicateFormatError) -> Node {
        try advance()
        let operandStart = tokenStart
        guard case .predicate(let predicate) = try parse(.comparison),
            let comparison = predicate as? NSComparisonPredicate, comparison.comparisonPredicateModifier == .direct
        else { throw fail("\(word) needs one comparison after it", at: operandStart) }
        let modified = NSComparisonPredicate(
            comparison.leftExpression, comparison.rightExpression, word == "ALL" ? .all : .any,
            comparison.predicateOperatorType, comparison.options, nil)
        return .predicate(word == "NONE" ? try negated(modified, at: start) : modified)
    }

    // MARK: Words

    private mutating func parseWord(_ word: String, at start: Int) throws(PredicateFormatError) -> Node {
        let keyword = word.uppercased()
        switch keyword {
        case "NOT": return try parseNot(at: start)
        case "ANY", "SOME", "ALL", "NONE": return try parseModified(keyword, at: start)
        case "TRUEPREDICATE", "FALSEPREDICATE":
            try advance()
            return .predicate(NSPredicate(value: keyword == "TRUEPREDICATE"))
        default: break
        }
        try advance()
        let form: ExpressionForm
        switch keyword {
        case "TRUE", "YES": form = .constant(true)
        case "FALSE", "NO": form = .constant(false)
        case "NIL", "NULL": form = .constant(nil)
        case "SELF": form = .evaluatedObject
        case "ANYKEY": form = .anyKey
        default:
            guard !PredicateKeyword.cannotBeKey(keyword) else { throw fail("\(word) was not expected", at: start) }
            if token == .symbol(.openParenthesis) {
                return .expression(try parsePostfix(parseCall(word, keyword, at: start), at: start))
            }
            form = .keyPath(operand: nil, path: KeyPathComponents(word))
        }
        return .expression(try parsePostfix(make(form, at: start), at: start))
    }

    // MARK: Atoms

    private mutating func parseAtom(at start: Int) throws(PredicateFormatError) -> Node {
        let form: ExpressionForm
        switch token {
        case .integer(let value):
            form = .constant(Int(exactly: value) ?? Double(value))
        case .double(let value): form = .constant(value)
        case .string(let value): form = .constant(value)
        case .variable(let name): form = .variable(name)
        case .key(let name): form = .keyPath(operand: nil, path: KeyPathComponents(name))
        case .symbol(.openBrace): return .expression(try parsePostfix(parseAggregate(at: start), at: start))
        case .selector(let name):
            try advance()
            return .expression(try parsePostfix(parseCall(name, name, at: start), at: start))
        case .placeholder(let kind):
            let node = try parsePlaceholder(kind)
            try advance()
            guard case .expression(let expression) = node else { return node }
            try checkDepth(expression.depth, at: start)
            return .expression(try parsePostfix(expression, at: start))
        default:
            throw fail("A value was expected, not \(token.name)")
        }
        try advance()
        return .expression(try parsePostfix(make(form, at: start), at: start))
    }

    private mutating func parsePlaceholder(_ kind: PredicateToken.Placeholder) throws(PredicateFormatError) -> Node {
        if isTemplate { return .expression(nextPlaceholder(kind)) }
        let value = try nextArgument()
        switch kind {
        case .object:
            if let value, AnyElements.isInstance(value), let predicate = value as? NSPredicate {
                let predicate = CompoundPredicate.canonical(predicate)
                try checkDepth(predicate.nodeDepth, at: tokenStart)
                return .predicate(predicate)
            }
            return .expression(value.map(NSExpression.wrapping) ?? NSExpression(forConstantValue: nil))
        case .key:
            guard let name = value as? String, !KeyPathComponents(name).names.isEmpty else {
                let found = value.map { String(describing: $0) } ?? "nil"
                throw fail("The argument for %K has to be a key path, not \(found)")
            }
            return .expression(NSExpression(forKeyPath: name))
        case .integer:
            guard let number = Arithmetic(value) else { throw notANumber(value) }
            let whole = number.integerValue.map { Int($0) as Any }
            return .expression(NSExpression(forConstantValue: whole ?? number.anyValue))
        case .double:
            guard let number = Arithmetic(value) else { throw notANumber(value) }
            return .expression(NSExpression(forConstantValue: number.doubleValue))
        case .text:
            guard case .string(let text) = Operand(value) else { throw fail("The argument for %s has to be a string") }
            return .expression(NSExpression(forConstantValue: text))
        }
    }

    private func notANumber(_ value: Any?) -> PredicateFormatError {
        fail("The argument has to be a number, not \(value.map { String(describing: $0) } ?? "nil")")
    }

    private mutating func parseAggregate(at start: Int) throws(PredicateFormatError) -> NSExpression {
        try advance()
        let elements = try parseList(until: .closeBrace)
        return try make(.aggregate(elements), at: start)
    }

    /// Expressions separated by commas up to and including the closing symbol.
    mutating func parseList(until close: PredicateToken.Symbol) throws(PredicateFormatError) -> [NSExpression] {
        var elements: [NSExpression] = []
        if try take(close) { return elements }
        repeat {
            elements.append(try parseExpression(.set))
        } while try take(.comma)
        try expect(close)
        return elements
    }

    // MARK: What follows an operand

    private mutating func parsePostfix(
        _ first: NSExpression, at start: Int
    ) throws(PredicateFormatError) -> NSExpression {
        var expression = first
        while true {
            if try take(.dot) {
                expression = try parseKeyPath(from: expression, at: start)
            } else if token == .symbol(.openBracket) {
                try advance()
                expression = try parseIndex(of: expression, at: start)
            } else {
                return expression
            }
        }
    }

    private mutating func parseKeyPath(
        from start: NSExpression, at offset: Int
    ) throws(PredicateFormatError) -> NSExpression {
        var names: [String] = []
        repeat {
            switch token {
            case .word(let name), .key(let name): names.append(name)
            case .placeholder(.key), .placeholder(.object):
                guard let name = try nextArgument() as? String, !KeyPathComponents(name).names.isEmpty else {
                    throw fail("The argument after '.' has to be a key path")
                }
                names.append(name)
            default: throw fail("A key was expected after '.', not \(token.name)")
            }
            try advance()
        } while try take(.dot)
        let path = names.joined(separator: ".")
        switch start.form {
        case .evaluatedObject:
            return try make(.keyPath(operand: nil, path: KeyPathComponents(path)), at: offset)
        case .keyPath(let operand, let first):
            return try make(.keyPath(operand: operand, path: KeyPathComponents(first.text + "." + path)), at: offset)
        default:
            return try make(.keyPath(operand: start, path: KeyPathComponents(path)), at: offset)
        }
    }

    private mutating func parseIndex(
        of collection: NSExpression, at start: Int
    ) throws(PredicateFormatError) -> NSExpression {
        let index: NSExpression
        if case .word(let word) = token, let marker = PredicateMethod.IndexMarker(rawValue: word.uppercased()) {
            try advance()
            index = NSExpression(form: .constant(marker))
        } else {
            index = try parseExpression(.set)
        }
        try expect(.closeBracket)
        let arguments = [collection, index]
        return try make(.function(target: nil, name: "objectFrom:withIndex:", arguments: arguments), at: start)
    }
}
