// The values of the row that was begun.
extension EntityWriter {
    /// Sets a slot of the open row.
    ///
    /// - Precondition: a row is being written, and the slot is a Bool.
    @inlinable
    public func set(_ slot: Int, _ value: Bool) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for 16-bit integers.
    @inlinable
    public func set(_ slot: Int, _ value: Int16) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for 32-bit integers.
    @inlinable
    public func set(_ slot: Int, _ value: Int32) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for 64-bit integers.
    @inlinable
    public func set(_ slot: Int, _ value: Int64) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for floats.
    @inlinable
    public func set(_ slot: Int, _ value: Float) { row.set(slot, value) }

    /// For doubles and dates (seconds since 2001-01-01).
    @inlinable
    public func set(_ slot: Int, _ value: Double) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for UUIDs: 16 bytes as two words, the first eight bytes first, each as loaded from
    /// memory.
    @inlinable
    public func set(_ slot: Int, uuid value: (UInt64, UInt64)) { row.set(slot, uuid: value) }

    /// The null reference makes the slot null.
    public func set(_ slot: Int, _ value: ObjectRef) {
        if value.isNull {
            row.setNull(slot)
        } else {
            row.set(slot, value)
        }
        postings?.set(slot, value)
    }

    /// UTF-8 of any length; over 64 KiB it is stored out of line.
    @inlinable
    public func set(_ slot: Int, _ value: String) {
        if row.fitsInline(value.utf8.count) {
            row.set(slot, value)
        } else {
            setLarge(slot, value)
        }
    }

    @usableFromInline
    func setLarge(_ slot: Int, _ value: String) {
        var value = value
        value.withUTF8 { set(slot, bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Bytes of any length up to 512 MiB; over 64 KiB they are stored out of line.
    public func set(_ slot: Int, bytes: UnsafeRawBufferPointer) {
        if row.fitsInline(bytes.count) {
            row.set(slot, bytes: bytes)
        } else {
            row.set(slot, external: transaction.addLargeValue(bytes))
        }
    }

    /// Copies a stored value; one stored out of line stays where it is.
    ///
    /// - Precondition: the slots are of the same kind.
    public func copy(_ slot: Int, from row: Row, slot source: Int) throws(StoreError) {
        if postings?.contains(slot) == true {
            let column = try row.block.column(source)
            if !column.isNull(row.index) { set(slot, column.reference(row.index)) }
            return
        }
        try copy(slot, from: row, slot: source, to: self.row)
    }

    /// - Parameter mayRefer: whether a value stored out of line may stay where it is.
    func copy(
        _ slot: Int, from row: Row, slot source: Int, to target: OpenRow, mayRefer: Bool = true
    ) throws(StoreError) {
        let column = try row.block.column(source)
        if column.kind.fixedWidth == 0, !column.isNull(row.index), column.isExternal(row.index) {
            let value = column.external(row.index)
            if !mayRefer || !transaction.source.isDurable(value) || !transaction.hold(value.segment) {
                // A failed flush could still move the value (or has done so), and a reference to it would be left
                // behind; or compaction is about to move it. So it is copied.
                try transaction.source.read(value).withBytes { bytes throws(StoreError) in
                    target.set(slot, external: transaction.addLargeValue(bytes))
                }
                return
            }
        }
        target.copy(slot, from: column, row: row.index)
    }
}
