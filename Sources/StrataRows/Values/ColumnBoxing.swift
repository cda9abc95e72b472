import Foundation
import StrataLog

/// Boxes stored values.
package enum ColumnBoxing {
    /// The value of a row, nil for null.
    ///
    /// - Parameters:
    ///   - attribute: which one it is; asked only for those that a transformer makes.
    ///   - external: reads bytes that lie out of line.
    package static func box(
        _ column: ColumnView, _ row: Int, _ kind: SlotKind, _ attribute: @autoclosure () -> NSAttributeDescription?,
        external: (ExternalValue) -> [UInt8]?
    ) -> Any? {
        if column.isNull(row) { return nil }
        switch kind {
        case .bool, .int16, .int32, .int64, .float, .double: return number(column, row, kind)
        case .date: return Date._read(column, row)
        case .uuid: return UUID._read(column, row)
        case .decimal: return NSDecimalNumber(decimal: Decimal._read(column, row))
        case .toOne: return nil
        case .string, .data, .uri, .transformable:
            if column.isExternal(row) {
                return external(column.external(row))?.withUnsafeBytes { box(bytes: $0, kind, attribute()) }
            }
            return box(bytes: column.bytes(row), kind, attribute())
        }
    }

    /// The value of a row as an object, nil for null. What is common becomes one without an existential in between,
    /// from which it would be cast again.
    ///
    /// - Parameters: as above.
    package static func object(
        _ column: ColumnView, _ row: Int, _ kind: SlotKind, _ attribute: @autoclosure () -> NSAttributeDescription?,
        external: (ExternalValue) -> [UInt8]?
    ) -> AnyObject? {
        if column.isNull(row) { return nil }
        switch kind {
        case .bool, .int16, .int32, .int64, .float, .double: return number(column, row, kind)
        case .date: return NSDate(timeIntervalSinceReferenceDate: column.double(row))
        case .decimal: return NSDecimalNumber(decimal: Decimal._read(column, row))
        case .string where !column.isExternal(row): return column.string(row) as NSString
        default: return box(column, row, kind, attribute(), external: external).map { $0 as AnyObject }
        }
    }

    @inline(__always)
    private static func number(_ column: ColumnView, _ row: Int, _ kind: SlotKind) -> NSNumber? {
        switch kind {
        case .bool: NSNumber(value: column.bool(row))
        case .int16: NSNumber(value: column.int16(row))
        case .int32: NSNumber(value: column.int32(row))
        case .int64: NSNumber(value: column.int64(row))
        case .float: NSNumber(value: column.float(row))
        case .double: NSNumber(value: column.double(row))
        default: nil
        }
    }

    private static func box(
        bytes: UnsafeRawBufferPointer, _ kind: SlotKind, _ attribute: @autoclosure () -> NSAttributeDescription?
    ) -> Any? {
        switch kind {
        case .string: return String._decode(bytes)
        case .data: return Data._decode(bytes)
        case .uri: return URL._decode(bytes)
        default:
            guard let attribute = attribute() else { return nil }
            return attribute.readableValue(fromTransformedData: Data(bytes))
        }
    }
}
