/// A constant of a predicate as a parameter of a plan.
struct PlanParameter {
    /// The expression that it is in the predicate.
    let expression: NSExpression
    let operand: Operand

    init(_ expression: NSExpression, _ value: Any?) {
        self.expression = expression
        operand = Operand(value)
    }

    /// The constant as a plan has it: IDs in the place of objects.
    var constant: Any? {
        let value = expression.form.constantValue ?? nil
        return ConstantFolding.withoutObjects(value) ?? value
    }
}
