/// Rows of an earlier schema version, shown as the one that the store is read by.
extension Block {
    /// Where the values of a slot that is shown are stored; nil if the rows have no such value.
    func storedSlot(_ slot: Int) -> Int? {
        guard let plan else { return slot }
        return plan.sources[slot] < 0 ? nil : plan.sources[slot]
    }

    /// What columns that are made of others, or of nothing, take beside them: an upper bound.
    func liftedByteCount(_ plan: LiftPlan) -> Int {
        var byteCount = 0
        for (slot, source) in plan.sources.enumerated() where source < 0 || plan.fills[slot] != nil {
            let width = layout.slots[slot].kind.fixedWidth
            byteCount += rowCount * max(width, 4 + (plan.fills[slot]?.count ?? 0)) + rowCount / 8 + 16
        }
        return byteCount
    }

    /// Decodes a shown slot. Called under the block's lock.
    func shownColumn(_ slot: Int, isVerified: Bool) throws(StoreError) -> DecodedColumn {
        guard let plan else { return try decodedColumn(slot, isVerified: isVerified) }
        guard plan.sources[slot] >= 0 else { return madeColumn(slot, plan) }
        let column = try decodedColumn(plan.sources[slot], isVerified: isVerified)
        guard let fill = plan.fills[slot], column.view.nulls != nil else { return column }
        let filled = filled(column.view, with: fill)
        if let owned = column.owned { free(owned) }
        return filled
    }

    /// Publishes all columns of a plain block. Only while the block is being made.
    func publishLifted(_ stored: [ColumnView], _ plan: LiftPlan) {
        for slot in 0..<slotCount {
            guard plan.sources[slot] >= 0 else {
                publishMade(slot, madeColumn(slot, plan))
                continue
            }
            let view = stored[plan.sources[slot]]
            if let fill = plan.fills[slot], view.nulls != nil {
                publishMade(slot, filled(view, with: fill))
            } else {
                publishStored(slot, view)
            }
        }
    }

    /// The column of a slot of which the rows have no value.
    private func madeColumn(_ slot: Int, _ plan: LiftPlan) -> DecodedColumn {
        guard let fill = plan.fills[slot] else { return nullColumn(slot) }
        let empty = nullColumn(slot)
        let column = filled(empty.view, with: fill)
        if let owned = empty.owned { free(owned) }
        return column
    }

    /// A column with a value in the place of null. It shares with the other one only what lies in the block's bytes.
    private func filled(_ view: ColumnView, with fill: [UInt8]) -> DecodedColumn {
        fill.withUnsafeBytes { fill in
            view.kind.fixedWidth > 0 ? filledFixed(view, with: fill) : filledVariable(view, with: fill)
        }
    }

    private func filledFixed(_ view: ColumnView, with fill: UnsafeRawBufferPointer) -> DecodedColumn {
        let width = view.kind.fixedWidth
        let memory = allocate(max(rowCount * width, 1))
        memory.copyMemory(from: view.values, byteCount: rowCount * width)
        // SAFETY: a schema is not taken unless what fills a slot of fixed width is as long as its values.
        for row in 0..<rowCount where view.isNull(row) {
            (memory + row * width).copyMemory(from: fill.baseAddress!, byteCount: width)
        }
        return DecodedColumn(
            view: ColumnView(
                kind: view.kind, rows: rowCount, values: memory, heap: bytes, nulls: nil, externals: nil),
            owned: memory)
    }

    private func filledVariable(_ view: ColumnView, with fill: UnsafeRawBufferPointer) -> DecodedColumn {
        let offsetBytes = (rowCount + 1) * 4
        var heapBytes = 0
        for row in 0..<rowCount { heapBytes += view.isNull(row) ? fill.count : view.bytes(row).count }
        let memory = allocate(offsetBytes + max(heapBytes, 1))
        let offsets = memory.bindMemory(to: UInt32.self, capacity: rowCount + 1)
        let heap = memory + offsetBytes
        var end = 0
        for row in 0..<rowCount {
            offsets[row] = UInt32(end)
            let value = view.isNull(row) ? fill : view.bytes(row)
            if let start = value.baseAddress { (heap + end).copyMemory(from: start, byteCount: value.count) }
            end += value.count
        }
        offsets[rowCount] = UInt32(end)
        return DecodedColumn(
            view: ColumnView(
                kind: view.kind, rows: rowCount, values: memory, heap: heap, nulls: nil, externals: view.externals),
            owned: memory)
    }
}
