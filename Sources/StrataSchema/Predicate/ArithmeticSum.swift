/// A sum on its way through some values.
///
/// Whether integers need more than 64 bits is asked of their whole sum, so that their order does not matter.
package struct ArithmeticSum {
    private var integers: Int128 = 0
    private var others: Arithmetic?

    package init() {}

    /// A sum that was added up elsewhere.
    package init(_ value: Arithmetic) { add(value) }

    package mutating func add(_ value: Arithmetic) {
        switch value {
        case .integer(let value): integers += Int128(value)
        case .double, .decimal: others = (others ?? .integer(0)) + value
        }
    }

    package var value: Arithmetic {
        let whole = Arithmetic(integers)
        guard let others else { return whole }
        return integers == 0 ? others : others + whole
    }
}
