import Foundation

/// Brings a request's predicate into the form that rows are tested with.
///
/// Objects become their IDs, so that the predicate can be evaluated on any thread; fetches in it, `now()` and paths
/// that start at a constant are evaluated once instead of once a row.
struct ConstantFolding {
    /// Whether something was met that rows cannot answer, only objects.
    private(set) var needsObjects = false

    mutating func apply(to predicate: NSPredicate) -> NSPredicate {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            if comparison.customSelector != nil { needsObjects = true }
            return NSComparisonPredicate(
                apply(to: comparison.leftExpression), apply(to: comparison.rightExpression),
                comparison.comparisonPredicateModifier, comparison.predicateOperatorType, comparison.options,
                comparison.customSelector)
        case let compound as NSCompoundPredicate:
            return CompoundPredicate(
                type: compound.compoundPredicateType, subpredicates: compound.subpredicates.map { apply(to: $0) })
        default:
            let format = predicate.formatString
            // Blocks and subclasses of the program's own.
            if format != "TRUEPREDICATE" && format != "FALSEPREDICATE" { needsObjects = true }
            return predicate
        }
    }

    mutating func apply(to expression: NSExpression) -> NSExpression {
        switch expression.form {
        case .constant(let value): return Self.constant(value) ?? expression
        case .evaluatedObject, .anyKey, .variable, .keyPath(nil, _): return expression
        case .keyPath(let operand?, let path):
            // Before it becomes an ID, which has no properties.
            if case .constant(let value) = operand.form {
                let value = KeyValueAccess.value(of: value, path: path)
                return Self.constant(value) ?? NSExpression(form: .constant(value))
            }
            return NSExpression(form: .keyPath(operand: apply(to: operand), path: path))
        case .function(nil, "now", _): return NSExpression(form: .constant(Date()))
        case .function(let target, let name, let arguments):
            if target != nil { needsObjects = true }
            return NSExpression(
                form: .function(
                    target: target.map { apply(to: $0) }, name: name, arguments: arguments.map { apply(to: $0) }))
        case .aggregate(let elements): return NSExpression(form: .aggregate(elements.map { apply(to: $0) }))
        case .set(let type, let left, let right):
            return NSExpression(form: .set(type, apply(to: left), apply(to: right)))
        case .subquery(let collection, let variable, let predicate):
            return NSExpression(form: .subquery(apply(to: collection), variable, apply(to: predicate)))
        case .conditional(let predicate, let first, let second):
            return NSExpression(form: .conditional(apply(to: predicate), apply(to: first), apply(to: second)))
        case .block(let block, let arguments):
            needsObjects = true
            return NSExpression(form: .block(block, arguments.map { apply(to: $0) }))
        case .fetch(let request, let context, _):
            guard case .constant = request.form, case .constant = context.form else {
                needsObjects = true
                return expression
            }
            let value = expression.expressionValue(with: nil, context: nil)
            return Self.constant(value) ?? NSExpression(form: .constant(value))
        }
    }

    /// Nil for a value that holds no objects.
    private static func constant(_ value: Any?) -> NSExpression? {
        guard let value else { return nil }
        if let object = value as? NSManagedObject { return NSExpression(form: .constant(object.objectID)) }
        guard let elements = AnyElements(value), elements.elements.contains(where: { $0 is NSManagedObject }) else {
            return nil
        }
        let ids = elements.elements.map { element in (element as? NSManagedObject)?.objectID ?? element ?? NSNull() }
        return NSExpression(form: .constant(elements.isUnordered ? NSSet(array: ids) : ids))
    }
}
