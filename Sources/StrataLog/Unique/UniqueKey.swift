/// The values of a row's slots as bytes that are equal exactly when the values are.
enum UniqueKey {
    /// Appends the bytes of a stored row; false when a slot is null or holds what is no number, and then what was
    /// appended means nothing.
    static func append(
        _ slots: [Int], of row: Row, reading source: BlockSource, to bytes: inout [UInt8]
    ) throws(StoreError) -> Bool {
        for slot in slots {
            // A row of an older schema may not have the slot.
            guard slot < row.block.slotCount else { return false }
            let column = try row.block.column(slot)
            if column.isNull(row.index) { return false }
            if column.width > 0 {
                let value = column.values + row.index * Int(column.width)
                guard append(value, column.kind, to: &bytes) else { return false }
            } else if column.isExternal(row.index) {
                append(counted: try source.read(column.external(row.index)), to: &bytes)
            } else {
                guard append(column.bytes(row.index), column.kind, to: &bytes) else { return false }
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
                let value = UnsafeRawPointer(column.values) + row * Int(column.width)
                guard append(value, column.kind, to: &bytes) else { return false }
                continue
            }
            let offsets = column.values.assumingMemoryBound(to: UInt32.self)
            let start = Int(offsets[row])
            let value = UnsafeRawBufferPointer(
                start: column.heap.map { UnsafeRawPointer($0) + start }, count: column.heapCount - start)
            guard SlotColumn.isSet(column.externals, row), let base = value.baseAddress else {
                guard append(value, column.kind, to: &bytes) else { return false }
                continue
            }
            append(counted: try transaction.largeValue(ExternalValue(reading: base)), to: &bytes)
        }
        return true
    }

    /// False for what is no number.
    private static func append(_ value: UnsafeRawPointer, _ kind: ValueKind, to bytes: inout [UInt8]) -> Bool {
        let width = kind.fixedWidth
        let real: Double
        switch kind {
        case .float: real = Double(value.loadUnaligned(as: Float.self))
        case .double, .date: real = value.loadUnaligned(as: Double.self)
        default: real = 1
        }
        if real.isNaN { return false }
        if real == 0 {
            // Zero has two signs, which are equal.
            bytes.append(contentsOf: repeatElement(0, count: width))
        } else {
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: value, count: width))
        }
        return true
    }

    /// A decimal as the component of an ordered index, since 1.0 is 1; false for one that is no number.
    private static func append(
        _ value: UnsafeRawBufferPointer, _ kind: ValueKind, to bytes: inout [UInt8]
    ) -> Bool {
        guard kind == .decimal else {
            append(counted: value, to: &bytes)
            return true
        }
        let component = OrderedKey.component(value, kind)
        append(counted: component, to: &bytes)
        return component != OrderedKey.null
    }

    /// With the length before it, so that "a", "bc" and "ab", "c" differ.
    private static func append(counted value: some Collection<UInt8>, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: value.count)) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: value)
    }

    /// Makes the key that rows with some values have in an ordered index over the same slots.
    ///
    /// - Returns: whether only rows with these values have it: not when a value is longer than an index looks at.
    static func makeOrdered(
        _ values: UnsafeRawBufferPointer, _ elements: [OrderedIndexDefinition.Element], in batch: OrderedBatch
    ) -> Bool {
        batch.discard()
        var rest = values[...]
        var isWhole = true
        for element in elements {
            var count = element.kind.fixedWidth
            if count == 0 {
                count = Int(UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: UInt32.self))
                rest = rest.dropFirst(4)
            }
            let value = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
            rest = rest.dropFirst(count)
            if element.kind == .decimal {
                let start = batch.pendingCount
                batch.reserve(value.count)
                batch.put(copying: value)
                if element.isDescending { batch.invert(from: start) }
            } else if !batch.append(value, element.kind, isDescending: element.isDescending) {
                isWhole = false
            }
        }
        return isWhole
    }

    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}
