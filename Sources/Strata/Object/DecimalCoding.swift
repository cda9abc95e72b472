import Foundation

/// Decimals as bytes: exponent, sign, then the mantissa, least significant byte first, without leading zeros.
enum DecimalCoding {
    static let maximumBytes = 18
    private static let notANumber: [UInt8] = [0, 2]

    static func encode(_ value: Decimal) -> [UInt8] {
        guard !value.isNaN else { return notANumber }
        var bytes = [UInt8(bitPattern: Int8(clamping: value._exponent)), value._isNegative == 0 ? 0 : 1]
        let mantissa = value._mantissa
        let words = [
            mantissa.0, mantissa.1, mantissa.2, mantissa.3, mantissa.4, mantissa.5, mantissa.6, mantissa.7,
        ]
        for word in words.prefix(Int(value._length)) {
            bytes.append(UInt8(truncatingIfNeeded: word))
            bytes.append(UInt8(truncatingIfNeeded: word >> 8))
        }
        while bytes.count > 2, bytes.last == 0 { bytes.removeLast() }
        return bytes
    }

    /// Anything that `encode` does not produce reads as not-a-number.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal {
        guard bytes.count >= 2, bytes.count <= maximumBytes, bytes[1] < 2 else { return Decimal.nan }
        var words = [UInt16](repeating: 0, count: 8)
        for (position, byte) in bytes.dropFirst(2).enumerated() { words[position / 2] |= UInt16(byte) << (position % 2 * 8) }
        let length = UInt32((bytes.count - 1) / 2)
        return Decimal(
            _exponent: Int32(Int8(bitPattern: bytes[0])), _length: length,
            _isNegative: length == 0 ? 0 : UInt32(bytes[1]), _isCompact: 0, _reserved: 0,
            _mantissa: (words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7]))
    }
}
