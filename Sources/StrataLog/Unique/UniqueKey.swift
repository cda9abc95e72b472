/// The values of a row's slots as bytes that are equal exactly when the values are.
enum UniqueKey {
    /// Appends the bytes of a stored row; false when a slot is null, and then what was appended means nothing.
    static func append(
        _ slots: [Int], of row: Row, reading source: BlockSource, to bytes: inout [UInt8]
    ) throws(StoreError) -> Bool {
        for slot in slots {
            // A row of an older schema may not have the slot.
            guard slot < row.block.slotCount else { return false }
            let column = try row.block.column(slot)
            if column.isNull(row.index) { return false }
            if column.width > 0 {
                append(column.values + row.index * Int(column.width), column.kind, to: &bytes)
            } else if column.isExternal(row.index) {
                append(counted: try source.read(column.external(row.index)), to: &bytes)
            } else {
                append(counted: column.bytes(row.index), to: &bytes)
            }
        }
        return true
    }

    /// As for a stored row, of the row that is being written.
    static func append(
        _ slots: [Int], ofOpenRow memory: RowMemory, in transaction: WriteTransaction, to bytes: inout [UInt8]
    ) throws(StoreError) -> Bool {
        let row = Int(memory.openRow)
        for slot in slots {
            let column = memory.columns[slot]
            if Int(column.filled) <= row || SlotColumn.isSet(column.nulls, row) { return false }
            if column.width > 0 {
                append(UnsafeRawPointer(column.values) + row * Int(column.width), column.kind, to: &bytes)
                continue
            }
            let offsets = column.values.assumingMemoryBound(to: UInt32.self)
            let start = Int(offsets[row])
            let value = UnsafeRawBufferPointer(
                start: column.heap.map { UnsafeRawPointer($0) + start }, count: column.heapCount - start)
            guard SlotColumn.isSet(column.externals, row), let base = value.baseAddress else {
                append(counted: value, to: &bytes)
                continue
            }
            append(counted: try transaction.largeValue(ExternalValue(reading: base)), to: &bytes)
        }
        return true
    }

    private static func append(_ value: UnsafeRawPointer, _ kind: ValueKind, to bytes: inout [UInt8]) {
        let width = kind.fixedWidth
        // Zero has two signs, which are equal.
        let isZero: Bool
        switch kind {
        case .float: isZero = value.loadUnaligned(as: Float.self) == 0
        case .double, .date: isZero = value.loadUnaligned(as: Double.self) == 0
        default: isZero = false
        }
        if isZero {
            bytes.append(contentsOf: repeatElement(0, count: width))
        } else {
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: value, count: width))
        }
    }

    /// With the length before it, so that "a", "bc" and "ab", "c" differ.
    private static func append(counted value: some Collection<UInt8>, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value.count)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: value)
    }

    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}
