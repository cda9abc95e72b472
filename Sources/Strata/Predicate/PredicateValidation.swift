import Foundation
import StrataIO

/// Looks for what a predicate from outside the program must not have.
struct PredicateValidation {
    /// What is wrong, and the text to look for in the format.
    struct Problem: Error {
        let reason: String
        let near: String
    }

    private let allowed: PredicateFeatures
    private var variables: Set<String> = []

    init(allowing allowed: PredicateFeatures) {
        self.allowed = allowed
    }

    func check(_ predicate: NSPredicate) throws(Problem) {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            if comparison.predicateOperatorType == .matches { try checkPattern(comparison) }
            try check(comparison.leftExpression)
            try check(comparison.rightExpression)
        case let compound as NSCompoundPredicate:
            for part in compound.subpredicates { try check(part) }
        default: return
        }
    }

    private func checkPattern(_ comparison: NSComparisonPredicate) throws(Problem) {
        try require(.regularExpressions, "MATCHES", "MATCHES")
        guard case .constant(let value) = comparison.rightExpression.form, case .string(let text) = Operand(value)
        else { throw Problem(reason: "MATCHES needs a pattern", near: "MATCHES") }
        if StringMatching.regularExpression(text, comparison.options) == nil {
            throw Problem(reason: "The pattern of MATCHES is no regular expression", near: text)
        }
    }

    private func require(_ feature: PredicateFeatures, _ name: String, _ near: String) throws(Problem) {
        if !allowed.contains(feature) { throw Problem(reason: "\(name) is not allowed here", near: near) }
    }

    private func check(_ expression: NSExpression) throws(Problem) {
        switch expression.form {
        case .constant, .evaluatedObject, .anyKey: return
        case .keyPath(let operand, _):
            if let operand { try check(operand) }
        case .variable(let name):
            if !variables.contains(name) { try require(.variables, "The variable $\(name)", "$" + name) }
        case .function(let target, let name, let arguments):
            try checkFunction(target, name)
            for argument in arguments { try check(argument) }
        case .aggregate(let elements): for element in elements { try check(element) }
        case .set(_, let left, let right):
            try check(left)
            try check(right)
        case .subquery(let collection, let variable, let predicate):
            try check(collection)
            var inner = self
            inner.variables.insert(variable)
            try inner.check(predicate)
        case .conditional(let predicate, let first, let second):
            try check(predicate)
            try check(first)
            try check(second)
        case .block: throw Problem(reason: "A block is not allowed here", near: "")
        case .fetch: try require(.fetches, "FETCH", "FETCH")
        }
    }

    private func checkFunction(_ target: NSExpression?, _ name: String) throws(Problem) {
        if let target {
            try require(.functions, "FUNCTION", "FUNCTION")
            return try check(target)
        }
        if name == "castObject:toType:" { return try require(.casts, "CAST", "CAST") }
        guard PredicateFunction.isKnown(name) else {
            let plain = name.replacingOccurrences(of: ":", with: "")
            let near = Suggestion.text(for: name, among: PredicateFunction.names)
            throw Problem(reason: "There is no function \(name)\(near)", near: plain)
        }
    }
}

extension FormatPredicateFactory {
    /// A predicate from a string that a user has written.
    ///
    /// Never stops the program, whatever the string, and lets through only what compares properties with constants and
    /// with each other, and the built-in functions. The string may have `PredicateFormatError.maximumLengthBytes` bytes
    /// and nest `PredicateFormatError.maximumDepth` levels. Constants that `CAST` would have to make (dates, UUIDs) come
    /// as arguments, or `features` has `.casts`.
    ///
    ///     let predicate = try NSPredicate(validating: text, for: Employee.entity())
    ///
    /// - Parameters:
    ///   - format: the notation, as for `NSPredicate(format:)`.
    ///   - arguments: one value for each placeholder. A string with more placeholders than that is refused: pass none
    ///     where a user writes the whole string.
    ///   - entity: with one, of a model, the predicate also is what a fetch for it checks: keys that the entity does not
    ///     have, and constants of types that cannot be compared with a property, are refused. The model cannot be changed
    ///     after that.
    ///   - features: what the string may use in addition.
    /// - Throws: `PredicateFormatError` with the position and the reason.
    /// - Complexity: O(n) in the length of the string.
    public init(
        validating format: String, arguments: [Any?] = [], for entity: NSEntityDescription? = nil,
        allowing features: PredicateFeatures = []
    ) throws(PredicateFormatError) {
        let parsed = try PredicateParser.predicate(format, arguments)
        do throws(PredicateValidation.Problem) {
            try PredicateValidation(allowing: features).check(parsed)
        } catch {
            throw PredicateFormatError(format, error.reason, near: error.near)
        }
        var predicate = parsed
        if let entity {
            do {
                let shape = EntityShape.of(entity)
                try KeyPathChecker(shape, allowsVariables: features.contains(.variables)).check(parsed)
                predicate = try ConstantTypes(shape).apply(to: parsed)
            } catch {
                let text = (error as NSError).localizedDescription
                throw PredicateFormatError(format, text, near: Self.firstQuoted(text, in: format))
            }
        }
        guard let made = predicate as? Self else {
            programmerError(
                "\(Self.self)", "a subclass of NSPredicate cannot be made from a format", "Create an NSPredicate")
        }
        self = made
    }

    /// The word of a message that the string has, too: what it is about.
    private static func firstQuoted(_ text: String, in format: String) -> String {
        let words = text.split { !$0.isLetter && !$0.isNumber && !"._$".contains($0) }
        for word in words {
            // Names of properties are said with their entity.
            let name = word.split(separator: ".").dropFirst().last.map { String($0) }
            if format.contains(word), word.count > 1 { return String(word) }
            if let name, format.contains(name) { return name }
        }
        return ""
    }
}

extension PredicateFormatError {
    /// An error at the first place where the string has a text; at the beginning if it has not.
    fileprivate init(_ format: String, _ reason: String, near text: String) {
        let range = text.isEmpty ? nil : format.range(of: text, options: .caseInsensitive)
        let position = range.map { format.unicodeScalars.distance(from: format.startIndex, to: $0.lowerBound) } ?? 0
        // A sentence without a full stop.
        self.init(
            format: format, position: position, reason: reason.hasSuffix(".") ? String(reason.dropLast()) : reason)
    }
}
