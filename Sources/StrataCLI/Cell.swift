import Foundation
import Strata
import StrataModelFile

/// A value as the command prints it.
enum Cell {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// A number that is written as it is.
    case number(String)
    case text(String)
    /// An object, by its URI.
    case object(String)
    case data(Data)
    case list([Cell])

    /// - Parameter value: what key-value coding gives for a property.
    init(_ value: Any?, _ attribute: NSAttributeDescription? = nil) {
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

    /// For a column of a table: on one line, objects by the ends of their URIs, which `get` understands.
    var tableText: String {
        switch self {
        case .null: ""
        case .data(let data): "<\(data.count) bytes>"
        case .list(let cells): cells.map(\.tableText).joined(separator: " ")
        case .object(let uri): uri.split(separator: "/").suffix(2).joined(separator: "/")
        default: Self.visible(plainText)
        }
    }

    /// The text with signs in place of what would move a terminal's cursor.
    private static func visible(_ text: String) -> String {
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

    /// For a field of a CSV file, not yet quoted.
    var plainText: String {
        switch self {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .number(let text), .text(let text), .object(let text): text
        case .data(let data): data.base64EncodedString()
        case .list(let cells): cells.map(\.plainText).joined(separator: " ")
        }
    }

    var json: String {
        switch self {
        case .null: "null"
        case .bool, .integer: plainText
        // Infinities and what is no number have no form of their own.
        case .real(let value): value.isFinite ? "\(value)" : QuotedText.of("\(value)")
        case .number(let text): Double(text)?.isFinite == true ? text : QuotedText.of(text)
        case .text(let text), .object(let text): QuotedText.of(text)
        case .data: QuotedText.of(plainText)
        case .list(let cells): "[\(cells.map(\.json).joined(separator: ","))]"
        }
    }
}
