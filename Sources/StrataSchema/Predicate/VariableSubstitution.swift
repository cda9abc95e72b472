import Foundation

/// Replaces variables by values throughout a predicate.
struct VariableSubstitution {
    private let variables: [String: Any]

    init(_ variables: [String: Any]) {
        self.variables = variables
    }

    func apply(to predicate: NSPredicate) -> NSPredicate {
        let predicate = predicate.canonical
        // Its parts are gone; built anew it would no longer be deep, and hold.
        if predicate.nodeDepth > PredicateFormatError.maximumDepthOfObjects { return predicate }
        switch predicate {
        case let comparison as NSComparisonPredicate:
            return NSComparisonPredicate(
                apply(to: comparison.leftExpression), apply(to: comparison.rightExpression),
                comparison.comparisonPredicateModifier, comparison.predicateOperatorType, comparison.options,
                comparison.customSelector, isBounded: comparison.isBounded)
        case let compound as CompoundPredicate:
            let children = compound.children.map { apply(to: $0) }
            let substituted = CompoundPredicate(type: compound.compoundPredicateType, subpredicates: children)
            return compound.isBounded ? substituted.bounded : substituted
        default:
            return predicate
        }
    }

    func apply(to expression: NSExpression) -> NSExpression {
        if expression.depth > PredicateFormatError.maximumDepthOfObjects { return expression }
        switch expression.form {
        case .constant, .evaluatedObject, .anyKey, .keyPath(nil, _):
            return expression
        case .variable(let name):
            return variables[name].map(NSExpression.wrapping) ?? expression
        case .keyPath(let operand?, let path):
            return NSExpression(form: .keyPath(operand: apply(to: operand), path: path))
        case .function(let target, let name, let arguments):
            let target = target.map { apply(to: $0) }
            return NSExpression(form: .function(target: target, name: name, arguments: arguments.map { apply(to: $0) }))
        case .aggregate(let elements):
            return NSExpression(form: .aggregate(elements.map { apply(to: $0) }))
        case .set(let type, let left, let right):
            return NSExpression(form: .set(type, apply(to: left), apply(to: right)))
        case .subquery(let collection, let variable, let predicate):
            // The subquery's own variable hides an outer one of the same name.
            var inner = variables
            inner[variable] = nil
            let predicate = VariableSubstitution(inner).apply(to: predicate)
            return NSExpression(form: .subquery(apply(to: collection), variable, predicate))
        case .conditional(let predicate, let first, let second):
            return NSExpression(form: .conditional(apply(to: predicate), apply(to: first), apply(to: second)))
        case .block(let block, let arguments):
            return NSExpression(form: .block(block, arguments.map { apply(to: $0) }))
        case .fetch(let request, let context, let countOnly):
            return NSFetchRequestExpression(
                form: .fetch(request: apply(to: request), context: apply(to: context), countOnly: countOnly))
        }
    }
}
