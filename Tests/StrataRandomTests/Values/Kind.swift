import CoreData

/// The types of attributes.
enum Kind: String, CaseIterable {
    case int16, int32, int64, double, float, decimal, string, bool, date, data, uuid, uri, list

    var type: NSAttributeType {
        switch self {
        case .int16: .integer16AttributeType
        case .int32: .integer32AttributeType
        case .int64: .integer64AttributeType
        case .double: .doubleAttributeType
        case .float: .floatAttributeType
        case .decimal: .decimalAttributeType
        case .string: .stringAttributeType
        case .bool: .booleanAttributeType
        case .date: .dateAttributeType
        case .data: .binaryDataAttributeType
        case .uuid: .UUIDAttributeType
        case .uri: .URIAttributeType
        case .list: .transformableAttributeType
        }
    }

    /// The type's name in a program.
    var typeName: String {
        switch self {
        case .int16: ".integer16AttributeType"
        case .int32: ".integer32AttributeType"
        case .int64: ".integer64AttributeType"
        case .double: ".doubleAttributeType"
        case .float: ".floatAttributeType"
        case .decimal: ".decimalAttributeType"
        case .string: ".stringAttributeType"
        case .bool: ".booleanAttributeType"
        case .date: ".dateAttributeType"
        case .data: ".binaryDataAttributeType"
        case .uuid: ".UUIDAttributeType"
        case .uri: ".URIAttributeType"
        case .list: ".transformableAttributeType"
        }
    }

    /// Whether values have an order that requests may use.
    var isOrdered: Bool {
        switch self {
        case .int16, .int32, .int64, .double, .float, .decimal, .string, .date: true
        case .bool, .data, .uuid, .uri, .list: false
        }
    }

    /// Whether requests may compare values at all.
    var isComparable: Bool { self != .list }
}
