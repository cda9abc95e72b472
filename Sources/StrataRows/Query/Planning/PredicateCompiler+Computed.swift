import Foundation

// Comparisons of what is computed of a row's columns.
extension PredicateCompiler {
    /// Nil for what the interpreter has to do.
    func computed(_ comparison: NSComparisonPredicate) throws -> CompiledPredicate.Node? {
        guard comparison.comparisonPredicateModifier == .direct, comparison.customSelector == nil,
            !comparison.options.contains(.localeSensitive)
        else { return nil }
        let (left, right) = (comparison.leftExpression, comparison.rightExpression)
        let type = comparison.predicateOperatorType
        if let value = PredicateResolver.operand(right) { return try computed(left, type, value, comparison) }
        if let value = PredicateResolver.operand(left) {
            if type == .in, case .string = value { return try computed(right, .contains, value, comparison) }
            guard let relation = Relation(type) else { return nil }
            return try computed(right, relation.flipped.type, value, comparison)
        }
        return computedPair(comparison)
    }

    /// - Parameter type: with the constant on the right.
    private func computed(
        _ expression: NSExpression, _ type: NSComparisonPredicate.Operator, _ value: Operand,
        _ comparison: NSComparisonPredicate
    ) throws -> CompiledPredicate.Node? {
        guard let column = ExpressionCompiler(shape: shape).compile(expression), column.kind != .toOne else {
            return nil
        }
        return try SlotCompiler(self, slot: 0, column.kind, comparison.comparedOptions)
            .node(type, value, excludesNull: comparison.excludesNull)
            .map { .computed(ComputedCondition([column], $0, comparison)) }
    }

    /// A comparison that null does not satisfy, as in every request (``ThreeValuedLogic``).
    private func computedPair(_ comparison: NSComparisonPredicate) -> CompiledPredicate.Node? {
        let compiler = ExpressionCompiler(shape: shape)
        guard let relation = Relation(comparison.predicateOperatorType), comparison.excludesNull,
            comparison.comparedOptions.isEmpty, let left = compiler.compile(comparison.leftExpression),
            let right = compiler.compile(comparison.rightExpression),
            let pair = ColumnPair(left.kind, relation, 1, right.kind)
        else { return nil }
        let test = ColumnPredicate(slot: 0, kind: left.kind, condition: .column(pair))
        return .computed(ComputedCondition([left, right], .test(test), comparison))
    }
}
