import Foundation

/// A comparison with a constant that the interpreter makes, for values that are computed once for each owner.
struct ValueComparison {
    private let comparator: ValueComparator
    private let constant: Any?
    private let isConstantLeft: Bool
    private let excludesNull: Bool

    /// Nil when the side is not constant.
    init?(_ comparison: NSComparisonPredicate, isConstantLeft: Bool) {
        let side = isConstantLeft ? comparison.leftExpression : comparison.rightExpression
        guard Self.isConstant(side) else { return nil }
        constant = side.evaluate(EvaluationContext(object: nil, bindings: nil))
        comparator = comparison.comparator
        excludesNull = comparison.excludesNull
        self.isConstantLeft = isConstantLeft
    }

    static func isConstant(_ expression: NSExpression) -> Bool {
        switch expression.form {
        case .constant: true
        case .aggregate(let elements): elements.allSatisfy { $0.expressionType == .constantValue }
        default: false
        }
    }

    var operand: Operand { Operand(constant) }

    func holds(_ value: Any?) -> Bool {
        if excludesNull, case .null = Operand(value) { return false }
        return isConstantLeft ? comparator.holds(constant, value) : comparator.holds(value, constant)
    }
}
