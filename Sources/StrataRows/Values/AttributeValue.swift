public import Foundation
public import StrataLog
import StrataRuntime

/// A type that an ``AttributeSlot`` can read and write without boxing.
///
/// Conforming types are fixed: the Swift types of Core Data's attributes.
public protocol AttributeValue {
    /// Not API.
    static func _fits(_ kind: UInt8) -> Bool
    /// Not API. What an accessor that is not optional reads for null.
    static var _whenNull: Self { get }
    /// Not API. The row's value, which is not null and not out of line.
    static func _read(_ column: ColumnView, _ row: Int) -> Self
    /// Not API. Whether a stored value may lie out of line.
    static var _mayBeExternal: Bool { get }
    /// Not API. A value from bytes that lay out of line.
    static func _decode(_ bytes: UnsafeRawBufferPointer) -> Self
    /// Not API. A whole number of an attribute of another type, cut to this one's width; nil if this is no number.
    static func _ofInteger(_ number: Int64) -> Self?
    /// Not API. As `_ofInteger`, of an attribute of floating-point numbers.
    static func _ofDouble(_ number: Double) -> Self?
    /// Not API. The value if it is a whole number.
    var _integer: Int64? { get }
    /// Not API. The value if it is a floating-point number.
    var _double: Double? { get }
}

extension AttributeValue {
    @inlinable public static var _mayBeExternal: Bool { false }
    public static func _decode(_ bytes: UnsafeRawBufferPointer) -> Self { _whenNull }
    public static func _ofInteger(_ number: Int64) -> Self? { nil }
    public static func _ofDouble(_ number: Double) -> Self? { nil }
    public var _integer: Int64? { nil }
    public var _double: Double? { nil }
}

extension AttributeValue where Self: FixedWidthInteger {
    public static func _ofInteger(_ number: Int64) -> Self? { Self(truncatingIfNeeded: number) }
    public static func _ofDouble(_ number: Double) -> Self? {
        Self(truncatingIfNeeded: NSNumber(value: number).int64Value)
    }
    public var _integer: Int64? { Int64(truncatingIfNeeded: self) }
}

extension AttributeValue where Self: BinaryFloatingPoint {
    public static func _ofInteger(_ number: Int64) -> Self? { Self(number) }
    public static func _ofDouble(_ number: Double) -> Self? { Self(number) }
    public var _double: Double? { Double(self) }
}

extension Bool: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.bool.rawValue }
    @inlinable public static var _whenNull: Bool { false }
    @inlinable public static func _read(_ column: ColumnView, _ row: Int) -> Bool { column.bool(row) }
    public static func _ofInteger(_ number: Int64) -> Bool? { number != 0 }
    public static func _ofDouble(_ number: Double) -> Bool? { NSNumber(value: number).boolValue }
    public var _integer: Int64? { self ? 1 : 0 }
}

extension Int16: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.int16.rawValue }
    @inlinable public static var _whenNull: Int16 { 0 }
    @inlinable public static func _read(_ column: ColumnView, _ row: Int) -> Int16 { column.int16(row) }
}

extension Int32: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.int32.rawValue }
    @inlinable public static var _whenNull: Int32 { 0 }
    @inlinable public static func _read(_ column: ColumnView, _ row: Int) -> Int32 { column.int32(row) }
}

extension Int64: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.int64.rawValue }
    @inlinable public static var _whenNull: Int64 { 0 }
    @inlinable public static func _read(_ column: ColumnView, _ row: Int) -> Int64 { column.int64(row) }
}

extension Int: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.int64.rawValue }
    @inlinable public static var _whenNull: Int { 0 }
    @inlinable public static func _read(_ column: ColumnView, _ row: Int) -> Int { Int(column.int64(row)) }
}

extension Float: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.float.rawValue }
    @inlinable public static var _whenNull: Float { 0 }
    @inlinable public static func _read(_ column: ColumnView, _ row: Int) -> Float { column.float(row) }
}

extension Double: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.double.rawValue }
    @inlinable public static var _whenNull: Double { 0 }
    @inlinable public static func _read(_ column: ColumnView, _ row: Int) -> Double { column.double(row) }
}

extension Date: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.date.rawValue }
    public static var _whenNull: Date { Date(timeIntervalSinceReferenceDate: 0) }
    public static func _read(_ column: ColumnView, _ row: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: column.double(row))
    }
}

extension UUID: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.uuid.rawValue }
    public static var _whenNull: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    public static func _read(_ column: ColumnView, _ row: Int) -> UUID {
        UUID(uuid: ByteTuples.bytes(column.uuid(row)))
    }

    /// The sixteen bytes as the engine takes them.
    package var words: (UInt64, UInt64) { ByteTuples.words(uuid) }
}

extension String: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.string.rawValue }
    @inlinable public static var _whenNull: String { "" }
    @inlinable public static var _mayBeExternal: Bool { true }
    @inlinable public static func _read(_ column: ColumnView, _ row: Int) -> String { column.string(row) }
    public static func _decode(_ bytes: UnsafeRawBufferPointer) -> String { StoredText.string(bytes) }
}

extension Data: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.data.rawValue }
    public static var _whenNull: Data { Data() }
    @inlinable public static var _mayBeExternal: Bool { true }
    public static func _read(_ column: ColumnView, _ row: Int) -> Data { Data(column.bytes(row)) }
    public static func _decode(_ bytes: UnsafeRawBufferPointer) -> Data { Data(bytes) }
}

extension Decimal: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.decimal.rawValue }
    public static var _whenNull: Decimal { 0 }
    public static func _read(_ column: ColumnView, _ row: Int) -> Decimal { DecimalCoding.decode(column.bytes(row)) }
}

extension URL: AttributeValue {
    public static func _fits(_ kind: UInt8) -> Bool { kind == SlotKind.uri.rawValue }
    public static var _whenNull: URL { URL(fileURLWithPath: "/") }
    @inlinable public static var _mayBeExternal: Bool { true }
    public static func _read(_ column: ColumnView, _ row: Int) -> URL { _decode(column.bytes(row)) }
    public static func _decode(_ bytes: UnsafeRawBufferPointer) -> URL {
        URL(string: String(decoding: bytes, as: UTF8.self)) ?? _whenNull
    }
}
