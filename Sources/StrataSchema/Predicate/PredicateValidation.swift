import Foundation

/// Looks for what a predicate from outside the program must not have.
package struct PredicateValidation {
    /// What is wrong, and the text to look for in the format.
    package struct Problem: Error {
        package let reason: String
        package let near: String
    }

    private let allowed: PredicateFeatures
    private var variables: Set<String> = []

    package init(allowing allowed: PredicateFeatures) {
        self.allowed = allowed
    }

    package func check(_ predicate: NSPredicate) throws(Problem) {
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
