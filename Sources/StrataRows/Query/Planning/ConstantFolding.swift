import Foundation

/// Brings a request's predicate into the form that rows are tested with.
///
/// Objects become their IDs, so that the predicate can be evaluated on any thread; fetches in it, `now()`, aggregates
/// over all objects and paths that start at a constant are evaluated once instead of once a row.
package struct ConstantFolding {
    /// Whether something was met that rows cannot answer, only objects.
    package private(set) var needsObjects = false
    /// What has taken the place of constants with objects.
    package private(set) var replacements: [ObjectIdentifier: NSExpression] = [:]
    /// Whether an aggregate over all objects was met, which may have another value the next time.
    package private(set) var hasAggregates = false
    /// The same of one that is null, which each row has by itself.
    package private(set) var hasNullAggregates = false
    /// Finds aggregates over all objects; nil where each row has its own.
    private var aggregate: ((NSExpression) -> FoundAggregate?)?

    /// The value of an aggregate over all objects, which may be null.
    package struct FoundAggregate {
        let value: Any?

        package init(value: Any?) { self.value = value }
    }

    package init(_ aggregate: ((NSExpression) -> FoundAggregate?)? = nil) { self.aggregate = aggregate }

    package mutating func apply(to predicate: NSPredicate) -> NSPredicate {
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

    package mutating func apply(to expression: NSExpression) -> NSExpression {
        if let found = aggregate?(expression) {
            if let value = found.value {
                hasAggregates = true
                return FoldedConstant(value)
            }
            hasNullAggregates = true
        }
        switch expression.form {
        case .constant(let value):
            guard let value = Self.withoutObjects(value) else { return expression }
            let replacement = NSExpression(form: .constant(value))
            replacements[ObjectIdentifier(expression)] = replacement
            return replacement
        case .evaluatedObject, .anyKey, .variable, .keyPath(nil, _): return expression
        case .keyPath(let operand?, let path):
            // Before it becomes an ID, which has no properties.
            if case .constant(let value) = operand.form {
                let value = KeyValueAccess.value(of: value, path: path)
                return NSExpression(form: .constant(Self.withoutObjects(value) ?? value))
            }
            return NSExpression(form: .keyPath(operand: apply(to: operand), path: path))
        case .function(let target, let name, let arguments):
            if target != nil { needsObjects = true }
            let arguments = arguments.map { apply(to: $0) }
            if target == nil, let value = Self.value(of: name, arguments) { return FoldedConstant(value) }
            return NSExpression(form: .function(target: target.map { apply(to: $0) }, name: name, arguments: arguments))
        case .aggregate(let elements):
            let folded = elements.map { apply(to: $0) }
            if zip(elements, folded).allSatisfy({ $0 === $1 }) { return expression }
            let replacement = NSExpression(form: .aggregate(folded))
            replacements[ObjectIdentifier(expression)] = replacement
            return replacement
        case .set(let type, let left, let right):
            return NSExpression(form: .set(type, apply(to: left), apply(to: right)))
        case .subquery(let collection, let variable, let predicate):
            let folded = apply(to: collection)
            // What its predicate aggregates belongs to one row.
            let outer = aggregate
            aggregate = nil
            defer { aggregate = outer }
            return NSExpression(form: .subquery(folded, variable, apply(to: predicate)))
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
            return NSExpression(form: .constant(Self.withoutObjects(value) ?? value))
        }
    }

    /// What a function of constants gives, which is the same for all rows. Nil for what has no value: a constant that
    /// is null is asked for in another way.
    private static func value(of name: String, _ arguments: [NSExpression]) -> Any? {
        guard PredicateFunction.isFoldable(name) else { return nil }
        var values: [Any?] = []
        for argument in arguments {
            guard case .constant(let value) = argument.form else { return nil }
            values.append(value)
        }
        return AnyElements.plain(PredicateFunction.call(name, values))
    }

    private static func object(_ value: Any) -> (any RowObject)? {
        // Casting Swift's set of decimals to a class would bridge it, which never ends.
        type(of: value) is AnyClass ? value as? any RowObject : nil
    }

    /// The value with IDs in the place of objects; nil for one that holds none.
    static func withoutObjects(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if let object = object(value) { return object.objectID }
        guard let elements = AnyElements(value), elements.elements.contains(where: { $0.flatMap(object) != nil }) else {
            return nil
        }
        let ids = elements.elements.map { element in element.flatMap(object)?.objectID ?? element ?? NSNull() }
        return elements.isUnordered ? NSSet(array: ids) : ids
    }
}
