extension OpenRow {
    /// Copies one value of a decoded column into the open row; external values by reference.
    ///
    /// - Precondition: both slots have the same kind.
    public func copy(_ slot: Int, from source: ColumnView, row: Int) {
        if source.isNull(row) {
            setNull(slot)
            return
        }
        switch source.kind {
        case .bool: set(slot, source.bool(row))
        case .int16: set(slot, source.int16(row))
        case .int32: set(slot, source.int32(row))
        case .int64: set(slot, source.int64(row))
        case .float: set(slot, source.float(row))
        case .double, .date: set(slot, source.double(row))
        case .uuid: set(slot, uuid: source.uuid(row))
        case .reference: set(slot, source.reference(row))
        case .decimal, .string, .data, .uri, .transformable:
            if source.isExternal(row) {
                set(slot, external: source.external(row))
            } else {
                set(slot, bytes: source.bytes(row))
            }
        }
    }

    /// Copies one value of a stored row into the open row; external values by reference.
    ///
    /// - Precondition: both slots have the same kind.
    /// - Throws: when the row's column cannot be decoded; nothing is set then.
    public func copy(_ slot: Int, from row: Row, slot sourceSlot: Int) throws(StoreError) {
        copy(slot, from: try row.block.column(sourceSlot), row: row.index)
    }
}

extension RowBuffer {
    /// Appends a stored row of the same layout, with its key and its sequence number.
    ///
    /// - Throws: when a column cannot be decoded; nothing is appended then.
    public func append(row: Row) throws(StoreError) {
        precondition(row.block.slotCount == layout.slots.count, "a row of another layout")
        for slot in 0..<row.block.slotCount { _ = try row.block.column(slot) }
        beginRow(key: row.block.key(row.index), sequence: row.block.sequence(row.index))
        for slot in 0..<row.block.slotCount { try self.row.copy(slot, from: row, slot: slot) }
        endRow()
    }
}
