/// Values as byte strings whose order is that of the values: what the keys of ordered indexes are made of.
///
/// A component is 0 for null (and for what is no number, which sorts with it), or 1 and then the value: integers
/// big-endian with the sign turned over, floating-point numbers by their bits, UUIDs and references big-endian, text
/// and bytes with a 0 at the end, before which 0 becomes 1 1 and 1 becomes 1 2. In a descending element all bits of the
/// component are turned over.
public enum OrderedKey {
    /// Text and bytes are told apart by so many of their bytes at most.
    public static let valueMaximumByteCount = 1_000

    /// What null is.
    public static let null: [UInt8] = [0]
    /// What every value that is not null begins with.
    public static let present: [UInt8] = [1]

    /// The component of a value in an ascending element.
    ///
    /// - Parameters:
    ///   - value: as a ``ColumnView`` has it: little-endian for fixed kinds.
    ///   - kind: not `transformable`, whose values have no order.
    public static func component(_ value: UnsafeRawBufferPointer, _ kind: ValueKind) -> [UInt8] {
        let buffer = OrderedBatch()
        _ = buffer.append(value, kind, isDescending: false)
        return withExtendedLifetime(buffer) { Array(buffer.pendingBytes) }
    }

    /// Whether an index can be ordered by values of a kind.
    public static func isOrdered(_ kind: ValueKind) -> Bool {
        switch kind {
        case .transformable: false
        default: true
        }
    }
}

extension OrderedBatch {
    /// Appends the component of a value to the key being made.
    ///
    /// - Returns: false when the value is longer than an index looks at.
    func append(_ value: UnsafeRawBufferPointer, _ kind: ValueKind, isDescending: Bool) -> Bool {
        let start = pendingCount
        var isWhole = true
        reserve(24)
        switch kind {
        case .bool: put(1, value[0] == 0 ? 0 : 1)
        case .int16:
            put(1)
            put(bigEndian: UInt16(bitPattern: value.loadUnaligned(as: Int16.self)) ^ 1 << 15)
        case .int32:
            put(1)
            put(bigEndian: UInt32(bitPattern: value.loadUnaligned(as: Int32.self)) ^ 1 << 31)
        case .int64:
            put(1)
            put(bigEndian: UInt64(bitPattern: value.loadUnaligned(as: Int64.self)) ^ 1 << 63)
        case .float: put(real: Double(value.loadUnaligned(as: Float.self)))
        case .double, .date: put(real: value.loadUnaligned(as: Double.self))
        case .uuid:
            put(1)
            put(copying: value)
        case .reference:
            put(1)
            putReference(value.loadUnaligned(as: UInt64.self))
        case .decimal: putDecimal(value)
        case .string, .data, .uri, .transformable:
            isWhole = value.count <= OrderedKey.valueMaximumByteCount
            putText(UnsafeRawBufferPointer(rebasing: value.prefix(OrderedKey.valueMaximumByteCount)))
        }
        if isDescending { invert(from: start) }
        return isWhole
    }

    func appendNull(isDescending: Bool) {
        reserve(1)
        put(isDescending ? 0xFF : 0)
    }

    /// What ends every entry: the key and then the entity, so that entries with equal values lie in the order of their
    /// keys.
    func putReference(_ raw: UInt64) {
        let ref = ObjectRef(rawValue: raw)
        reserve(8)
        put(bigEndian: ref.key << 16 | UInt64(ref.entity))
    }

    private func put(real value: Double) {
        if value.isNaN { return put(0) }
        // Zero has two signs, which are equal.
        let bits = (value + 0).bitPattern
        put(1)
        put(bigEndian: bits >> 63 != 0 ? ~bits : bits | 1 << 63)
    }

    private func putText(_ value: UnsafeRawBufferPointer) {
        reserve(value.count * 2 + 2)
        put(1)
        for byte in value {
            if byte > 1 {
                put(byte)
            } else {
                put(1, byte + 1)
            }
        }
        put(0)
    }

    /// Exponent, sign and mantissa (see the object graph's coding): zero is 2; positive numbers are 3, the exponent of
    /// a fraction 0.1 <= f < 1, its digits plus 1, and 0; negative ones are 1 and the same turned over.
    private func putDecimal(_ value: UnsafeRawBufferPointer) {
        reserve(64)
        guard value.count >= 2, value.count <= 18, value[1] < 2 else { return put(0) }
        var mantissa: UInt128 = 0
        for byte in value.dropFirst(2).reversed() { mantissa = mantissa << 8 | UInt128(byte) }
        put(1)
        guard mantissa != 0 else { return put(2) }
        let isNegative = value[1] == 1
        var digits: [UInt8] = []
        var exponent = Int(Int8(bitPattern: value[0]))
        while mantissa % 10 == 0 {
            mantissa /= 10
            exponent += 1
        }
        while mantissa != 0 {
            digits.append(UInt8(mantissa % 10) + 1)
            mantissa /= 10
        }
        put(isNegative ? 1 : 3)
        let start = pendingCount
        put(bigEndian: UInt16(exponent + digits.count + 0x4000))
        for digit in digits.reversed() { put(digit) }
        put(0)
        if isNegative { invert(from: start) }
    }
}
