import Foundation
import Strata
import StrataLog

/// A value as a text file has it.
enum Field: Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
}

/// Turns slots into fields and back, so that what is read is what was written.
///
/// | type | field |
/// |---|---|
/// | dates | ISO 8601 to the millisecond where that is the date, else seconds since 2001-01-01 |
/// | binary and transformable values | base64 |
/// | decimal numbers, UUIDs, URIs | text |
/// | floating point numbers that are not finite | "nan", "inf", "-inf" |
enum FieldCoding {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let plainStyle = Date.ISO8601FormatStyle()

    /// The value of a slot that is no relationship.
    static func field(_ row: StoredRow, _ slot: Int, _ kind: RowLayouts.Slot.Kind) throws -> Field {
        switch kind {
        case .bool: return try row.bool(slot).map { .bool($0) } ?? .null
        case .int16, .int32, .int64, .position: return try row.integer(slot).map { .integer($0) } ?? .null
        case .float: return try row.float(slot).map { real(Double($0), "\($0)") } ?? .null
        case .double: return try row.double(slot).map { real($0, "\($0)") } ?? .null
        case .date: return try row.double(slot).map(date) ?? .null
        case .uuid: return try row.uuid(slot).map { .text($0.uuidString) } ?? .null
        case .string, .uri: return try row.string(slot).map { .text($0) } ?? .null
        case .decimal: return try row.withBytes(slot) { .text("\(StoredDecimal.value($0))") } ?? .null
        case .data, .transformable: return try row.withBytes(slot) { .text(Data($0).base64EncodedString()) } ?? .null
        case .toOne: return .null
        }
    }

    /// A float is written as short as it can be, not with the digits that it has as a double.
    private static func real(_ value: Double, _ text: String) -> Field {
        value.isFinite ? .real(Double(text) ?? value) : .text("\(value)")
    }

    private static func date(_ seconds: Double) -> Field {
        guard abs(seconds) < 1e11 else { return seconds.isFinite ? .real(seconds) : .text("\(seconds)") }
        let text = Date(timeIntervalSinceReferenceDate: seconds).formatted(style)
        guard let read = try? style.parse(text), read.timeIntervalSinceReferenceDate == seconds else {
            return .real(seconds)
        }
        return .text(text)
    }

    // MARK: Back

    /// Sets a slot that is no relationship.
    ///
    /// - Throws: ``TransferError`` when the field is no value of the slot's type.
    static func set(_ field: Field, _ slot: Int, _ info: RowLayouts.Slot, _ writer: EntityWriter) throws {
        if field == .null { return }
        switch info.kind {
        case .bool: writer.set(slot, try bool(field, info))
        case .int16: writer.set(slot, try integer(Int16.self, field, info))
        case .int32: writer.set(slot, try integer(Int32.self, field, info))
        case .int64, .position: writer.set(slot, try integer(Int64.self, field, info))
        case .float: writer.set(slot, Float(try real(field, info)))
        case .double: writer.set(slot, try real(field, info))
        case .date: writer.set(slot, try seconds(field, info))
        case .string, .uri: writer.set(slot, text(field))
        case .uuid:
            guard let uuid = UUID(uuidString: text(field)) else { throw misfit(field, info) }
            withUnsafeBytes(of: uuid.uuid) {
                writer.set(
                    slot,
                    uuid: ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            }
        case .decimal:
            let text = text(field)
            guard let number = text.lowercased() == "nan" ? Decimal.nan : Decimal(string: text) else {
                throw misfit(field, info)
            }
            StoredDecimal.bytes(number).withUnsafeBytes { writer.set(slot, bytes: $0) }
        case .data, .transformable:
            guard let data = Data(base64Encoded: text(field)) else { throw misfit(field, info) }
            data.withUnsafeBytes { writer.set(slot, bytes: $0) }
        case .toOne: break
        }
    }

    private static func misfit(_ field: Field, _ info: RowLayouts.Slot) -> TransferError {
        // Errors are printed, and values are the user's.
        TransferError("the field is no value of \(info.name), which is of the type \(info.kind)")
    }

    static func text(_ field: Field) -> String {
        switch field {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let value): value
        }
    }

    private static func bool(_ field: Field, _ info: RowLayouts.Slot) throws -> Bool {
        switch (field, text(field).lowercased()) {
        case (.bool(let value), _): return value
        case (_, "true"), (_, "yes"), (_, "1"): return true
        case (_, "false"), (_, "no"), (_, "0"): return false
        default: throw misfit(field, info)
        }
    }

    private static func integer<Number: FixedWidthInteger>(
        _: Number.Type, _ field: Field, _ info: RowLayouts.Slot
    ) throws -> Number {
        var number: Number?
        switch field {
        case .integer(let value): number = Number(exactly: value)
        case .real(let value): number = Number(exactly: value)
        case .text(let text): number = Number(text)
        case .bool, .null: break
        }
        guard let number else { throw misfit(field, info) }
        return number
    }

    private static func real(_ field: Field, _ info: RowLayouts.Slot) throws -> Double {
        switch field {
        case .integer(let value): return Double(value)
        case .real(let value): return value
        default:
            guard let value = Double(text(field)) else { throw misfit(field, info) }
            return value
        }
    }

    private static func seconds(_ field: Field, _ info: RowLayouts.Slot) throws -> Double {
        if case .text(let text) = field {
            if let date = (try? style.parse(text)) ?? (try? plainStyle.parse(text)) {
                return date.timeIntervalSinceReferenceDate
            }
        }
        return try real(field, info)
    }
}
