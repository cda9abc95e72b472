/// The place of a placeholder in a template, which an argument of the format takes.
///
/// A class of its own, since telling it from constants by its value takes a cast of an existential for each of them.
final class FormatPlace: NSExpression {
    /// Of the argument, from 0.
    let number: Int
    let kind: PredicateToken.Placeholder

    init(number: Int, kind: PredicateToken.Placeholder) {
        self.number = number
        self.kind = kind
        super.init(form: .constant(nil))
    }

    override init(form: ExpressionForm) { preconditionFailure("a place has a number") }
}
