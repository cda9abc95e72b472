import Foundation

/// A comparison with a constant that the interpreter makes, for values that are computed once for each owner.
package struct ValueComparison {
    private let comparator: ValueComparator
    private let constant: Any?
    private let isConstantLeft: Bool
    private let excludesNull: Bool

    /// Nil when the side is not constant.
    package init?(_ comparison: NSComparisonPredicate, isConstantLeft: Bool) {
        let side = isConstantLeft ? comparison.leftExpression : comparison.rightExpression
        guard let constant = side.form.constantValue else { return nil }
        self.constant = constant
        comparator = comparison.comparator
        excludesNull = comparison.excludesNull
        self.isConstantLeft = isConstantLeft
    }

    package var operand: Operand { Operand(constant) }

    package func holds(_ value: Any?) -> Bool {
        if excludesNull, case .null = Operand(value) { return false }
        return isConstantLeft ? comparator.holds(constant, value) : comparator.holds(value, constant)
    }
}
