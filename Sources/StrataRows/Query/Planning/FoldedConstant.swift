import Foundation

/// The value of a function of constants, such as `now()`.
///
/// Unlike a constant that the program wrote, one of a type that cannot be compared is no mistake that a request
/// refuses: the function is true of no row, as it is when it is evaluated.
final class FoldedConstant: NSExpression {
    convenience init(_ value: Any) {
        self.init(form: .constant(value))
    }
}
