/// Rows of one entity as columns in plain memory.
///
/// One allocation holds the columns, the keys, the fixed-width values, the offsets, and heaps of a few bytes; larger
/// heaps and bitmaps have their own.
@usableFromInline
struct RowMemory {
    /// At the start of the allocation, which is scratch memory.
    @usableFromInline private(set) var columns: UnsafeMutablePointer<SlotColumn>
    @usableFromInline let slotCount: Int
    @usableFromInline var rowCount = 0
    @usableFromInline var rowCapacity: Int
    /// The row being written, -1 between rows.
    @usableFromInline var openRow: Int32 = -1
    @usableFromInline var keys: UnsafeMutablePointer<UInt64>
    /// The rows' own sequence numbers, 0 for "the block's"; nil while none has one.
    @usableFromInline var sequences: UnsafeMutablePointer<UInt64>?
    @usableFromInline var heapBytes = 0
    /// What a row counts as, apart from its heap bytes: the fixed widths, and one byte for each variable slot.
    @usableFromInline let fixedRowBytes: Int
    /// The length of the allocation.
    private var byteCount: Int

    /// Bytes of the rows' values, before packing; a variable slot counts one byte more than its value.
    @inlinable
    var rawByteCount: Int { rowCount &* fixedRowBytes &+ heapBytes }

    /// What the rows take in memory, with the room that was made for more.
    var heldByteCount: Int {
        var count = Swift.max(byteCount, ScratchMemory.rows.byteCount) + (sequences == nil ? 0 : rowCapacity * 8)
        for slot in 0..<slotCount {
            let column = columns + slot
            count += column.pointee.ownHeapByteCount
            if column.pointee.nulls != nil { count += BlockFormat.bitmapBytes(rowCapacity) }
        }
        return count
    }

    /// Whether a value lies out of line.
    var hasExternals: Bool { (0..<slotCount).contains { columns[$0].externals != nil } }

    init(slots: [SlotLayout], rowCapacity: Int) {
        slotCount = slots.count
        self.rowCapacity = rowCapacity
        var position = Self.valuesOffset(slots.count, rowCapacity: rowCapacity)
        var byteCount = position
        var fixed = 0
        for index in slots.indices {
            let width = slots[index].kind.fixedWidth
            fixed += Swift.max(width, 1)
            byteCount += Self.columnBytes(width: width, rowCapacity: rowCapacity)
        }
        fixedRowBytes = fixed
        self.byteCount = byteCount
        let memory = ScratchMemory.rows.allocate(byteCount: byteCount)
        columns = memory.assumingMemoryBound(to: SlotColumn.self)
        keys = Self.keys(in: memory, slotCount)
        for index in slots.indices {
            let kind = slots[index].kind
            let values = memory + position
            let isVariable = kind.fixedWidth == 0
            if isVariable { values.storeBytes(of: 0, as: UInt32.self) }
            (columns + index).initialize(
                to: SlotColumn(
                    kind: kind, values: values,
                    heap: isVariable ? values + Self.offsetBytes(rowCapacity) : nil))
            position += Self.columnBytes(width: kind.fixedWidth, rowCapacity: rowCapacity)
        }
    }

    private static func keysOffset(_ slotCount: Int) -> Int {
        BlockFormat.aligned(slotCount * MemoryLayout<SlotColumn>.stride, to: 16)
    }

    private static func keys(in memory: UnsafeMutableRawPointer, _ slotCount: Int) -> UnsafeMutablePointer<UInt64> {
        (memory + keysOffset(slotCount)).assumingMemoryBound(to: UInt64.self)
    }

    private static func valuesOffset(_ slotCount: Int, rowCapacity: Int) -> Int {
        keysOffset(slotCount) + rowCapacity * 8
    }

    private static func offsetBytes(_ rowCapacity: Int) -> Int {
        BlockFormat.aligned(4 * (rowCapacity + 1), to: 8)
    }

    /// Values, or offsets and the heap behind them.
    private static func columnBytes(width: Int, rowCapacity: Int) -> Int {
        width > 0
            ? BlockFormat.aligned(width * rowCapacity, to: 8)
            : offsetBytes(rowCapacity) + SlotColumn.sharedHeapByteCount
    }

    /// Doubles the row capacity.
    mutating func growRows() {
        let capacity = Swift.min(rowCapacity * 2, BlockFormat.rowsMaximum)
        precondition(capacity > rowCount, "a block holds at most \(BlockFormat.rowsMaximum) rows")
        var position = Self.valuesOffset(slotCount, rowCapacity: capacity)
        var byteCount = position
        for slot in 0..<slotCount {
            byteCount += Self.columnBytes(width: Int(columns[slot].width), rowCapacity: capacity)
        }
        let grown = ScratchMemory.rows.allocate(byteCount: byteCount)
        let grownColumns = grown.assumingMemoryBound(to: SlotColumn.self)
        let grownKeys = Self.keys(in: grown, slotCount)
        grownKeys.initialize(from: keys, count: rowCount)
        for slot in 0..<slotCount {
            var column = columns[slot]
            let width = Int(column.width)
            let filled = Int(column.filled)
            let values = grown + position
            values.copyMemory(from: column.values, byteCount: width > 0 ? filled * width : (filled + 1) * 4)
            column.values = values
            if width == 0, column.ownHeapByteCount == 0, let heap = column.heap {
                let moved = values + Self.offsetBytes(capacity)
                moved.copyMemory(from: heap, byteCount: column.heapCount)
                column.heap = moved
            }
            position += Self.columnBytes(width: width, rowCapacity: capacity)
            SlotColumn.growBitmap(&column.nulls, from: rowCapacity, to: capacity)
            SlotColumn.growBitmap(&column.externals, from: rowCapacity, to: capacity)
            (grownColumns + slot).initialize(to: column)
        }
        if let old = sequences {
            let new = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
            new.update(from: old, count: rowCount)
            old.deallocate()
            sequences = new
        }
        ScratchMemory.rows.free(UnsafeMutableRawPointer(columns), byteCount: self.byteCount)
        self.byteCount = byteCount
        columns = grownColumns
        keys = grownKeys
        rowCapacity = capacity
    }

    /// Gives the row about to be written a sequence number of its own.
    mutating func setSequence(_ sequence: UInt64) {
        let own: UnsafeMutablePointer<UInt64>
        if let sequences {
            own = sequences
        } else {
            if sequence == 0 { return }
            own = .allocate(capacity: rowCapacity)
            own.initialize(repeating: 0, count: rowCount)
            sequences = own
        }
        own[rowCount] = sequence
    }

    /// Fills every column up to the row count.
    mutating func complete() {
        precondition(openRow < 0, "a row is still being written")
        for slot in 0..<slotCount { columns[slot].fillNulls(to: rowCount, rowCapacity: rowCapacity) }
    }

    func deallocate() {
        for slot in 0..<slotCount { columns[slot].deallocate() }
        sequences?.deallocate()
        ScratchMemory.rows.free(UnsafeMutableRawPointer(columns), byteCount: byteCount)
    }
}
