/// Encodes the chunk of one column, choosing how.
struct ColumnEncoder {
    private let column: SlotColumn
    private let rows: Int
    /// Nil for keys and row sequences, which are never compressed.
    private let slot: Int?
    private let advice: CompressionAdvice?

    init(_ column: SlotColumn, rows: Int, slot: Int?, advice: CompressionAdvice?) {
        self.column = column
        self.rows = rows
        self.slot = slot
        self.advice = advice
    }

    /// Writes the chunk at `target`, which has room for the values, two bitmaps and slack.
    /// - Returns: The descriptor, without offset and checksum.
    func encode(at target: UnsafeMutableRawPointer) -> ColumnDescriptor {
        var descriptor = ColumnDescriptor(encoding: .raw, kind: column.kind)
        descriptor.nullCount = nullCount()
        if descriptor.nullCount == rows {
            if column.width == 0 { descriptor.encoding = .variable }
            descriptor.flags = .allNull
            return descriptor
        }
        var cursor = target
        if descriptor.nullCount > 0, let nulls = column.nulls {
            descriptor.flags.insert(.hasNulls)
            append(bitmap: nulls, &cursor)
        }
        // A column without nulls is packed by loops that do not look at the bitmap.
        switch column.kind {
        case .bool: encodeIntegers(UInt8.self, &descriptor, &cursor)
        case .int16: encodeIntegers(Int16.self, &descriptor, &cursor)
        case .int32: encodeIntegers(Int32.self, &descriptor, &cursor)
        case .int64, .reference: encodeIntegers(Int64.self, &descriptor, &cursor)
        case .float: encodeReals(Float.self, &descriptor, &cursor)
        case .double, .date: encodeReals(Double.self, &descriptor, &cursor)
        case .uuid: encodeRaw(&descriptor, &cursor)
        case .decimal, .string, .data, .uri, .transformable: encodeVariable(&descriptor, &cursor)
        }
        descriptor.storedLength = cursor - target
        return descriptor
    }

    private func nullCount() -> Int {
        guard let nulls = column.nulls else { return 0 }
        var count = 0
        // Bits past the last row are never set.
        for byte in 0..<(rows + 7) / 8 { count += nulls[byte].nonzeroBitCount }
        return count
    }

    @inline(__always)
    private func isNull(_ row: Int) -> Bool {
        SlotColumn.isSet(column.nulls, row)
    }

    private func append(bitmap: UnsafePointer<UInt8>, _ cursor: inout UnsafeMutableRawPointer) {
        let count = BlockFormat.bitmapBytes(rows)
        cursor.copyMemory(from: bitmap, byteCount: count)
        cursor += count
    }
}

// MARK: - Integers

extension ColumnEncoder {
    private func encodeIntegers<T: FixedWidthInteger>(
        _: T.Type, _ descriptor: inout ColumnDescriptor, _ cursor: inout UnsafeMutableRawPointer
    ) {
        let values = column.values.assumingMemoryBound(to: T.self)
        let hasNulls = descriptor.flags.contains(.hasNulls)
        var least = T.max
        var greatest = T.min
        if hasNulls {
            for row in 0..<rows where !isNull(row) {
                least = min(least, values[row])
                greatest = max(greatest, values[row])
            }
        } else {
            for row in 0..<rows {
                least = min(least, values[row])
                greatest = max(greatest, values[row])
            }
        }
        let base = Int64(truncatingIfNeeded: least)
        let range = UInt64(bitPattern: Int64(truncatingIfNeeded: greatest) &- base)
        descriptor.flags.insert(.zone)
        descriptor.base = UInt64(bitPattern: base)
        descriptor.maximum = UInt64(bitPattern: Int64(truncatingIfNeeded: greatest))
        if !hasNulls, range == UInt64(rows - 1), rows > 1, countsUp(values) {
            descriptor.encoding = .consecutive
            return
        }
        let bits = BitPacking.bits(range: range)
        guard bits <= BitPacking.bitsMaximum, bits < T.bitWidth else {
            encodeRaw(&descriptor, &cursor)
            return
        }
        descriptor.encoding = .packed
        descriptor.bits = bits
        if hasNulls {
            cursor += BitPacking.pack(count: rows, bits: bits, into: cursor) { row in
                isNull(row) ? 0 : UInt64(bitPattern: Int64(truncatingIfNeeded: values[row]) &- base)
            }
        } else {
            cursor += BitPacking.pack(count: rows, bits: bits, into: cursor) { row in
                UInt64(bitPattern: Int64(truncatingIfNeeded: values[row]) &- base)
            }
        }
    }

    private func countsUp<T: FixedWidthInteger>(_ values: UnsafeMutablePointer<T>) -> Bool {
        for row in 1..<rows where values[row] != values[row - 1] &+ 1 { return false }
        return true
    }

    /// The values as they are, or LZ4 of them.
    private func encodeRaw(_ descriptor: inout ColumnDescriptor, _ cursor: inout UnsafeMutableRawPointer) {
        descriptor.encoding = .raw
        let count = rows * Int(column.width)
        descriptor.rawLength = count
        appendBytes(column.values, count: count, mayCompress: column.width >= 4, &descriptor, &cursor)
    }

    private func appendBytes(
        _ bytes: UnsafeRawPointer, count: Int, mayCompress: Bool, _ descriptor: inout ColumnDescriptor,
        _ cursor: inout UnsafeMutableRawPointer
    ) {
        if mayCompress, let slot, count >= BlockFormat.compressionMinimumBytes, advice?.shouldTry(slot) ?? true {
            if let written = LZ4.compress(bytes, count: count, into: cursor, capacity: count - count / 8) {
                descriptor.flags.insert(.compressed)
                cursor += written
                return
            }
            advice?.didNotShrink(slot)
        }
        cursor.copyMemory(from: bytes, byteCount: count)
        cursor += count
    }
}

// MARK: - Reals

extension ColumnEncoder {
    private func encodeReals<T: BinaryFloatingPoint & BitwiseCopyable>(
        _: T.Type, _ descriptor: inout ColumnDescriptor, _ cursor: inout UnsafeMutableRawPointer
    ) {
        let values = column.values.assumingMemoryBound(to: T.self)
        if let (least, greatest) = integralRange(values) {
            let bits = BitPacking.bits(range: UInt64(bitPattern: greatest &- least))
            if bits < Int(column.width) * 8, bits <= BitPacking.bitsMaximum {
                descriptor.encoding = .integral
                descriptor.bits = bits
                descriptor.flags.insert(.zone)
                descriptor.base = UInt64(bitPattern: least)
                descriptor.maximum = UInt64(bitPattern: greatest)
                cursor += BitPacking.pack(count: rows, bits: bits, into: cursor) { row in
                    isNull(row) ? 0 : UInt64(bitPattern: Int64(values[row]) &- least)
                }
                return
            }
        }
        if let pattern = constantPattern() {
            descriptor.encoding = .constant
            descriptor.base = pattern
            descriptor.maximum = pattern
            if !isNaN(pattern) { descriptor.flags.insert(.zone) }
            return
        }
        var least = Double.infinity
        var greatest = -Double.infinity
        var isOrdered = true
        for row in 0..<rows where !isNull(row) {
            let value = Double(values[row])
            isOrdered = isOrdered && value == value
            least = min(least, value)
            greatest = max(greatest, value)
        }
        if isOrdered {
            descriptor.flags.insert(.zone)
            descriptor.base = least.bitPattern
            descriptor.maximum = greatest.bitPattern
        }
        encodeRaw(&descriptor, &cursor)
    }

    /// The range of the values when each is an integer that converts back to the same bits: no fraction, no -0.0,
    /// nothing from 2^53 up, no infinity, no NaN.
    private func integralRange<T: BinaryFloatingPoint>(_ values: UnsafeMutablePointer<T>) -> (Int64, Int64)? {
        var least = Int64.max
        var greatest = Int64.min
        for row in 0..<rows where !isNull(row) {
            let value = values[row]
            guard value.magnitude < 9_007_199_254_740_992 else { return nil }
            let integer = Int64(value)
            guard T(integer) == value, value != 0 || value.sign == .plus else { return nil }
            least = min(least, integer)
            greatest = max(greatest, integer)
        }
        return (least, greatest)
    }

    private func isNaN(_ pattern: UInt64) -> Bool {
        column.width == 4 ? Float(bitPattern: UInt32(pattern)).isNaN : Double(bitPattern: pattern).isNaN
    }

    /// The bits that all values share (zero-extended), if they do.
    private func constantPattern() -> UInt64? {
        func pattern(_ row: Int) -> UInt64 {
            column.width == 4
                ? UInt64(column.values.load(fromByteOffset: row * 4, as: UInt32.self))
                : column.values.load(fromByteOffset: row * 8, as: UInt64.self)
        }
        var common: UInt64?
        for row in 0..<rows where !isNull(row) {
            let bits = pattern(row)
            if let common, common != bits { return nil }
            common = bits
        }
        return common
    }
}

// MARK: - Variable width

extension ColumnEncoder {
    private func encodeVariable(_ descriptor: inout ColumnDescriptor, _ cursor: inout UnsafeMutableRawPointer) {
        descriptor.encoding = .variable
        if let externals = column.externals {
            descriptor.flags.insert(.externals)
            append(bitmap: externals, &cursor)
        }
        let offsets = column.values.assumingMemoryBound(to: UInt32.self)
        var least = UInt32.max
        var greatest: UInt32 = 0
        for row in 0..<rows {
            let length = offsets[row + 1] &- offsets[row]
            least = min(least, length)
            greatest = max(greatest, length)
        }
        descriptor.base = UInt64(least)
        descriptor.maximum = UInt64(greatest)
        descriptor.bits = BitPacking.bits(range: UInt64(greatest - least))
        cursor += BitPacking.pack(count: rows, bits: descriptor.bits, into: cursor) { row in
            UInt64(offsets[row + 1] &- offsets[row] &- least)
        }
        descriptor.rawLength = column.heapCount
        guard let heap = column.heap else { return }
        // External values are filled in after encoding, so that a heap with some stays as it is.
        appendBytes(heap, count: column.heapCount, mayCompress: column.externals == nil, &descriptor, &cursor)
    }
}
