import Foundation

/// A decimal number as a text says it: every digit counts, and nothing may follow.
package struct NumberText {
    private let text: String
    private let isNegative: Bool
    /// Without zeros before and behind.
    private let digits: ArraySlice<UInt8>
    /// The power of ten of the last digit.
    private let exponent: Int

    /// - Returns: nil for what is not of the form `-12.5e-3`.
    package init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        func takeDigits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
            let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
            rest = rest.dropFirst(digits.count)
            return digits
        }
        isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        let whole = takeDigits(&rest)
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = takeDigits(&rest)
            guard !fraction.isEmpty else { return nil }
        }
        guard !whole.isEmpty else { return nil }
        var power = 0
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            let sign = rest.first
            if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
            let magnitude = takeDigits(&rest)
            guard !magnitude.isEmpty else { return nil }
            // No number has an exponent beyond, and none becomes another by it.
            let value = Int(String(decoding: magnitude, as: UTF8.self)) ?? .max
            power = min(value, 1 << 40) * (sign == UInt8(ascii: "-") ? -1 : 1)
        }
        guard rest.isEmpty else { return nil }
        var all = (whole + fraction).drop { $0 == 0x30 }
        var exponent = power - fraction.count
        while all.last == 0x30 {
            all.removeLast()
            exponent += 1
        }
        self.text = text
        digits = all
        self.exponent = all.isEmpty ? 0 : exponent
    }

    private var isZero: Bool { digits.isEmpty }

    /// The digits as a whole number, with zeros behind them; nil when it has no room.
    private func magnitude(zeros: Int) -> UInt128? {
        guard digits.count <= 39, zeros <= 39 else { return nil }
        var value: UInt128 = 0
        for digit in digits + ArraySlice(repeating: 0x30, count: zeros) {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = product.addingReportingOverflow(UInt128(digit - 0x30))
            guard !isTooLarge, !overflows else { return nil }
            value = sum
        }
        return value
    }

    /// The number, when it is a whole one with room in the type.
    package func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
        guard exponent >= 0, let magnitude = magnitude(zeros: exponent), magnitude <= UInt128(UInt64.max) else {
            return nil
        }
        return Number(exactly: isNegative ? -Int128(magnitude) : Int128(magnitude))
    }

    /// The nearest floating-point number; nil when that is infinite, or zero and the number is not.
    package func real<Number: BinaryFloatingPoint & LosslessStringConvertible>(_: Number.Type) -> Number? {
        guard let value = Number(text), value.isFinite, value != 0 || isZero else { return nil }
        return value
    }

    /// The number, when a decimal has all of its digits.
    package var decimal: Decimal? {
        var (zeros, exponent) = (0, self.exponent)
        if exponent > Self.maximumExponent {
            zeros = exponent - Self.maximumExponent
            exponent = Self.maximumExponent
        }
        guard exponent >= Self.minimumExponent, let magnitude = magnitude(zeros: zeros),
            let significand = Decimal(string: magnitude.description)
        else { return nil }
        let value = Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
        return value.isNaN ? nil : value
    }

    private static let maximumExponent = 127
    private static let minimumExponent = -128
}
