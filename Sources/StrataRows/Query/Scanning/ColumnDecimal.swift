import Foundation
import StrataLog

/// A decimal as ``DecimalCoding`` stores it, compared and added up without Foundation: significand x 10^exponent.
package struct ColumnDecimal {
    private var magnitude: UInt128
    private var isNegative: Bool
    private var exponent: Int

    package static let zero = ColumnDecimal(magnitude: 0, isNegative: false, exponent: 0)

    private init(magnitude: UInt128, isNegative: Bool, exponent: Int) {
        self.magnitude = magnitude
        self.isNegative = isNegative
        self.exponent = exponent
    }

    /// Nil for what is no number.
    @inline(__always)
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard let parts = DecimalCoding.parts(bytes) else { return nil }
        (magnitude, isNegative, exponent) = (parts.magnitude, parts.isNegative, parts.exponent)
    }

    package init(_ value: Int64) {
        self.init(magnitude: UInt128(value.magnitude), isNegative: value < 0, exponent: 0)
    }

    /// The decimal that the shortest notation of a number says; nil for what is no number.
    package init?(shortest value: Double) {
        guard value.isFinite, let decimal = Decimal(string: value.description) else { return nil }
        self.init(decimal)
    }

    /// Nil for what is no number.
    package init?(_ value: Decimal) {
        guard let stored = DecimalCoding.encode(value).withUnsafeBytes({ ColumnDecimal($0) }) else { return nil }
        self = stored
    }

    /// The same number with no zeros at the end of its significand.
    private var canonical: ColumnDecimal {
        if magnitude == 0 { return .zero }
        var value = self
        while value.magnitude % 10 == 0, value.exponent < Int(Int8.max) {
            value.magnitude /= 10
            value.exponent += 1
        }
        return value
    }

    var isZero: Bool { magnitude == 0 }

    var decimal: Decimal { withCanonicalBytes { DecimalCoding.decode($0) } }

    /// Calls the body with bytes as ``DecimalCoding`` has them, which are the same for equal numbers.
    package func withCanonicalBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let value = canonical
        return withUnsafeTemporaryAllocation(byteCount: DecimalCoding.maximumBytes, alignment: 1) { bytes in
            let parts = DecimalCoding.Parts(
                magnitude: value.magnitude, isNegative: value.isNegative, exponent: value.exponent)
            let count = DecimalCoding.write(parts, to: bytes)
            return body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    /// The same for the bytes of a value that need be no number.
    package static func withCanonicalBytes<Result>(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        guard let value = ColumnDecimal(bytes) else { return DecimalCoding.notANumber.withUnsafeBytes(body) }
        return value.withCanonicalBytes(body)
    }

    // MARK: Order

    /// A number in whose order the values are, as far as 15 digits go; never 0.
    package var code: UInt64 {
        let zero: UInt64 = 1 << 63
        if magnitude == 0 { return zero }
        let digits = Self.digitCount(magnitude)
        let excess = digits - Self.codedDigits
        let leading: UInt64
        if let small = UInt64(exactly: magnitude) {
            leading = excess > 0 ? small / UInt64(Self.powers[excess]) : small * UInt64(Self.powers[-excess])
        } else {
            leading = UInt64(truncatingIfNeeded: magnitude / Self.powers[excess])
        }
        // Where the first digit stands: between -127 and 166.
        let place = UInt64(digits + exponent + 512)
        let distance = place << 50 | leading
        return isNegative ? zero - distance : zero + distance
    }

    /// 10^15 takes fifty bits.
    private static let codedDigits = 15

    /// -1, 0 or 1.
    package static func order(_ left: ColumnDecimal, _ right: ColumnDecimal) -> Int {
        let (a, b) = (left.code, right.code)
        if a != b { return a < b ? -1 : 1 }
        // The first digits stand in the same place: what remains is which significand goes on with more.
        let order = left.exponent >= right.exponent ? magnitudes(left, right) : -magnitudes(right, left)
        return left.isNegative ? -order : order
    }

    /// The order of two magnitudes, of which the first has the greater exponent, and no more digits.
    private static func magnitudes(_ left: ColumnDecimal, _ right: ColumnDecimal) -> Int {
        if left.magnitude == 0 { return 0 }
        let (scaled, overflow) = left.magnitude.multipliedReportingOverflow(by: powers[left.exponent - right.exponent])
        if overflow { return 1 }
        return scaled < right.magnitude ? -1 : scaled == right.magnitude ? 0 : 1
    }

    /// 10^0 to 10^38, the greatest that 128 bits hold.
    private static let powers: [UInt128] = {
        var powers: [UInt128] = [1]
        while powers.count < 39 { powers.append(powers[powers.count - 1] * 10) }
        return powers
    }()

    private static func digitCount(_ magnitude: UInt128) -> Int {
        // log10(2) is a little more than 1233/4096.
        let estimate = ((128 - magnitude.leadingZeroBitCount) * 1_233) >> 12
        return estimate < powers.count && magnitude >= powers[estimate] ? estimate + 1 : estimate
    }

    // MARK: Sums

    /// The exact sum.
    ///
    /// - Returns: nil where it has more digits than are kept: what is rounded depends on the order of adding up.
    package static func sum(_ left: ColumnDecimal, _ right: ColumnDecimal) -> ColumnDecimal? {
        if left.magnitude == 0 { return right }
        if right.magnitude == 0 { return left }
        let exponent = min(left.exponent, right.exponent)
        guard let a = left.scaled(to: exponent), let b = right.scaled(to: exponent) else { return nil }
        if left.isNegative == right.isNegative {
            let (magnitude, overflow) = a.addingReportingOverflow(b)
            if overflow { return nil }
            return ColumnDecimal(magnitude: magnitude, isNegative: left.isNegative, exponent: exponent)
        }
        return a >= b
            ? ColumnDecimal(magnitude: a - b, isNegative: left.isNegative, exponent: exponent)
            : ColumnDecimal(magnitude: b - a, isNegative: right.isNegative, exponent: exponent)
    }

    package var negated: ColumnDecimal {
        magnitude == 0 ? self : ColumnDecimal(magnitude: magnitude, isNegative: !isNegative, exponent: exponent)
    }

    /// The exact product; nil where it has more digits than are kept.
    package static func product(_ left: ColumnDecimal, _ right: ColumnDecimal) -> ColumnDecimal? {
        if left.magnitude == 0 || right.magnitude == 0 { return .zero }
        let (magnitude, overflow) = left.magnitude.multipliedReportingOverflow(by: right.magnitude)
        let exponent = left.exponent + right.exponent
        // Foundation's significands hold 38 digits of any value.
        guard !overflow, magnitude < powers[38], Int8(exactly: exponent) != nil else { return nil }
        return ColumnDecimal(magnitude: magnitude, isNegative: left.isNegative != right.isNegative, exponent: exponent)
    }

    /// The magnitude in units of a smaller exponent.
    @inline(__always)
    private func scaled(to exponent: Int) -> UInt128? {
        if exponent == self.exponent { return magnitude }
        guard self.exponent - exponent < Self.powers.count else { return nil }
        let (scaled, overflow) = magnitude.multipliedReportingOverflow(by: Self.powers[self.exponent - exponent])
        return overflow ? nil : scaled
    }
}
