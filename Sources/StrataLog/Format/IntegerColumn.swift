/// A list of 64-bit integers in few bytes: what the change tables are made of.
///
/// One byte of bit width (0...64, or 255 for consecutive values), eight bytes of base, then the differences to the
/// base packed at that width from the lowest bit of the first byte. The number of values is stored elsewhere.
package enum IntegerColumn {
    private static let consecutive: UInt8 = 255
    private static let headerByteCount = 9

    package static func append(_ values: some Collection<UInt64>, to writer: inout ByteWriter) {
        guard let first = values.first else { return }
        var low = first
        var high = first
        var isConsecutive = true
        var expected = first
        for value in values {
            low = min(low, value)
            high = max(high, value)
            isConsecutive = isConsecutive && value == expected
            expected &+= 1
        }
        if isConsecutive && values.count > 1 {
            writer.append(consecutive)
            writer.append(first)
            return
        }
        let width = 64 - (high - low).leadingZeroBitCount
        writer.append(UInt8(width))
        writer.append(low)
        guard width > 0 else { return }
        var pending: UInt64 = 0
        var pendingBits = 0
        for value in values {
            let difference = value - low
            pending |= difference << UInt64(pendingBits)
            let filled = pendingBits + width
            if filled >= 64 {
                writer.append(pending)
                let used = 64 - pendingBits
                pending = used == 64 ? 0 : difference >> UInt64(used)
                pendingBits = filled - 64
            } else {
                pendingBits = filled
            }
        }
        for index in 0..<(pendingBits + 7) / 8 {
            writer.append(UInt8(truncatingIfNeeded: pending >> UInt64(index * 8)))
        }
    }

    /// - Throws: ``MalformedBytes`` when the bytes cannot hold `count` values. Allocates at most 8 bytes a value, after
    ///   checking; nothing for constant and consecutive columns.
    package static func read(count: Int, from reader: inout ByteReader) throws(MalformedBytes) -> IntegerList {
        guard count > 0 else { return [] }
        let width = try reader.read(UInt8.self)
        let base = try reader.read(UInt64.self)
        if width == consecutive {
            guard UInt64.max - base >= UInt64(count) else { throw reader.malformed("consecutive values overflow") }
            return IntegerList(from: base, step: 1, count: count)
        }
        guard width <= 64 else { throw reader.malformed("bit width \(width)") }
        if width == 0 { return IntegerList(from: base, step: 0, count: count) }
        let bits = Int(width)
        let (bitCount, overflow) = count.multipliedReportingOverflow(by: bits)
        guard !overflow else { throw reader.malformed("count \(count) is impossible") }
        let packed = try reader.read(count: (bitCount + 7) / 8)
        // Arrays grow by appending: other ways to make one look up its type each time, which counts for short ones.
        var values: [UInt64] = []
        values.reserveCapacity(count)
        unpack(packed, count: count, bits: bits) { values.append(base &+ $0) }
        return IntegerList(values)
    }

    /// Calls a closure with each packed value.
    @inline(__always)
    private static func unpack(
        _ packed: UnsafeRawBufferPointer, count: Int, bits: Int, _ body: (UInt64) -> Void
    ) {
        let mask: UInt64 = bits == 64 ? .max : (1 << UInt64(bits)) - 1
        var offset = 0
        var pending: UInt64 = 0
        var pendingBits = 0
        for _ in 0..<count {
            if pendingBits >= bits {
                body(pending & mask)
                pending >>= UInt64(bits)
                pendingBits -= bits
                continue
            }
            let next = word(packed, at: offset)
            offset += 8
            body((pending | next << UInt64(pendingBits)) & mask)
            let used = bits - pendingBits
            pending = next >> UInt64(used)
            pendingBits = 64 - used
        }
    }

    /// Eight bytes; those past the end read as zeros.
    @inline(__always)
    private static func word(_ packed: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        if offset + 8 <= packed.count {
            return UInt64(littleEndian: packed.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var value: UInt64 = 0
        for index in offset..<max(offset, packed.count) {
            value |= UInt64(packed[index]) << UInt64((index - offset) * 8)
        }
        return value
    }

    /// Passes over a column.
    ///
    /// - Throws: ``MalformedBytes`` when the bytes cannot hold `count` values.
    package static func skip(count: Int, in reader: inout ByteReader) throws(MalformedBytes) {
        guard count > 0 else { return }
        let width = try reader.read(UInt8.self)
        _ = try reader.read(UInt64.self)
        if width == consecutive { return }
        guard width <= 64 else { throw reader.malformed("bit width \(width)") }
        let (bitCount, overflow) = count.multipliedReportingOverflow(by: Int(width))
        guard !overflow else { throw reader.malformed("count \(count) is impossible") }
        _ = try reader.read(count: (bitCount + 7) / 8)
    }
}
