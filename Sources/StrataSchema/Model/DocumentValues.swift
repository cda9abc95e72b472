import Foundation
import StrataModelFile

/// The values of model documents as what descriptions hold, and back.
package enum DocumentValues {
    /// A value as an attribute of a type has it; nil if it is none of the type.
    static func value(_ value: ModelDocument.Value, of type: ModelDocument.AttributeType) -> Any? {
        switch (type, value) {
        case (.integer16, .integer(let number)): Int16(exactly: number).map { NSNumber(value: $0) }
        case (.integer32, .integer(let number)): Int32(exactly: number).map { NSNumber(value: $0) }
        case (.integer64, .integer(let number)): NSNumber(value: number)
        case (.float, .real(let number)): NSNumber(value: Float(number))
        case (.float, .integer(let number)): NSNumber(value: Float(number))
        case (.double, .real(let number)): NSNumber(value: number)
        case (.double, .integer(let number)): NSNumber(value: Double(number))
        case (.decimal, .decimal(let text)): decimal(text)
        case (.decimal, .integer(let number)): NSDecimalNumber(decimal: Decimal(number))
        case (.boolean, .boolean(let flag)): NSNumber(value: flag)
        case (.boolean, .integer(let number)) where number == 0 || number == 1: NSNumber(value: number == 1)
        case (.string, .string(let text)): text
        case (.date, .date(let seconds)): Date(timeIntervalSinceReferenceDate: seconds)
        case (.binary, .data(let data)): data
        case (.uuid, .string(let text)): UUID(uuidString: text)
        case (.uri, .string(let text)): URL(string: text)
        case (.undefined, let value), (.transformable, let value), (.composite, let value): object(value)
        default: nil
        }
    }

    /// A value of user info, or a message.
    static func object(_ value: ModelDocument.Value) -> Any {
        switch value {
        case .string(let text): text
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .decimal(let text): decimal(text) ?? NSDecimalNumber.notANumber
        case .boolean(let flag): NSNumber(value: flag)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .data(let data): data
        case .array(let values): values.map(object)
        case .dictionary(let values): values.mapValues(object)
        }
    }

    package static func userInfo(_ values: [String: ModelDocument.Value]) -> [AnyHashable: Any] {
        Dictionary(uniqueKeysWithValues: values.map { (AnyHashable($0.key), object($0.value)) })
    }

    /// What stands for a value in a document; nil for one that no document can have.
    package static func document(_ value: Any, depth: Int = 0) -> ModelDocument.Value? {
        guard depth < ModelEncoding.maximumValueDepth else { return nil }
        switch value {
        case let value as NSDecimalNumber: return .decimal(value.stringValue)
        case let value as NSNumber: return number(value)
        case let value as String: return .string(value)
        case let value as Data: return .data(value)
        case let value as Date: return .date(value.timeIntervalSinceReferenceDate)
        case let value as UUID: return .string(value.uuidString)
        case let value as URL: return .string(value.absoluteString)
        case let values as [Any]:
            let documents = values.compactMap { document($0, depth: depth + 1) }
            return documents.count == values.count ? .array(documents) : nil
        case let values as [String: Any]:
            let documents = values.compactMapValues { document($0, depth: depth + 1) }
            return documents.count == values.count ? .dictionary(documents) : nil
        default: return nil
        }
    }

    private static func number(_ value: NSNumber) -> ModelDocument.Value? {
        // A truth value has a class of its own; its type code is that of small integers.
        if Swift.type(of: value) == Swift.type(of: NSNumber(value: true)) { return .boolean(value.boolValue) }
        switch String(cString: value.objCType) {
        case "f", "d": return .real(value.doubleValue)
        case "Q" where value.uint64Value > UInt64(Int64.max): return .decimal(value.stringValue)
        default: return .integer(value.int64Value)
        }
    }

    private static func decimal(_ text: String) -> NSDecimalNumber? {
        if text == "NaN" { return .notANumber }
        guard text.utf8.count <= 256 else { return nil }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { NSDecimalNumber(decimal: $0) }
    }
}

extension ModelDocument.AttributeType {
    var descriptionType: NSAttributeType {
        switch self {
        case .undefined: .undefinedAttributeType
        case .integer16: .integer16AttributeType
        case .integer32: .integer32AttributeType
        case .integer64: .integer64AttributeType
        case .decimal: .decimalAttributeType
        case .double: .doubleAttributeType
        case .float: .floatAttributeType
        case .string: .stringAttributeType
        case .boolean: .booleanAttributeType
        case .date: .dateAttributeType
        case .binary: .binaryDataAttributeType
        case .uuid: .UUIDAttributeType
        case .uri: .URIAttributeType
        case .transformable: .transformableAttributeType
        case .objectID: .objectIDAttributeType
        case .composite: .compositeAttributeType
        }
    }

    init(_ type: NSAttributeType) {
        self = Self.allCases.first { $0.descriptionType == type } ?? .undefined
    }
}
