/// A constant of a predicate as a parameter of a plan.
@usableFromInline
package struct PlanParameter {
    /// The expression that it is in the predicate.
    package let expression: NSExpression
    package let operand: Operand

    /// - Parameter operand: the value that the expression has.
    package init(_ expression: NSExpression, _ operand: Operand) {
        self.expression = expression
        self.operand = operand
    }

    /// The constant as a plan has it: IDs in the place of objects.
    package var constant: Any? {
        let value = expression.form.constantValue ?? nil
        return ConstantFolding.withoutObjects(value) ?? value
    }
}
