import Foundation
import StrataLog

extension EntityWriter {
    /// Sets an attribute of the row that was begun to a value that ``ValueConversion`` has converted.
    ///
    /// - Throws: what the value transformer of a transformable attribute throws.
    func set(_ slot: Int, converted value: Any, _ info: SlotInfo) throws {
        switch value {
        case let value as Bool where info.kind == .bool: set(slot, value)
        case let value as Int16 where info.kind == .int16: set(slot, value)
        case let value as Int32 where info.kind == .int32: set(slot, value)
        case let value as Int64 where info.kind == .int64: set(slot, value)
        case let value as Float where info.kind == .float: set(slot, value)
        case let value as Double where info.kind == .double: set(slot, value)
        case let value as Date where info.kind == .date: set(slot, value.timeIntervalSinceReferenceDate)
        case let value as UUID where info.kind == .uuid: set(slot, uuid: value.words)
        case let value as String where info.kind == .string: set(slot, value)
        case let value as URL where info.kind == .uri: set(slot, value.absoluteString)
        case let value as Decimal where info.kind == .decimal:
            DecimalCoding.encode(value).withUnsafeBytes { set(slot, bytes: $0) }
        case let value as Data where info.kind == .data: value.withUnsafeBytes { set(slot, bytes: $0) }
        default:
            guard info.kind == .transformable, let attribute = info.attribute else { return }
            try attribute.transformedData(from: value).withUnsafeBytes { set(slot, bytes: $0) }
        }
    }
}
