/// Rows of one entity as columns in plain memory.
///
/// One allocation holds the fixed-width values, the offsets and the keys of all columns; heaps and bitmaps grow by
/// themselves.
@usableFromInline
struct RowMemory {
    @usableFromInline let columns: UnsafeMutablePointer<SlotColumn>
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
    private var arena: UnsafeMutableRawPointer

    /// Bytes of the rows' values, before packing; a variable slot counts one byte more than its value.
    @inlinable
    var rawByteCount: Int { rowCount &* fixedRowBytes &+ heapBytes }

    /// What the rows take in memory, with the room that was made for more.
    var heldByteCount: Int {
        var count = rowCapacity * 8 + (sequences == nil ? 0 : rowCapacity * 8)
        for slot in 0..<slotCount {
            let column = columns + slot
            count += Self.columnBytes(width: Int(column.pointee.width), rowCapacity: rowCapacity)
            count += column.pointee.heapCapacity + MemoryLayout<SlotColumn>.stride
            if column.pointee.nulls != nil { count += BlockFormat.bitmapBytes(rowCapacity) }
        }
        return count
    }

    /// Whether a value lies out of line.
    var hasExternals: Bool { (0..<slotCount).contains { columns[$0].externals != nil } }

    init(slots: [SlotLayout], rowCapacity: Int) {
        slotCount = slots.count
        self.rowCapacity = rowCapacity
        columns = .allocate(capacity: Swift.max(slots.count, 1))
        arena = .allocate(
            byteCount: Self.arenaBytes(slots.lazy.map(\.kind.fixedWidth), rowCapacity: rowCapacity), alignment: 16)
        keys = arena.assumingMemoryBound(to: UInt64.self)
        var fixed = 0
        var position = rowCapacity * 8
        for (index, slot) in slots.enumerated() {
            let width = slot.kind.fixedWidth
            fixed += Swift.max(width, 1)
            (columns + index).initialize(to: SlotColumn(kind: slot.kind, values: arena + position))
            if width == 0 { (arena + position).storeBytes(of: 0, as: UInt32.self) }
            position += Self.columnBytes(width: width, rowCapacity: rowCapacity)
        }
        fixedRowBytes = fixed
    }

    private static func columnBytes(width: Int, rowCapacity: Int) -> Int {
        BlockFormat.aligned(width > 0 ? width * rowCapacity : 4 * (rowCapacity + 1), to: 8)
    }

    private static func arenaBytes(_ widths: some Sequence<Int>, rowCapacity: Int) -> Int {
        widths.reduce(rowCapacity * 8) { $0 + columnBytes(width: $1, rowCapacity: rowCapacity) }
    }

    /// Doubles the row capacity.
    mutating func growRows() {
        let capacity = Swift.min(rowCapacity * 2, BlockFormat.rowsMaximum)
        precondition(capacity > rowCount, "a block holds at most \(BlockFormat.rowsMaximum) rows")
        let widths = (0..<slotCount).lazy.map { [columns] in Int(columns[$0].width) }
        let grown = UnsafeMutableRawPointer.allocate(
            byteCount: Self.arenaBytes(widths, rowCapacity: capacity), alignment: 16)
        grown.copyMemory(from: keys, byteCount: rowCount * 8)
        var position = capacity * 8
        for slot in 0..<slotCount {
            let column = columns + slot
            let width = Int(column.pointee.width)
            let filled = Int(column.pointee.filled)
            (grown + position).copyMemory(
                from: column.pointee.values, byteCount: width > 0 ? filled * width : (filled + 1) * 4)
            column.pointee.values = grown + position
            position += Self.columnBytes(width: width, rowCapacity: capacity)
            SlotColumn.growBitmap(&column.pointee.nulls, from: rowCapacity, to: capacity)
            SlotColumn.growBitmap(&column.pointee.externals, from: rowCapacity, to: capacity)
        }
        if let old = sequences {
            let new = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
            new.update(from: old, count: rowCount)
            old.deallocate()
            sequences = new
        }
        arena.deallocate()
        arena = grown
        keys = grown.assumingMemoryBound(to: UInt64.self)
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
        for slot in 0..<slotCount {
            columns[slot].heap?.deallocate()
            columns[slot].nulls?.deallocate()
            columns[slot].externals?.deallocate()
        }
        columns.deallocate()
        sequences?.deallocate()
        arena.deallocate()
    }
}
