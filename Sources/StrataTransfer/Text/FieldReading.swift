import Foundation
import Strata
import StrataLog

/// Turns fields back into slots. A field that is not exactly a value of the slot's type is refused.
enum FieldReading {
    /// Sets a slot that is no relationship.
    ///
    /// - Throws: ``TransferError`` when the field is no value of the slot's type.
    static func set(_ field: Field, _ slot: Int, _ info: RowLayouts.Slot, _ writer: EntityWriter) throws {
        if field == .null { return }
        guard try isSet(field, slot, info, writer) else {
            // Errors are printed, and values are the user's.
            throw TransferError("the field is no value of \(info.name), which is of the type \(info.kind)")
        }
    }

    private static func isSet(
        _ field: Field, _ slot: Int, _ info: RowLayouts.Slot, _ writer: EntityWriter
    ) throws -> Bool {
        switch info.kind {
        case .bool: return set(bool(field)) { writer.set(slot, $0) }
        case .int16: return set(number(field)?.integer(Int16.self)) { writer.set(slot, $0) }
        case .int32: return set(number(field)?.integer(Int32.self)) { writer.set(slot, $0) }
        case .int64, .position: return set(number(field)?.integer(Int64.self)) { writer.set(slot, $0) }
        case .float: return set(float(field)) { writer.set(slot, $0) }
        case .double: return set(double(field)) { writer.set(slot, $0) }
        case .date: return set(seconds(field)) { writer.set(slot, $0) }
        case .string: return set(text(field)) { writer.set(slot, $0) }
        case .uri: return set(uri(field)) { writer.set(slot, $0) }
        case .uuid:
            return set(text(field).flatMap { UUID(uuidString: $0) }) { uuid in
                withUnsafeBytes(of: uuid.uuid) {
                    writer.set(
                        slot,
                        uuid: ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
                }
            }
        case .decimal:
            return set(decimal(field)) { value in
                StoredDecimal.bytes(value).withUnsafeBytes { writer.set(slot, bytes: $0) }
            }
        case .data, .transformable:
            return set(data(field)) { value in value.withUnsafeBytes { writer.set(slot, bytes: $0) } }
        case .toOne: return true
        }
    }

    private static func set<Value>(_ value: Value?, _ body: (Value) -> Void) -> Bool {
        value.map(body) != nil
    }

    // MARK: Values

    private static func text(_ field: Field) -> String? {
        if case .text(let text) = field { text } else { nil }
    }

    private static func number(_ field: Field) -> NumberText? {
        switch field {
        case .number(let text), .text(let text): NumberText(text)
        case .bool, .null: nil
        }
    }

    private static func bool(_ field: Field) -> Bool? {
        if case .bool(let value) = field { return value }
        switch field.text.lowercased() {
        case "true", "yes", "1": return true
        case "false", "no", "0": return false
        default: return nil
        }
    }

    private static func double(_ field: Field) -> Double? {
        if let number = number(field) { return number.real(Double.self) }
        return special(field, UInt64.self) { Double(bitPattern: $0) }
    }

    private static func float(_ field: Field) -> Float? {
        if let number = number(field) { return number.real(Float.self) }
        return special(field, UInt32.self) { Float(bitPattern: $0) }
    }

    /// What has no digits.
    private static func special<Number: BinaryFloatingPoint, Bits: FixedWidthInteger>(
        _ field: Field, _: Bits.Type, _ make: (Bits) -> Number
    ) -> Number? {
        guard let text = text(field) else { return nil }
        switch text {
        case "nan": return .nan
        case "-nan": return -.nan
        case "inf": return .infinity
        case "-inf": return -.infinity
        default:
            guard text.hasPrefix(FieldCoding.bitsPrefix) else { return nil }
            let digits = text.utf8.dropFirst(FieldCoding.bitsPrefix.utf8.count)
            guard digits.first != UInt8(ascii: "+"), let bits = Bits(Substring(digits), radix: 16) else { return nil }
            let value = make(bits)
            return value.isNaN ? value : nil
        }
    }

    private static func seconds(_ field: Field) -> Double? {
        text(field).flatMap { DateText.seconds($0) } ?? double(field)
    }

    private static func decimal(_ field: Field) -> Decimal? {
        text(field)?.lowercased() == "nan" ? .nan : number(field)?.decimal
    }

    private static func uri(_ field: Field) -> String? {
        text(field).flatMap { text in
            URL(string: text, encodingInvalidCharacters: false)?.absoluteString == text ? text : nil
        }
    }

    private static func data(_ field: Field) -> Data? {
        guard let text = text(field), let data = Data(base64Encoded: text) else { return nil }
        // Bits that belong to no byte are zero, and nothing else was left out.
        return data.base64EncodedString() == text ? data : nil
    }
}
