/// In what the product differs from the oracle.
struct Difference: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
