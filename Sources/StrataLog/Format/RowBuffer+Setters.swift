extension RowBuffer {
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

    /// Doubles and dates (seconds since 2001-01-01 00:00:00 UTC).
    @inlinable
    public func set(_ slot: Int, _ value: Double) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for references.
    @inlinable
    public func set(_ slot: Int, _ value: ObjectRef) { row.set(slot, value) }

    /// The 16 bytes as two words, the first eight bytes first, each as loaded from memory.
    @inlinable
    public func set(_ slot: Int, uuid: (UInt64, UInt64)) { row.set(slot, uuid: uuid) }

    /// Sets a slot to a string.
    ///
    /// - Precondition: the slot's kind is of variable width and the value ``fitsInline(_:)``.
    @inlinable
    public func set(_ slot: Int, _ value: String) { row.set(slot, value) }

    /// Sets a slot to bytes, which are copied.
    ///
    /// - Precondition: the slot's kind is of variable width and the value ``fitsInline(_:)``.
    @inlinable
    public func set(_ slot: Int, bytes: UnsafeRawBufferPointer) { row.set(slot, bytes: bytes) }

    /// As ``set(_:bytes:)`` for rows that stay in memory: they have no place where long values could lie out of line.
    package func set(_ slot: Int, bytesOfAnyLength bytes: UnsafeRawBufferPointer) {
        row.set(slot, bytesOfAnyLength: bytes)
    }

    /// Sets a value that is stored out of line.
    /// - Precondition: the slot's kind is of variable width.
    public func set(_ slot: Int, external: ExternalValue) { row.set(slot, external: external) }

    /// Makes the slot null in the open row, as if it had not been set.
    public func setNull(_ slot: Int) { row.setNull(slot) }
}
