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
        let isConstantNull = sides.contains { $0.expressionType == .constantValue && isNull($0.constantValue) }
        let asksForNull = isConstantNull && (type == .equalTo || type == .notEqualTo)
        let values = sides.map { $0.expressionValue(with: object, context: nil) }
        let isEmpty = type == .in && (values[1] as? [Any])?.isEmpty == true
        if !asksForNull, !isEmpty, values.contains(where: isNull) { return nil }
        return comparison.evaluate(with: object)
    }

    private static func isNull(_ value: Any?) -> Bool { value == nil || value is NSNull }
}
