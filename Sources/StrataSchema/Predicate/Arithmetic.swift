import Foundation

/// Numbers of expressions: integers stay integers as long as they fit, decimals stay decimals, all else is floating
/// point.
package enum Arithmetic {
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)

    /// The number behind a value: a number, a truth value, or a date's seconds since the reference date.
    package init?(_ value: Any?) {
        switch Operand(value) {
        case .integer(let value): self = .integer(value)
        case .double(let value), .date(let value): self = .double(value)
        case .decimal(let value): self = .decimal(value)
        default: return nil
        }
    }

    /// A sum of integers: floating point where it needs more than 64 bits.
    package init(_ sum: Int128) { self = Int64(exactly: sum).map { .integer($0) } ?? .double(Double(sum)) }

    package var anyValue: Any {
        switch self {
        case .integer(let value): Int(value)
        case .double(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value)
        }
    }

    package var doubleValue: Double {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): Double(value.description) ?? .nan
        }
    }

    package var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value.rounded(.towardZero))
        case .decimal: Int64(exactly: doubleValue.rounded(.towardZero))
        }
    }

    private var decimalValue: Decimal? {
        switch self {
        case .integer(let value): Decimal(value)
        case .double(let value): value.isFinite ? Decimal(string: value.description) : nil
        case .decimal(let value): value
        }
    }

    /// Applies an operation in the widest kind of its operands; integers that overflow become floating point.
    static func combine(
        _ left: Arithmetic, _ right: Arithmetic,
        integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        decimals: (Decimal, Decimal) -> Decimal,
        doubles: (Double, Double) -> Double
    ) -> Arithmetic {
        switch (left, right) {
        case (.integer(let left), .integer(let right)):
            let result = integers(left, right)
            return result.overflow ? .double(doubles(Double(left), Double(right))) : .integer(result.partialValue)
        case (.decimal, _), (_, .decimal):
            if let left = left.decimalValue, let right = right.decimalValue { return .decimal(decimals(left, right)) }
            return .double(doubles(left.doubleValue, right.doubleValue))
        default:
            return .double(doubles(left.doubleValue, right.doubleValue))
        }
    }

    package static func + (left: Arithmetic, right: Arithmetic) -> Arithmetic {
        combine(left, right, integers: { $0.addingReportingOverflow($1) }, decimals: +, doubles: +)
    }

    static func - (left: Arithmetic, right: Arithmetic) -> Arithmetic {
        combine(left, right, integers: { $0.subtractingReportingOverflow($1) }, decimals: -, doubles: -)
    }

    static func * (left: Arithmetic, right: Arithmetic) -> Arithmetic {
        combine(left, right, integers: { $0.multipliedReportingOverflow(by: $1) }, decimals: *, doubles: *)
    }

    /// The quotient; of two integers the whole part, and nothing for division by an integer or decimal zero.
    static func / (left: Arithmetic, right: Arithmetic) -> Arithmetic? {
        switch right {
        case .integer(0): if case .double = left {} else { return nil }
        case .decimal(let value): if value == 0 { return nil }
        default: break
        }
        return combine(left, right, integers: { $0.dividedReportingOverflow(by: $1) }, decimals: /, doubles: /)
    }

    /// The remainder of two whole numbers; nothing for a zero divisor.
    static func remainder(_ left: Arithmetic, _ right: Arithmetic) -> Arithmetic? {
        if case .integer(let left) = left, case .integer(let right) = right {
            return right == 0 ? nil : .integer(left.remainderReportingOverflow(dividingBy: right).partialValue)
        }
        let (left, right) = (left.doubleValue, right.doubleValue)
        return right == 0 ? nil : .double(left.truncatingRemainder(dividingBy: right))
    }

    /// A power; of integers an integer when it fits.
    static func power(_ base: Arithmetic, _ exponent: Arithmetic) -> Arithmetic {
        let result = pow(base.doubleValue, exponent.doubleValue)
        if case .integer = base, case .integer(let exponent) = exponent, exponent >= 0, abs(result) < 0x1p53 {
            return .integer(Int64(result))
        }
        return .double(result)
    }

    /// The sum of values; a text counts as the number that it begins with, and what is no number as 0.
    static func sum(_ values: [Any]) -> Arithmetic {
        var sum = ArithmeticSum()
        for value in values {
            if let number = Arithmetic(summand: value) { sum.add(number) }
        }
        return sum.value
    }

    /// The mean of values in floating point, or decimal when a decimal is among them.
    static func average(_ values: [Any], count: Int) -> Arithmetic {
        let total = sum(values)
        if case .decimal(let total) = total { return .decimal(total / Decimal(count)) }
        return .double(total.doubleValue / Double(count))
    }
}
