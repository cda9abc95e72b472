import Foundation

/// Decimals as bytes: exponent, sign, then the significand, least significant byte first, without leading zeros.
package enum DecimalCoding {
    package static let maximumBytes = 18
    package static let notANumber: [UInt8] = [0, 2]

    /// What the bytes of a number say: significand x 10^exponent.
    package struct Parts {
        package var magnitude: UInt128
        package var isNegative: Bool
        package var exponent: Int
    }

    package static func encode(_ value: Decimal) -> [UInt8] {
        // The digits of a significand are those of an integer of at most 128 bits.
        guard !value.isNaN, let magnitude = UInt128(value.significand.magnitude.description) else { return notANumber }
        let parts = Parts(magnitude: magnitude, isNegative: value.isSignMinus, exponent: value.exponent)
        return Array(unsafeUninitializedCapacity: maximumBytes) { bytes, count in
            count = write(parts, to: UnsafeMutableRawBufferPointer(bytes))
        }
    }

    /// Anything that `encode` does not produce reads as not-a-number.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal {
        guard let parts = parts(bytes) else { return Decimal.nan }
        let significand: Decimal
        if let small = UInt64(exactly: parts.magnitude) {
            significand = Decimal(small)
        } else if let large = Decimal(string: parts.magnitude.description) {
            significand = large
        } else {
            return Decimal.nan
        }
        return Decimal(sign: parts.isNegative ? .minus : .plus, exponent: parts.exponent, significand: significand)
    }

    /// Nil for what is no number.
    @inline(__always)
    package static func parts(_ bytes: UnsafeRawBufferPointer) -> Parts? {
        guard bytes.count >= 2, bytes.count <= maximumBytes, bytes[1] < 2 else { return nil }
        var index = bytes.count - 1
        var magnitude: UInt128 = 0
        // Most significands fit into a word, which is shifted in one instruction.
        if bytes.count <= 10 {
            var small: UInt64 = 0
            while index >= 2 {
                small = small << 8 | UInt64(bytes[index])
                index -= 1
            }
            magnitude = UInt128(small)
        } else {
            while index >= 2 {
                magnitude = magnitude << 8 | UInt128(bytes[index])
                index -= 1
            }
        }
        return Parts(magnitude: magnitude, isNegative: bytes[1] == 1, exponent: Int(Int8(bitPattern: bytes[0])))
    }

    /// Returns how many bytes it has written, of ``maximumBytes`` at most.
    package static func write(_ parts: Parts, to bytes: UnsafeMutableRawBufferPointer) -> Int {
        bytes[0] = UInt8(bitPattern: Int8(clamping: parts.exponent))
        bytes[1] = parts.isNegative ? 1 : 0
        var (rest, count) = (parts.magnitude, 2)
        while rest != 0 {
            bytes[count] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
            count += 1
        }
        return count
    }
}
