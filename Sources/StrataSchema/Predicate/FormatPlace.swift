/// The place of a placeholder in a template, which an argument of the format takes.
///
/// A class of its own, since telling it from constants by its value takes a cast of an existential for each of them.
final class FormatPlace: NSExpression {
    /// Of the argument, from 0.
    private(set) var number = 0
    private(set) var kind = PredicateToken.Placeholder.object

    convenience init(number: Int, kind: PredicateToken.Placeholder) {
        self.init(form: .constant(nil))
        self.number = number
        self.kind = kind
    }
}
