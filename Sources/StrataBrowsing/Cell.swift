import Foundation
import Strata
import StrataModelFile
import StrataTransfer

/// A value as the command prints it.
package enum Cell {
    case null
    /// Nothing, of what has a value only sometimes: a table shows nothing.
    case absent
    case bool(Bool)
    case integer(Int64)
    /// A number of bytes.
    case bytes(Int)
    case real(Double)
    /// A number that is written as it is.
    case number(String)
    case text(String)
    /// An object, by its URI.
    case object(String)
    case data(Data)
    case list([Cell])

    /// - Parameter value: what key-value coding gives for a property.
    package init(_ value: Any?, _ attribute: NSAttributeDescription? = nil) {
        switch value {
        case nil: self = .null
        case let value as NSManagedObject: self.init(value.objectID)
        case let value as NSManagedObjectID: self = .object(value.uriRepresentation().absoluteString)
        case let value as NSOrderedSet: self = .list(value.map { Cell($0) })
        case let value as Set<NSManagedObject>:
            // Keys are numbers: p9 comes before p10.
            let uris = value.map { $0.objectID.uriRepresentation().absoluteString }
            self = .list(uris.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.map { .object($0) })
        case let value as String: self = .text(value)
        case let value as Date: self = .text(Point.text(value))
        case let value as UUID: self = .text(value.uuidString)
        case let value as URL: self = .text(value.absoluteString)
        case let value as Data: self = .data(value)
        case let value as NSDecimalNumber: self = .number(value.stringValue)
        case let value as NSNumber:
            switch attribute?.attributeType {
            case .booleanAttributeType: self = .bool(value.boolValue)
            case .doubleAttributeType: self = .real(value.doubleValue)
            case .floatAttributeType: self = .number("\(value.floatValue)")
            case .none where value.objCType.pointee == 0x64 || value.objCType.pointee == 0x66:
                self = .real(value.doubleValue)
            default: self = .integer(value.int64Value)
            }
        case let value?: self = .text("\(value)")
        }
    }

    package static func count(_ count: Int) -> Cell { .integer(Int64(count)) }

    /// For a column of a table: on one line, objects by the ends of their URIs, which `get` understands. What has no
    /// value is `NULL`, an empty text `""`.
    ///
    /// - Parameter exactBytes: whether numbers of bytes are printed as numbers.
    package func tableText(exactBytes: Bool) -> String {
        switch self {
        case .null: return Self.nullText
        case .absent: return ""
        case .bytes(let count): return exactBytes ? "\(count)" : ByteSize.text(count)
        case .data(let data): return "<\(data.count) bytes>"
        case .list(let cells): return cells.map { $0.tableText(exactBytes: exactBytes) }.joined(separator: " ")
        case .object(let uri): return uri.split(separator: "/").suffix(2).joined(separator: "/")
        // What looks like the sign for nothing is quoted.
        case .text(let text) where text.isEmpty || text == Self.nullText: return QuotedText.of(text)
        default: return Self.visible(plainText)
        }
    }

    private static let nullText = "NULL"

    /// Whether a table has it at the right.
    package var isNumeric: Bool {
        switch self {
        case .integer, .bytes, .real, .number: true
        default: false
        }
    }

    /// Whether there is nothing in it.
    package var isEmpty: Bool {
        switch self {
        case .null, .absent: true
        default: false
        }
    }

    /// The text with signs in place of what would move a terminal's cursor.
    package static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
        var result = ""
        for character in text {
            if character.isNewline {
                result += "⏎"
                continue
            }
            for scalar in character.unicodeScalars {
                let isControl = scalar.properties.generalCategory == .control
                let sign = isControl ? Unicode.Scalar(0x2400 + min(scalar.value, 0x21)) : scalar
                result.unicodeScalars.append(sign ?? "?")
            }
        }
        return result
    }

    /// For a field of a CSV file, quoted where it has to be: an empty text is `""`, no value is nothing.
    package var csv: String {
        switch self {
        case .text(let text): CSVText.field(text)
        default: plainText.isEmpty ? "" : CSVText.field(plainText)
        }
    }

    /// For a field of a CSV file, not yet quoted.
    package var plainText: String {
        switch self {
        case .null, .absent: ""
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .bytes(let count): "\(count)"
        case .real(let value): "\(value)"
        case .number(let text), .text(let text), .object(let text): text
        case .data(let data): data.base64EncodedString()
        case .list(let cells): cells.map(\.plainText).joined(separator: " ")
        }
    }

    package var json: String {
        switch self {
        case .null, .absent: "null"
        case .bool, .integer, .bytes: plainText
        // Infinities and what is no number have no form of their own.
        case .real(let value): value.isFinite ? "\(value)" : QuotedText.of("\(value)")
        case .number(let text): Double(text)?.isFinite == true ? text : QuotedText.of(text)
        case .text(let text), .object(let text): QuotedText.of(text)
        case .data: QuotedText.of(plainText)
        case .list(let cells): "[\(cells.map(\.json).joined(separator: ","))]"
        }
    }
}
