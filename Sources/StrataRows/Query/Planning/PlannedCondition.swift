import Foundation

/// The predicate of a plan: checked, with its constants folded, and its key paths looked up.
///
/// Unchecked: immutable, and made of immutable parts.
@usableFromInline
final class PlannedCondition: @unchecked Sendable {
    /// A part that must hold, as the interpreter and the compiler know it.
    struct Conjunct {
        let predicate: NSPredicate
        let resolved: ResolvedPredicate
    }

    /// With the constants of the request that the plan was made for.
    let predicate: NSPredicate
    let conjuncts: [Conjunct]
    /// Whether a part of it may name objects.
    let mayNameObjects: Bool
    /// The numbers of the parameters, by the expressions in the predicate that they are.
    private let numbers: [ObjectIdentifier: Int]

    init(_ predicate: NSPredicate, _ shape: EntityShape, numbers: [ObjectIdentifier: Int] = [:]) {
        self.predicate = predicate
        self.numbers = numbers
        let resolver = PredicateResolver(shape: shape, parameters: numbers)
        conjuncts = PredicateResolver.conjuncts(predicate).map {
            Conjunct(predicate: $0, resolved: resolver.resolve($0))
        }
        mayNameObjects = FetchCandidates.mayNarrow(predicate, shape)
    }

    /// Whether each parameter is a side of a comparison: then other values can take their places.
    var hasAllParameters: Bool {
        var found: Set<Int> = []
        collect(predicate, &found)
        return found.count == numbers.count
    }

    private func collect(_ predicate: NSPredicate, _ found: inout Set<Int>) {
        switch predicate {
        case let comparison as NSComparisonPredicate:
            for side in [comparison.leftExpression, comparison.rightExpression] {
                if let number = numbers[ObjectIdentifier(side)] { found.insert(number) }
            }
        case let compound as NSCompoundPredicate: for part in compound.subpredicates { collect(part, &found) }
        default: return
        }
    }

    /// The predicate, or a part of it, with other constants.
    func substituting(_ values: [PlanParameter], in predicate: NSPredicate) -> NSPredicate {
        if numbers.isEmpty { return predicate }
        switch predicate {
        case let comparison as NSComparisonPredicate:
            let left = substituting(values, in: comparison.leftExpression)
            let right = substituting(values, in: comparison.rightExpression)
            if left === comparison.leftExpression, right === comparison.rightExpression { return comparison }
            return comparison.with(left, right)
        case let compound as NSCompoundPredicate:
            return CompoundPredicate(
                type: compound.compoundPredicateType,
                subpredicates: compound.subpredicates.map { substituting(values, in: $0) })
        default: return predicate
        }
    }

    private func substituting(_ values: [PlanParameter], in expression: NSExpression) -> NSExpression {
        guard let number = numbers[ObjectIdentifier(expression)] else { return expression }
        return NSExpression(form: .constant(values[number].constant))
    }
}

/// The values that an execution of a plan has for the parameters of its condition.
@usableFromInline
final class PlanParameters {
    let values: [PlanParameter]
    private let condition: PlannedCondition

    @usableFromInline
    init(_ values: [PlanParameter], _ condition: PlannedCondition) {
        self.values = values
        self.condition = condition
    }

    func operand(_ number: Int) -> Operand { values[number].operand }

    /// The condition, or a part of it, with the values in place.
    func substituted(in predicate: NSPredicate) -> NSPredicate { condition.substituting(values, in: predicate) }
}
