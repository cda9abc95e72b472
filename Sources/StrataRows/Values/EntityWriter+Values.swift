import Foundation
import StrataLog

extension EntityWriter {
    /// Sets an attribute of the row that was begun to a value that ``ValueConversion`` has converted.
    ///
    /// - Throws: what the value transformer of a transformable attribute throws.
    package func set(_ slot: Int, converted value: Any, _ info: SlotInfo) throws {
        // The kind first: a cast that fails takes ten times as long as one that does not.
        switch info.kind {
        case .bool: if let value = value as? Bool { set(slot, value) }
        case .int16: if let value = value as? Int16 { set(slot, value) }
        case .int32: if let value = value as? Int32 { set(slot, value) }
        case .int64: if let value = value as? Int64 { set(slot, value) }
        case .float: if let value = value as? Float { set(slot, value) }
        case .double: if let value = value as? Double { set(slot, value) }
        case .date: if let value = value as? Date { set(slot, value.timeIntervalSinceReferenceDate) }
        case .uuid: if let value = value as? UUID { set(slot, uuid: value.words) }
        case .string: if let value = value as? String { set(slot, value) }
        case .uri: if let value = value as? URL { set(slot, value.absoluteString) }
        case .decimal:
            guard let value = value as? Decimal else { return }
            DecimalCoding.encode(value).withUnsafeBytes { set(slot, bytes: $0) }
        case .data: if let value = value as? Data { value.withUnsafeBytes { set(slot, bytes: $0) } }
        case .transformable:
            guard let attribute = info.attribute else { return }
            try attribute.transformedData(from: value)?.withUnsafeBytes { set(slot, bytes: $0) }
        case .toOne: return
        }
    }
}
