import Foundation

/// A predicate for groups that compares their aggregates with constants: asked of these alone, without the dictionaries
/// and bindings that the interpreter takes for each group.
indirect enum GroupCondition {
    case comparison(aggregate: Int, ValueComparison)
    case all([GroupCondition])
    case any([GroupCondition])
    case not(GroupCondition)

    /// Nil for what asks anything else.
    ///
    /// - Parameter aggregateCount: how many there are variables for.
    init?(_ predicate: NSPredicate, aggregateCount: Int) {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            guard comparison.comparisonPredicateModifier == .direct, comparison.customSelector == nil else {
                return nil
            }
            func aggregate(_ side: NSExpression) -> Int? {
                guard case .variable(let name) = side.form else { return nil }
                return (0..<aggregateCount).first { Aggregate.variable($0) == name }
            }
            let left = aggregate(comparison.leftExpression)
            guard let index = left ?? aggregate(comparison.rightExpression),
                let test = ValueComparison(comparison, isConstantLeft: left == nil)
            else { return nil }
            self = .comparison(aggregate: index, test)
        case let compound as NSCompoundPredicate:
            var parts: [GroupCondition] = []
            for part in compound.subpredicates {
                guard let part = GroupCondition(part, aggregateCount: aggregateCount) else { return nil }
                parts.append(part)
            }
            switch compound.compoundPredicateType {
            case .and: self = .all(parts)
            case .or: self = .any(parts)
            case .not:
                guard parts.count == 1 else { return nil }
                self = .not(parts[0])
            }
        default: return nil
        }
    }

    /// - Parameter value: of an aggregate.
    func holds(_ value: (Int) -> Any?) -> Bool {
        switch self {
        case .comparison(let aggregate, let test): test.holds(value(aggregate))
        case .all(let parts): parts.allSatisfy { $0.holds(value) }
        case .any(let parts): parts.contains { $0.holds(value) }
        case .not(let part): !part.holds(value)
        }
    }
}
