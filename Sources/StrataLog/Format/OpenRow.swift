/// The row of a ``RowBuffer`` that is being written, without a reference to the buffer: a loop over the slots of many
/// rows would spend more on counting references than on storing the values.
///
/// Valid as long as the buffer is retained and goes on to its next rows; every setter checks that a row is open and
/// that the slot has the value's kind.
public struct OpenRow {
    @usableFromInline let memory: UnsafeMutablePointer<RowMemory>

    @inlinable
    init(_ memory: UnsafeMutablePointer<RowMemory>) {
        self.memory = memory
    }

    /// Finished rows.
    @inlinable
    var rowCount: Int { memory.pointee.rowCount }

    /// The finished rows make a full block.
    @inlinable
    var shouldCut: Bool { memory.pointee.rawByteCount >= 32 << 10 || memory.pointee.rowCount >= 4_096 }

    /// Starts a row; see ``RowBuffer/beginRow(key:)``.
    @inlinable
    func begin(key: UInt64) {
        precondition(memory.pointee.openRow < 0, "a row is still being written")
        precondition(key <= ObjectRef.maximumKey, "primary key out of range")
        let row = memory.pointee.rowCount
        if row == memory.pointee.rowCapacity { growRows() }
        memory.pointee.keys[row] = key
        memory.pointee.openRow = Int32(truncatingIfNeeded: row)
        if memory.pointee.sequences != nil { setSequence(0) }
    }

    @usableFromInline
    func growRows() {
        memory.pointee.growRows()
    }

    @usableFromInline
    func setSequence(_ sequence: UInt64) {
        memory.pointee.setSequence(sequence)
    }

    /// Finishes the row.
    @inlinable
    func end() {
        precondition(memory.pointee.openRow >= 0, "no row is being written")
        memory.pointee.rowCount = Int(memory.pointee.openRow) &+ 1
        memory.pointee.openRow = -1
    }

    /// Whether a value of that many bytes may lie in the row; otherwise it must be stored out of line.
    @inlinable
    public func fitsInline(_ byteCount: Int) -> Bool {
        byteCount <= BlockFormat.inlineMaximumBytes
            && memory.pointee.rawByteCount &+ byteCount <= BlockFormat.inlineBudgetBytes
    }

    /// The column of the slot, ready to take a value for the open row.
    ///
    /// Traps when no row is open: `filled` is never -1, so the slow path is taken and checks it.
    @inlinable @inline(__always)
    func column(_ slot: Int) -> UnsafeMutablePointer<SlotColumn> {
        precondition(UInt(bitPattern: slot) < UInt(bitPattern: memory.pointee.slotCount), "slot out of range")
        let column = memory.pointee.columns + slot
        if column.pointee.filled != memory.pointee.openRow { prepare(column) }
        return column
    }

    /// Fills the column up to the open row, or takes back the value the row already has.
    @usableFromInline
    func prepare(_ column: UnsafeMutablePointer<SlotColumn>) {
        let row = memory.pointee.openRow
        precondition(row >= 0, "no row is being written")
        if column.pointee.filled > row {
            memory.pointee.heapBytes -= column.pointee.unset()
        } else {
            column.pointee.fillNulls(to: Int(row), rowCapacity: memory.pointee.rowCapacity)
        }
    }

    @inlinable @inline(__always)
    func store<T: BitwiseCopyable>(_ value: T, _ column: UnsafeMutablePointer<SlotColumn>) {
        let row = memory.pointee.openRow
        column.pointee.values.storeBytes(
            of: value, toByteOffset: Int(row) &* MemoryLayout<T>.stride, as: T.self)
        column.pointee.filled = row &+ 1
    }

    @inlinable @inline(__always)
    static func require(_ condition: Bool) {
        precondition(condition, "the slot has another kind")
    }

    /// Sets a slot of the open row.
    ///
    /// - Precondition: a row is being written, and the slot is a Bool.
    @inlinable
    public func set(_ slot: Int, _ value: Bool) {
        let column = column(slot)
        Self.require(column.pointee.kind == .bool)
        store(value ? 1 as UInt8 : 0, column)
    }

    /// As ``set(_:_:)-(Int,Bool)``, for 16-bit integers.
    @inlinable
    public func set(_ slot: Int, _ value: Int16) {
        let column = column(slot)
        Self.require(column.pointee.kind == .int16)
        store(value, column)
    }

    /// As ``set(_:_:)-(Int,Bool)``, for 32-bit integers.
    @inlinable
    public func set(_ slot: Int, _ value: Int32) {
        let column = column(slot)
        Self.require(column.pointee.kind == .int32)
        store(value, column)
    }

    /// As ``set(_:_:)-(Int,Bool)``, for 64-bit integers.
    @inlinable
    public func set(_ slot: Int, _ value: Int64) {
        let column = column(slot)
        Self.require(column.pointee.kind == .int64)
        store(value, column)
    }

    /// As ``set(_:_:)-(Int,Bool)``, for floats.
    @inlinable
    public func set(_ slot: Int, _ value: Float) {
        let column = column(slot)
        Self.require(column.pointee.kind == .float)
        store(value, column)
    }

    /// Doubles and dates (seconds since 2001-01-01 00:00:00 UTC).
    @inlinable
    public func set(_ slot: Int, _ value: Double) {
        let column = column(slot)
        Self.require(column.pointee.kind == .double || column.pointee.kind == .date)
        store(value, column)
    }

    /// As ``set(_:_:)-(Int,Bool)``, for references; ``ObjectRef/null`` is not a null value: leave the slot unset for
    /// that.
    @inlinable
    public func set(_ slot: Int, _ value: ObjectRef) {
        let column = column(slot)
        Self.require(column.pointee.kind == .reference)
        store(value.rawValue, column)
    }

    /// The 16 bytes as two words, the first eight bytes first, each as loaded from memory.
    @inlinable
    public func set(_ slot: Int, uuid: (UInt64, UInt64)) {
        let column = column(slot)
        Self.require(column.pointee.kind == .uuid)
        let target = column.pointee.values + Int(memory.pointee.openRow) &* 16
        target.storeBytes(of: uuid.0, as: UInt64.self)
        target.storeBytes(of: uuid.1, toByteOffset: 8, as: UInt64.self)
        column.pointee.filled = memory.pointee.openRow &+ 1
    }

    /// Sets a slot to a string.
    ///
    /// - Precondition: the slot's kind is of variable width and the value ``fitsInline(_:)``.
    @inlinable
    public func set(_ slot: Int, _ value: String) {
        let stored: Void? = value.utf8.withContiguousStorageIfAvailable { set(slot, bytes: UnsafeRawBufferPointer($0)) }
        if stored == nil { setBridged(slot, value) }
    }

    /// Stores a string that lies in memory, which stays its owner; false if it has to be stored out of line.
    ///
    /// - Precondition: the slot's kind is of variable width.
    @inlinable
    public func set(_ slot: Int, stringAt address: UnsafeMutablePointer<String>) -> Bool {
        // In place, because a copy would count a reference; a bridged string becomes a native one by it.
        address.pointee.withUTF8 { utf8 in
            guard fitsInline(utf8.count) else { return false }
            set(slot, bytes: UnsafeRawBufferPointer(utf8))
            return true
        }
    }

    /// For strings whose bytes are not at hand in one piece.
    @usableFromInline
    func setBridged(_ slot: Int, _ value: String) {
        var native = value
        native.withUTF8 { set(slot, bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Sets a slot to bytes, which are copied.
    ///
    /// - Precondition: the slot's kind is of variable width and the value ``fitsInline(_:)``.
    @inlinable
    public func set(_ slot: Int, bytes: UnsafeRawBufferPointer) {
        let column = column(slot)
        Self.require(column.pointee.width == 0)
        let count = bytes.count
        precondition(count <= BlockFormat.inlineMaximumBytes, "the value must be stored out of line")
        append(bytes, to: column)
    }

    /// As ``set(_:bytes:)`` for rows that stay in memory: they have no place where long values could lie out of line.
    package func set(_ slot: Int, bytesOfAnyLength bytes: UnsafeRawBufferPointer) {
        let column = column(slot)
        Self.require(column.pointee.width == 0)
        append(bytes, to: column)
    }

    @inlinable @inline(__always)
    func append(_ bytes: UnsafeRawBufferPointer, to column: UnsafeMutablePointer<SlotColumn>) {
        let count = bytes.count
        let start = column.pointee.heapCount
        if column.pointee.heapCapacity &- start < count { column.pointee.growHeap(by: count) }
        if count > 0 {
            column.pointee.heap.unsafelyUnwrapped.advanced(by: start)
                .copyMemory(from: bytes.baseAddress.unsafelyUnwrapped, byteCount: count)
        }
        column.pointee.heapCount = start &+ count
        memory.pointee.heapBytes &+= count
        let row = memory.pointee.openRow
        column.pointee.values.storeBytes(
            of: UInt32(truncatingIfNeeded: start &+ count), toByteOffset: (Int(row) &+ 1) &* 4, as: UInt32.self)
        column.pointee.filled = row &+ 1
    }

    /// Sets a value that is stored out of line.
    /// - Precondition: the slot's kind is of variable width.
    public func set(_ slot: Int, external: ExternalValue) {
        withUnsafeTemporaryAllocation(byteCount: ExternalValue.encodedBytes, alignment: 8) { buffer in
            external.write(to: buffer.baseAddress!)
            set(slot, bytes: UnsafeRawBufferPointer(buffer))
        }
        let column = memory.pointee.columns + slot
        SlotColumn.setBit(
            &column.pointee.externals, Int(memory.pointee.openRow), rowCapacity: memory.pointee.rowCapacity)
    }

    /// Makes the slot null in the open row, as if it had not been set.
    public func setNull(_ slot: Int) {
        _ = column(slot)
    }
}
