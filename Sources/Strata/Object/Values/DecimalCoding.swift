import Foundation

/// Decimals as bytes: exponent, sign, then the mantissa, least significant byte first, without leading zeros.
enum DecimalCoding {
    static let maximumBytes = 18
    private static let notANumber: [UInt8] = [0, 2]

    static func encode(_ value: Decimal) -> [UInt8] {
        // The digits of a significand are those of an integer of at most 128 bits.
        guard !value.isNaN, let mantissa = UInt128(value.significand.magnitude.description) else { return notANumber }
        var bytes = [UInt8(bitPattern: Int8(clamping: value.exponent)), value.isSignMinus ? 1 : 0]
        var rest = mantissa
        while rest != 0 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
        return bytes
    }

    /// Anything that `encode` does not produce reads as not-a-number.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal {
        guard bytes.count >= 2, bytes.count <= maximumBytes, bytes[1] < 2 else { return Decimal.nan }
        var mantissa: UInt128 = 0
        for byte in bytes.dropFirst(2).reversed() { mantissa = mantissa << 8 | UInt128(byte) }
        let significand: Decimal
        if let small = UInt64(exactly: mantissa) {
            significand = Decimal(small)
        } else if let large = Decimal(string: mantissa.description) {
            significand = large
        } else {
            return Decimal.nan
        }
        return Decimal(
            sign: bytes[1] == 1 ? .minus : .plus, exponent: Int(Int8(bitPattern: bytes[0])), significand: significand)
    }
}
