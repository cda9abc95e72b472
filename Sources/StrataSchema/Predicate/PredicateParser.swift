import Foundation
import StrataSupport

/// Reads the predicate language.
///
/// A precedence-climbing parser over one stream of tokens, without backtracking: whether a parenthesis holds a
/// predicate or an expression is known when it is read. Time is linear in the string; recursion and the depth of the
/// tree are limited.
package struct PredicateParser {
    /// What a piece of text turned out to be.
    enum Node {
        case expression(NSExpression)
        case predicate(NSPredicate)
    }

    /// How tightly infix operators bind, loosest first.
    enum Precedence: Int, Comparable {
        case or, and, comparison, set, bitOr, bitXor, bitAnd, shift, sum, product, power, operand

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    private enum Infix {
        case logical(NSCompoundPredicate.LogicalType)
        case comparison(NSComparisonPredicate.Operator)
        case set(NSExpression.ExpressionType)
        case function(String)
    }

    var lexer: PredicateLexer
    var token = PredicateToken.end
    /// The byte offset at which `token` starts.
    var tokenStart = 0
    var nesting = 0
    private let arguments: [Any?]
    private var argumentCount = 0
    /// Whether placeholders stay places for arguments.
    let isTemplate: Bool

    private init(
        _ format: String, _ arguments: [Any?], isTemplate: Bool = false
    ) throws(PredicateFormatError) {
        self.isTemplate = isTemplate
        lexer = try PredicateLexer(format)
        self.arguments = arguments
        try advance()
    }

    // MARK: Entry points

    package static func predicate(_ format: String, _ arguments: [Any?]) throws(PredicateFormatError) -> NSPredicate {
        if let known = FormatCache.predicate(format, arguments) { return known }
        var parser = try PredicateParser(format, arguments)
        return try parser.parsedWhole()
    }

    /// The predicate of a format with a ``FormatPlace`` for each placeholder.
    static func template(
        _ format: String
    ) throws(PredicateFormatError) -> (predicate: NSPredicate, argumentCount: Int) {
        var parser = try PredicateParser(format, [], isTemplate: true)
        return (try parser.parsedWhole(), parser.argumentCount)
    }

    private mutating func parsedWhole() throws(PredicateFormatError) -> NSPredicate {
        let predicate = try parsePredicate(.or)
        try requireEnd()
        return predicate
    }

    static func expression(_ format: String, _ arguments: [Any?]) throws(PredicateFormatError) -> NSExpression {
        var parser = try PredicateParser(format, arguments)
        let expression = try parser.parseExpression(.or)
        try parser.requireEnd()
        return expression
    }

    /// As `predicate`, but a faulty string stops the program, with the reason in release builds too.
    static func parsedPredicate(_ format: String, _ arguments: [Any?]) -> NSPredicate {
        do {
            return try predicate(format, arguments)
        } catch {
            programmerError(
                "NSPredicate(format:)", "\(error)",
                "Correct the format; read strings from outside the program with NSPredicate(validating:)")
        }
    }

    /// As `expression`, but a faulty string stops the program, with the reason in release builds too.
    static func parsedExpression(_ format: String, _ arguments: [Any?]) -> NSExpression {
        do {
            return try expression(format, arguments)
        } catch {
            programmerError(
                "NSPredicate(format:)", "\(error)",
                "Correct the format; read strings from outside the program with NSPredicate(validating:)")
        }
    }

    // MARK: Tokens

    mutating func advance() throws(PredicateFormatError) {
        lexer.skipSpace()
        tokenStart = lexer.index
        token = try lexer.next()
    }

    mutating func take(_ symbol: PredicateToken.Symbol) throws(PredicateFormatError) -> Bool {
        guard token == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ symbol: PredicateToken.Symbol) throws(PredicateFormatError) {
        guard try take(symbol) else {
            throw fail("'\(symbol.rawValue)' was expected, not \(token.name)")
        }
    }

    func fail(_ reason: String, at offset: Int? = nil) -> PredicateFormatError {
        lexer.fail(reason, at: offset ?? tokenStart)
    }

    private func requireEnd() throws(PredicateFormatError) {
        guard token == .end else { throw fail("\(token.name) was not expected") }
    }

    /// The place of the placeholder that is the current token, of a template.
    mutating func nextPlaceholder(_ kind: PredicateToken.Placeholder) -> FormatPlace {
        defer { argumentCount += 1 }
        return FormatPlace(number: argumentCount, kind: kind)
    }

    /// The argument of the placeholder that is the current token.
    mutating func nextArgument() throws(PredicateFormatError) -> Any? {
        guard argumentCount < arguments.count else {
            throw fail("Argument \(argumentCount + 1) is missing")
        }
        defer { argumentCount += 1 }
        return AnyElements.plain(arguments[argumentCount])
    }

    // MARK: Results

    /// Reads what has to be a predicate.
    mutating func parsePredicate(_ minimum: Precedence) throws(PredicateFormatError) -> NSPredicate {
        let start = tokenStart
        let node = try parse(minimum)
        return try requirePredicate(node, at: start)
    }

    /// Reads what has to be a value.
    mutating func parseExpression(_ minimum: Precedence) throws(PredicateFormatError) -> NSExpression {
        let start = tokenStart
        let node = try parse(minimum)
        return try requireExpression(node, at: start)
    }

    private func requirePredicate(_ node: Node, at start: Int) throws(PredicateFormatError) -> NSPredicate {
        switch node {
        case .predicate(let predicate): return predicate
        case .expression(let expression):
            // A call of an object's own function is allowed to stand alone: its answer is the truth value.
            if case .function(_?, _, _) = expression.form {
                return try comparison(expression, NSExpression(forConstantValue: true), .equalTo, [], at: start)
            }
            throw fail("A comparison was expected, not \(token.name)")
        }
    }

    private func requireExpression(_ node: Node, at start: Int) throws(PredicateFormatError) -> NSExpression {
        guard case .expression(let expression) = node else {
            throw fail("A value was expected, not a predicate", at: start)
        }
        return expression
    }

    /// Makes an expression, within the depth limit.
    func make(_ form: ExpressionForm, at start: Int) throws(PredicateFormatError) -> NSExpression {
        let expression = NSExpression(form: form)
        try checkDepth(expression.depth, at: start)
        return expression
    }

    func checkDepth(_ depth: Int, at start: Int) throws(PredicateFormatError) {
        guard depth <= PredicateFormatError.maximumDepth else {
            throw fail("The nesting is deeper than \(PredicateFormatError.maximumDepth) levels", at: start)
        }
    }

    private func comparison(
        _ left: NSExpression, _ right: NSExpression, _ type: NSComparisonPredicate.Operator,
        _ options: NSComparisonPredicate.Options, at start: Int
    ) throws(PredicateFormatError) -> NSPredicate {
        let predicate = NSComparisonPredicate(left, right, .direct, type, options, nil)
        try checkDepth(predicate.depth, at: start)
        return predicate
    }

    // MARK: Operators

    /// Reads everything that binds at least as tightly as `minimum`.
    mutating func parse(_ minimum: Precedence) throws(PredicateFormatError) -> Node {
        let start = tokenStart
        var left = try parsePrefix()
        while let (infix, precedence) = infixOperator(), precedence >= minimum {
            switch infix {
            case .logical(let type):
                left = .predicate(try parseChain(left, type, precedence, from: start))
            case .comparison(let type):
                let leftExpression = try requireExpression(left, at: start)
                try advance()
                let options = try parseOptions()
                let right = try parseExpression(.set)
                left = .predicate(try comparison(leftExpression, right, type, options, at: start))
            case .set(let type):
                let leftExpression = try requireExpression(left, at: start)
                let right = try parseRight(precedence)
                left = .expression(try make(.set(type, leftExpression, right), at: start))
            case .function(let name):
                let leftExpression = try requireExpression(left, at: start)
                let right = try parseRight(precedence)
                let form = ExpressionForm.function(target: nil, name: name, arguments: [leftExpression, right])
                left = .expression(try make(form, at: start))
            }
        }
        return left
    }

    /// The right operand of a left-associative operator, which is the current token.
    private mutating func parseRight(_ precedence: Precedence) throws(PredicateFormatError) -> NSExpression {
        try advance()
        return try parseExpression(Precedence(rawValue: precedence.rawValue + 1) ?? .operand)
    }

    /// `a AND b AND c` becomes one predicate of three parts.
    private mutating func parseChain(
        _ first: Node, _ type: NSCompoundPredicate.LogicalType, _ precedence: Precedence, from start: Int
    ) throws(PredicateFormatError) -> NSPredicate {
        var parts = [try requirePredicate(first, at: start)]
        let tighter: Precedence = precedence == .or ? .and : .comparison
        while case (.logical(type), _)? = infixOperator() {
            try advance()
            parts.append(try parsePredicate(tighter))
        }
        let predicate = CompoundPredicate(type: type, subpredicates: parts)
        try checkDepth(predicate.depth, at: start)
        return predicate
    }

    private func infixOperator() -> (Infix, Precedence)? {
        switch token {
        case .symbol(let symbol): return Self.symbols[symbol]
        case .word(let word):
            let word = word.uppercased()
            if word == "AND" { return (.logical(.and), .and) }
            if word == "OR" { return (.logical(.or), .or) }
            if let type = PredicateKeyword.comparisons[word] { return (.comparison(type), .comparison) }
            if let type = PredicateKeyword.setOperations[word] { return (.set(type), .set) }
            return nil
        default: return nil
        }
    }

    private static let symbols: [PredicateToken.Symbol: (Infix, Precedence)] = [
        .and: (.logical(.and), .and), .or: (.logical(.or), .or),
        .equal: (.comparison(.equalTo), .comparison), .notEqual: (.comparison(.notEqualTo), .comparison),
        .less: (.comparison(.lessThan), .comparison), .lessOrEqual: (.comparison(.lessThanOrEqualTo), .comparison),
        .greater: (.comparison(.greaterThan), .comparison),
        .greaterOrEqual: (.comparison(.greaterThanOrEqualTo), .comparison),
        .bitOr: (.function("bitwiseOr:with:"), .bitOr), .bitXor: (.function("bitwiseXor:with:"), .bitXor),
        .bitAnd: (.function("bitwiseAnd:with:"), .bitAnd), .shiftLeft: (.function("leftshift:by:"), .shift),
        .shiftRight: (.function("rightshift:by:"), .shift), .plus: (.function("add:to:"), .sum),
        .minus: (.function("from:subtract:"), .sum), .times: (.function("multiply:by:"), .product),
        .divide: (.function("divide:by:"), .product), .power: (.function("raise:toPower:"), .power),
    ]

    /// `[cd]` after an operator, if it is there.
    private mutating func parseOptions() throws(PredicateFormatError) -> NSComparisonPredicate.Options {
        guard try take(.openBracket) else { return [] }
        guard case .word(let letters) = token else {
            throw fail("Options such as 'cd' were expected, not \(token.name)")
        }
        var options: NSComparisonPredicate.Options = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": options.insert(.normalized)
            case "l": options.insert(.localeSensitive)
            default: throw fail("'\(letter)' is no option; c, d, n and l are")
            }
        }
        try advance()
        try expect(.closeBracket)
        return options
    }
}
