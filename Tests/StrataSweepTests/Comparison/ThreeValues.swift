import CoreData
import Foundation

/// What SQL answers to a predicate, written down without any cleverness: nil for unknown.
enum ThreeValues {
    /// Conditions on members say of null on the way what only the store's tables say; SQLite is asked about those.
    static func knows(_ predicate: NSPredicate) -> Bool {
        let format = predicate.formatString
        return !["SUBQUERY", "ANY ", "ALL ", "SOME ", "NONE ", "TERNARY"].contains { format.contains($0) }
    }

    static func answer(_ predicate: NSPredicate, _ object: NSManagedObject) -> Bool? {
        if let comparison = predicate as? NSComparisonPredicate { return answer(comparison, object) }
        guard let compound = predicate as? NSCompoundPredicate else { return predicate.evaluate(with: object) }
        let answers = compound.subpredicates.map { answer($0, object) }
        switch compound.compoundPredicateType {
        case .not: return answers.first.flatMap { $0.map { !$0 } }
        case .and: return answers.contains(false) ? false : answers.contains(nil) ? nil : true
        default: return answers.contains(true) ? true : answers.contains(nil) ? nil : false
        }
    }

    private static func answer(_ comparison: NSComparisonPredicate, _ object: NSManagedObject) -> Bool? {
        let type = comparison.predicateOperatorType
        let sides = [comparison.leftExpression, comparison.rightExpression]
        // Being a member is never unknown: whoever has no parent has none of its members.
        if type == .in || type == .contains, sides.contains(where: { isToMany($0, object.entity) }) {
            return comparison.evaluate(with: object)
        }
        if type == .in, comparison.rightExpression.expressionType == .aggregate,
            let elements = comparison.rightExpression.collection as? [NSExpression]
        {
            return isOne(of: elements, comparison, object)
        }
        if type == .between, comparison.rightExpression.expressionType == .aggregate,
            let bounds = comparison.rightExpression.collection as? [NSExpression], bounds.count == 2
        {
            return isBetween(bounds, comparison, object)
        }
        let isConstantNull = sides.contains { $0.expressionType == .constantValue && isNull($0.constantValue) }
        let asksForNull = isConstantNull && (type == .equalTo || type == .notEqualTo)
        let values = sides.map { $0.expressionValue(with: object, context: nil) }
        let isEmpty = type == .in && (values[1] as? [Any])?.isEmpty == true
        if !asksForNull, !isEmpty, values.contains(where: isNull) { return nil }
        return comparison.evaluate(with: object)
    }

    /// `x IN {a, b}` is `x = a OR x = b`.
    private static func isOne(
        of elements: [NSExpression], _ comparison: NSComparisonPredicate, _ object: NSManagedObject
    ) -> Bool? {
        let answers = elements.map { answer(comparison, .equalTo, $0, object) }
        return answers.contains(true) ? true : answers.contains(nil) ? nil : false
    }

    /// `x BETWEEN {a, b}` is `x >= a AND x <= b`.
    private static func isBetween(
        _ bounds: [NSExpression], _ comparison: NSComparisonPredicate, _ object: NSManagedObject
    ) -> Bool? {
        let answers = [
            answer(comparison, .greaterThanOrEqualTo, bounds[0], object),
            answer(comparison, .lessThanOrEqualTo, bounds[1], object),
        ]
        return answers.contains(false) ? false : answers.contains(nil) ? nil : true
    }

    /// What another comparison of the left side says.
    private static func answer(
        _ comparison: NSComparisonPredicate, _ type: NSComparisonPredicate.Operator, _ right: NSExpression,
        _ object: NSManagedObject
    ) -> Bool? {
        let sides = [comparison.leftExpression, right].map { $0.expressionValue(with: object, context: nil) }
        if sides.contains(where: isNull) { return nil }
        return NSComparisonPredicate(
            leftExpression: comparison.leftExpression, rightExpression: right, modifier: .direct, type: type,
            options: comparison.options
        ).evaluate(with: object)
    }

    private static func isToMany(_ expression: NSExpression, _ entity: NSEntityDescription) -> Bool {
        guard expression.expressionType == .keyPath else { return false }
        var entity: NSEntityDescription? = entity
        for name in expression.keyPath.split(separator: ".") {
            guard let relationship = entity?.relationshipsByName[String(name)] else { return false }
            if relationship.isToMany { return true }
            entity = relationship.destinationEntity
        }
        return false
    }

    private static func isNull(_ value: Any?) -> Bool { value == nil || value is NSNull }
}
