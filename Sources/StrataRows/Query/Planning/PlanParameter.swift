/// A constant of a predicate as a parameter of a plan.
@usableFromInline
package struct PlanParameter {
    /// The expression that it is in the predicate.
    package let expression: NSExpression
    package let operand: Operand

    package init(_ expression: NSExpression, _ value: Any?) {
        self.expression = expression
        operand = Operand(value)
    }

    /// The constant as a plan has it: IDs in the place of objects.
    package var constant: Any? {
        let value = expression.form.constantValue ?? nil
        return ConstantFolding.withoutObjects(value) ?? value
    }
}
