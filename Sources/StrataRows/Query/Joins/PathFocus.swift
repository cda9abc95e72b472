import Foundation

/// A comparison of what lies behind one to-one relationship and nothing else, as the object there asks it:
/// `abs(customer.age - customer.limit) > 3` is `abs(age - limit) > 3` of the customer.
///
/// There are fewer customers than orders, as a rule, and each is asked once.
struct PathFocus {
    /// Of the relationship.
    let slot: Int
    /// Over the destination.
    let comparison: NSComparisonPredicate

    /// Nil when a side asks anything but that.
    init?(_ comparison: NSComparisonPredicate, _ shape: EntityShape) {
        guard comparison.comparisonPredicateModifier == .direct, comparison.customSelector == nil else { return nil }
        var focus = Focus(shape: shape)
        guard let left = focus.apply(to: comparison.leftExpression),
            let right = focus.apply(to: comparison.rightExpression), let slot = focus.slot
        else { return nil }
        self.slot = slot
        self.comparison = comparison.with(left, right)
    }

    private struct Focus {
        let shape: EntityShape
        /// That of the relationship that the first path begins with.
        var slot: Int?

        mutating func apply(to expression: NSExpression) -> NSExpression? {
            switch expression.form {
            case .constant: return expression
            case .keyPath(nil, let path):
                guard path.names.count > 1, case .slot(let first)? = shape.property(path.names[0]),
                    shape.slots[first].kind == .toOne, shape.slots[first].isPersistent, first == slot ?? first
                else { return nil }
                slot = first
                return NSExpression(forKeyPath: path.names.dropFirst().joined(separator: "."))
            case .function(nil, let name, let arguments):
                guard let own = apply(to: arguments) else { return nil }
                return NSExpression(form: .function(target: nil, name: name, arguments: own))
            case .aggregate(let elements): return apply(to: elements).map { NSExpression(form: .aggregate($0)) }
            default: return nil
            }
        }

        private mutating func apply(to expressions: [NSExpression]) -> [NSExpression]? {
            var result: [NSExpression] = []
            for expression in expressions {
                guard let own = apply(to: expression) else { return nil }
                result.append(own)
            }
            return result
        }
    }
}
