import Foundation

/// Writes predicates without the user's values: `?` stands in the place of every constant.
package enum PredicateRedaction {
    /// Nothing that the parser reads: no variable of a user's has that name.
    private static let name = "?"

    /// - Complexity: O(n) in the size of the predicate.
    package static func text(_ predicate: NSPredicate) -> String {
        PredicatePrinter.text(redacted(predicate)).replacing("$" + name, with: name)
    }

    package static func text(_ expression: NSExpression) -> String {
        ExpressionPrinter.text(redacted(expression)).replacing("$" + name, with: name)
    }

    private static var hidden: NSExpression { NSExpression(form: .variable(name)) }

    private static func redacted(_ predicate: NSPredicate) -> NSPredicate {
        let predicate = predicate.canonical
        // What is too deep to be rebuilt is not shown at all.
        if predicate.nodeDepth > PredicateFormatError.maximumDepthOfObjects {
            return NSComparisonPredicate(hidden, hidden, .direct, .equalTo, [], nil, isBounded: false)
        }
        switch predicate {
        case let comparison as NSComparisonPredicate:
            return NSComparisonPredicate(
                redacted(comparison.leftExpression), redacted(comparison.rightExpression),
                comparison.comparisonPredicateModifier, comparison.predicateOperatorType, comparison.options,
                comparison.customSelector, isBounded: false)
        case let compound as CompoundPredicate:
            return CompoundPredicate(
                type: compound.compoundPredicateType, subpredicates: compound.children.map { redacted($0) })
        default: return predicate
        }
    }

    private static func redacted(_ expression: NSExpression) -> NSExpression {
        if expression.depth > PredicateFormatError.maximumDepthOfObjects { return hidden }
        switch expression.form {
        // How many values a list has would make a text of its own of each request.
        case .constant, .aggregate: return hidden
        case .evaluatedObject, .anyKey, .variable, .keyPath(nil, _): return expression
        case .keyPath(let operand?, let path):
            return NSExpression(form: .keyPath(operand: redacted(operand), path: path))
        case .function(let target, let name, let arguments):
            return NSExpression(
                form: .function(target: target.map { redacted($0) }, name: name, arguments: arguments.map(redacted)))
        case .set(let type, let left, let right): return NSExpression(form: .set(type, redacted(left), redacted(right)))
        case .subquery(let collection, let variable, let predicate):
            return NSExpression(form: .subquery(redacted(collection), variable, redacted(predicate)))
        case .conditional(let predicate, let first, let second):
            return NSExpression(form: .conditional(redacted(predicate), redacted(first), redacted(second)))
        case .block(let block, let arguments): return NSExpression(form: .block(block, arguments.map(redacted)))
        case .fetch: return hidden
        }
    }
}
