/// Makes the keys of one block's rows for one index.
struct OrderedKeyReader {
    private let definition: OrderedIndexDefinition
    /// Parallel to the definition's elements; nil for slots that the block's schema does not have yet.
    private let columns: [ColumnView?]
    let block: Block
    private let source: BlockSource

    init(_ definition: OrderedIndexDefinition, _ block: Block, _ source: BlockSource) throws(StoreError) {
        self.definition = definition
        self.block = block
        self.source = source
        var columns: [ColumnView?] = []
        columns.reserveCapacity(definition.elements.count)
        for element in definition.elements { columns.append(try Self.column(element.slot, element.kind, block)) }
        self.columns = columns
    }

    private static func column(_ slot: Int, _ kind: ValueKind, _ block: Block) throws(StoreError) -> ColumnView? {
        guard slot < block.slotCount else { return nil }
        let column = try block.column(slot)
        guard column.kind == kind else {
            throw StoreError(.schemaMismatch, "an index is over slot \(slot) as \(kind), but it is \(column.kind)")
        }
        return column
    }

    /// Appends the key of a row to the batch, without ending the entry.
    ///
    /// - Returns: false when the row is not in the index; then nothing was appended.
    func append(_ row: Int, to batch: OrderedBatch) throws(StoreError) -> Bool {
        if let filter = definition.filter {
            let scratch = OrderedBatch()
            let isIn = try filter.admits { slot, kind, test throws(StoreError) in
                scratch.discard()
                try append(try Self.column(slot, kind, block), row, kind, isDescending: false, to: scratch)
                return test(scratch.pendingBytes)
            }
            guard isIn else { return false }
        }
        do throws(StoreError) {
            for (index, element) in definition.elements.enumerated() {
                try append(columns[index], row, element.kind, isDescending: element.isDescending, to: batch)
            }
        } catch {
            batch.discard()
            throw error
        }
        return true
    }

    private func append(
        _ column: ColumnView?, _ row: Int, _ kind: ValueKind, isDescending: Bool, to batch: OrderedBatch
    ) throws(StoreError) {
        guard let column, !column.isNull(row) else { return batch.appendNull(isDescending: isDescending) }
        if column.width > 0 {
            let width = Int(column.width)
            let value = UnsafeRawBufferPointer(start: column.values + row * width, count: width)
            _ = batch.append(value, kind, isDescending: isDescending)
        } else if column.isExternal(row) {
            let isWhole = try source.read(column.external(row)).withUnsafeBytes {
                batch.append($0, kind, isDescending: isDescending)
            }
            if !isWhole { batch.markInexact() }
        } else if !batch.append(column.bytes(row), kind, isDescending: isDescending) {
            batch.markInexact()
        }
    }
}

/// Makes the key of a row that is being written.
enum OpenRowKey {
    /// As ``OrderedKeyReader/append(_:to:)``.
    static func append(
        _ definition: OrderedIndexDefinition, _ memory: RowMemory, _ transaction: WriteTransaction,
        to batch: OrderedBatch
    ) throws(StoreError) -> Bool {
        if let filter = definition.filter {
            let scratch = OrderedBatch()
            let isIn = try filter.admits { slot, kind, test throws(StoreError) in
                scratch.discard()
                try append(slot, kind, isDescending: false, memory, transaction, to: scratch)
                return test(scratch.pendingBytes)
            }
            guard isIn else { return false }
        }
        for element in definition.elements {
            try append(
                element.slot, element.kind, isDescending: element.isDescending, memory, transaction, to: batch)
        }
        return true
    }

    private static func append(
        _ slot: Int, _ kind: ValueKind, isDescending: Bool, _ memory: RowMemory, _ transaction: WriteTransaction,
        to batch: OrderedBatch
    ) throws(StoreError) {
        let row = Int(memory.openRow)
        guard slot < memory.slotCount else { return batch.appendNull(isDescending: isDescending) }
        let column = memory.columns + slot
        if Int(column.pointee.filled) <= row || SlotColumn.isSet(column.pointee.nulls, row) {
            return batch.appendNull(isDescending: isDescending)
        }
        let width = Int(column.pointee.width)
        if width > 0 {
            let start = UnsafeRawPointer(column.pointee.values) + row * width
            _ = batch.append(UnsafeRawBufferPointer(start: start, count: width), kind, isDescending: isDescending)
            return
        }
        let start = Int(column.pointee.values.assumingMemoryBound(to: UInt32.self)[row])
        let value = UnsafeRawBufferPointer(
            start: column.pointee.heap.map { UnsafeRawPointer($0) + start }, count: column.pointee.heapCount - start)
        let isWhole: Bool
        if SlotColumn.isSet(column.pointee.externals, row), let base = value.baseAddress {
            isWhole = try transaction.largeValue(ExternalValue(reading: base)).withUnsafeBytes {
                batch.append($0, kind, isDescending: isDescending)
            }
        } else {
            isWhole = batch.append(value, kind, isDescending: isDescending)
        }
        if !isWhole { batch.markInexact() }
    }
}
