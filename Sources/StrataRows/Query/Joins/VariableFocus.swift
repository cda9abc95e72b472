import Foundation

/// Turns the predicate of a subquery into one about the element itself, when it asks nothing of the object around.
struct VariableFocus {
    private let name: String
    /// The variables of the subqueries inside.
    private var inner: Set<String> = []

    init(_ name: String) {
        self.name = name
    }

    /// Nil when the predicate cannot be about the element alone.
    func apply(to predicate: NSPredicate) -> NSPredicate? {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            guard comparison.customSelector == nil, let left = apply(to: comparison.leftExpression),
                let right = apply(to: comparison.rightExpression)
            else { return nil }
            return comparison.with(left, right)
        case let compound as NSCompoundPredicate:
            var parts: [NSPredicate] = []
            for part in compound.subpredicates {
                guard let part = apply(to: part) else { return nil }
                parts.append(part)
            }
            return CompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts)
        default:
            let format = predicate.formatString
            return format == "TRUEPREDICATE" || format == "FALSEPREDICATE" ? predicate : nil
        }
    }

    private func apply(to expression: NSExpression) -> NSExpression? {
        switch expression.form {
        case .constant: return expression
        case .variable(let variable):
            if variable == name { return NSExpression(form: .evaluatedObject) }
            return inner.contains(variable) ? expression : nil
        case .keyPath(let operand?, let path):
            if case .variable(name) = operand.form { return NSExpression(form: .keyPath(operand: nil, path: path)) }
            return apply(to: operand).map { NSExpression(form: .keyPath(operand: $0, path: path)) }
        case .aggregate(let elements):
            let own = elements.compactMap { apply(to: $0) }
            return own.count == elements.count ? NSExpression(form: .aggregate(own)) : nil
        case .subquery(let collection, let variable, let predicate):
            // A variable of the same name hides this one.
            guard variable != name, let collection = apply(to: collection) else { return nil }
            var focus = self
            focus.inner.insert(variable)
            return focus.apply(to: predicate).map { NSExpression(form: .subquery(collection, variable, $0)) }
        // What is asked of the object around, and what would not be compiled in any case.
        default: return nil
        }
    }
}
