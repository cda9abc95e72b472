/// The decoded values of one slot of a block: unretained pointers, valid while the block is retained.
///
/// The typed accessors check the row and the width of the slot's kind, so a wrong call traps instead of reading
/// elsewhere; the raw pointers are for loops that have checked both once.
public struct ColumnView {
    /// What the slot holds.
    public let kind: ValueKind
    /// Bytes of one value in ``values``; 0 for kinds of variable width.
    public let width: UInt8
    @usableFromInline let rows: UInt32
    /// Fixed kinds: `rowCount` values of ``width`` bytes, aligned to their size (UUIDs to 8). Variable kinds: see
    /// ``offsets``.
    public let values: UnsafeRawPointer
    /// Variable kinds: the bytes that ``offsets`` count in.
    public let heap: UnsafeRawPointer
    /// Bit `row` (lowest first) is set when the row is null; nil when none is.
    public let nulls: UnsafePointer<UInt8>?
    /// Bit `row` is set when the row's bytes are an ``ExternalValue``; nil when none are.
    public let externals: UnsafePointer<UInt8>?

    @usableFromInline
    init(
        kind: ValueKind, rows: Int, values: UnsafeRawPointer, heap: UnsafeRawPointer, nulls: UnsafePointer<UInt8>?,
        externals: UnsafePointer<UInt8>?
    ) {
        self.kind = kind
        self.width = UInt8(kind.fixedWidth)
        self.rows = UInt32(rows)
        self.values = values
        self.heap = heap
        self.nulls = nulls
        self.externals = externals
    }

    /// How many rows the block has.
    @inlinable
    public var rowCount: Int { Int(rows) }

    /// Variable kinds: `rowCount + 1` ascending offsets into ``heap``.
    @inlinable
    public var offsets: UnsafePointer<UInt32> {
        precondition(width == 0, "the slot has no variable width")
        return values.assumingMemoryBound(to: UInt32.self)
    }

    @inlinable @inline(__always)
    func check(_ row: Int) {
        precondition(UInt(bitPattern: row) < UInt(rows), "row out of range")
    }

    @inlinable @inline(__always)
    func load<T: BitwiseCopyable>(_ row: Int, _: T.Type) -> T {
        check(row)
        precondition(Int(width) == MemoryLayout<T>.size, "the slot has another kind")
        return values.load(fromByteOffset: row &* MemoryLayout<T>.stride, as: T.self)
    }

    /// Whether a row has no value.
    @inlinable
    public func isNull(_ row: Int) -> Bool {
        guard let nulls else { return false }
        check(row)
        return nulls[row &>> 3] &>> UInt8(truncatingIfNeeded: row & 7) & 1 != 0
    }

    /// A row's Bool; false when null.
    @inlinable
    public func bool(_ row: Int) -> Bool { load(row, UInt8.self) != 0 }

    /// A row's 16-bit integer; 0 when null.
    @inlinable
    public func int16(_ row: Int) -> Int16 { load(row, Int16.self) }

    /// A row's 32-bit integer; 0 when null.
    @inlinable
    public func int32(_ row: Int) -> Int32 { load(row, Int32.self) }

    /// A row's 64-bit integer; 0 when null.
    @inlinable
    public func int64(_ row: Int) -> Int64 { load(row, Int64.self) }

    /// A row's float; 0 when null.
    @inlinable
    public func float(_ row: Int) -> Float { load(row, Float.self) }

    /// Doubles and dates (seconds since 2001-01-01 00:00:00 UTC).
    @inlinable
    public func double(_ row: Int) -> Double { load(row, Double.self) }

    /// A row's reference; ``ObjectRef/null`` when null.
    @inlinable
    public func reference(_ row: Int) -> ObjectRef { ObjectRef(rawValue: load(row, UInt64.self)) }

    /// The 16 bytes as two words, the first eight bytes first, each as loaded from memory.
    @inlinable
    public func uuid(_ row: Int) -> (UInt64, UInt64) {
        check(row)
        precondition(width == 16, "the slot has another kind")
        return (
            values.load(fromByteOffset: row &* 16, as: UInt64.self),
            values.load(fromByteOffset: row &* 16 &+ 8, as: UInt64.self)
        )
    }

    /// The bytes of a decimal, string, data, uri or transformable; none when null. For a value stored out of line they
    /// are an encoded ``ExternalValue``: see ``isExternal(_:)``.
    @inlinable
    public func bytes(_ row: Int) -> UnsafeRawBufferPointer {
        check(row)
        let offsets = offsets
        let start = Int(offsets[row])
        return UnsafeRawBufferPointer(start: heap + start, count: Int(offsets[row &+ 1]) &- start)
    }

    /// The row's bytes as text; ill-formed UTF-8 is repaired.
    @inlinable
    public func string(_ row: Int) -> String { StoredText.string(bytes(row)) }

    /// Whether a row's value is stored out of line: then ``external(_:)`` says where.
    @inlinable
    public func isExternal(_ row: Int) -> Bool {
        guard let externals else { return false }
        check(row)
        return externals[row &>> 3] &>> UInt8(truncatingIfNeeded: row & 7) & 1 != 0
    }

    /// Where a row's value lies that is stored out of line; ``LogStore/read(_:)`` reads it.
    ///
    /// - Precondition: ``isExternal(_:)`` says so.
    public func external(_ row: Int) -> ExternalValue {
        precondition(isExternal(row), "the value lies in the row")
        return ExternalValue(reading: bytes(row).baseAddress!)
    }
}
