import Foundation

/// Values of each kind of attribute, to find out which properties such values have.
enum AttributeSample {
    /// A value none of whose properties is nil; nil where values may be of any class.
    static func value(_ kind: SlotKind) -> Any? {
        switch kind {
        case .bool, .int16, .int32, .int64, .float, .double: NSNumber(value: 0)
        case .decimal: NSDecimalNumber.zero
        case .string: ""
        case .date: Date(timeIntervalSinceReferenceDate: 0)
        case .uuid: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        case .data: Data()
        case .uri: URL(string: "scheme://host/path.extension?query#fragment")
        case .transformable, .toOne: nil
        }
    }
}
