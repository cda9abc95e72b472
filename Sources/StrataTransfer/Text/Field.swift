import Foundation
import Strata
import StrataLog

/// A value as a text file has it.
enum Field: Equatable {
    case null
    case bool(Bool)
    /// By its digits.
    case number(String)
    case text(String)

    /// What a file without types has of it.
    var text: String {
        switch self {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .text(let text): text
        }
    }
}

/// Turns slots into fields, so that what ``FieldReading`` makes of them is what they were.
///
/// | type | field |
/// |---|---|
/// | dates | ISO 8601 to the millisecond where that is the date, else seconds since 2001-01-01 |
/// | binary and transformable values | base64 |
/// | decimal numbers, UUIDs, URIs | text |
/// | floating point numbers that are not finite | "nan", "inf", "-inf", "bits:" and the bits of another "nan" |
enum FieldCoding {
    static let bitsPrefix = "bits:"
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// The value of a slot that is no relationship.
    static func field(_ row: StoredRow, _ slot: Int, _ kind: RowLayouts.Slot.Kind) throws -> Field {
        switch kind {
        case .bool: return try row.bool(slot).map { .bool($0) } ?? .null
        case .int16, .int32, .int64, .position: return try row.integer(slot).map { .number("\($0)") } ?? .null
        case .float: return try row.float(slot).map { real($0, $0.bitPattern) } ?? .null
        case .double: return try row.double(slot).map { real($0, $0.bitPattern) } ?? .null
        case .date: return try row.double(slot).map(date) ?? .null
        case .uuid: return try row.uuid(slot).map { .text($0.uuidString) } ?? .null
        case .string, .uri: return try row.string(slot).map { .text($0) } ?? .null
        case .decimal: return try row.withBytes(slot) { .text("\(StoredDecimal.value($0))") } ?? .null
        case .data, .transformable: return try row.withBytes(slot) { .text(Data($0).base64EncodedString()) } ?? .null
        case .toOne: return .null
        }
    }

    private static func real<Number: BinaryFloatingPoint & CustomStringConvertible>(
        _ value: Number, _ bits: some FixedWidthInteger
    ) -> Field {
        if value.isFinite { return .number("\(value)") }
        let isPlain =
            value.isInfinite || (value.sign == .plus && value.significandBitPattern == Number.nan.significandBitPattern)
        return .text(isPlain ? "\(value)" : bitsPrefix + String(bits, radix: 16))
    }

    private static func date(_ seconds: Double) -> Field {
        guard abs(seconds) < 1e11 else { return real(seconds, seconds.bitPattern) }
        let text = Date(timeIntervalSinceReferenceDate: seconds).formatted(style)
        guard DateText.seconds(text)?.bitPattern == seconds.bitPattern else { return real(seconds, seconds.bitPattern) }
        return .text(text)
    }
}
