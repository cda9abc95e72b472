import Foundation
import Strata

/// A value as the command prints it.
enum Cell {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    /// A number that is written as it is.
    case number(String)
    case text(String)
    case data(Data)
    case list([Cell])

    /// - Parameter value: what key-value coding gives for a property.
    init(_ value: Any?, _ attribute: NSAttributeDescription? = nil) {
        switch value {
        case nil: self = .null
        case let value as NSManagedObject: self = .text(value.objectID.uriRepresentation().absoluteString)
        case let value as NSManagedObjectID: self = .text(value.uriRepresentation().absoluteString)
        case let value as NSOrderedSet: self = .list(value.map { Cell($0) })
        case let value as Set<NSManagedObject>:
            self = .list(value.map { $0.objectID.uriRepresentation().absoluteString }.sorted().map { .text($0) })
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

    /// For a column of a table.
    var tableText: String {
        switch self {
        case .null: ""
        case .data(let data): "<\(data.count) bytes>"
        case .list(let cells): cells.map(\.tableText).joined(separator: " ")
        default: plainText.split(whereSeparator: \.isNewline).joined(separator: "⏎")
        }
    }

    /// For a field of a CSV file, not yet quoted.
    var plainText: String {
        switch self {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .number(let text), .text(let text): text
        case .data(let data): data.base64EncodedString()
        case .list(let cells): cells.map(\.plainText).joined(separator: " ")
        }
    }

    var json: String {
        switch self {
        case .null: "null"
        case .bool, .integer: plainText
        // Infinities and what is no number have no form of their own.
        case .real(let value): value.isFinite ? "\(value)" : Self.quoted("\(value)")
        case .number(let text): Double(text)?.isFinite == true ? text : Self.quoted(text)
        case .text(let text): Self.quoted(text)
        case .data: Self.quoted(plainText)
        case .list(let cells): "[\(cells.map(\.json).joined(separator: ","))]"
        }
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
