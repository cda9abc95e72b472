import Foundation

extension Value {
    /// The value as a program hands it to an attribute of a type.
    func object(_ kind: Kind) -> Any? {
        switch self {
        case .null: nil
        case .int(let number): NSNumber(value: number)
        case .real(let number):
            switch kind {
            case .date: Date(timeIntervalSinceReferenceDate: number)
            case .float: NSNumber(value: Float(number))
            default: NSNumber(value: number)
            }
        case .flag(let flag): NSNumber(value: flag)
        case .text(let text):
            switch kind {
            case .decimal: NSDecimalNumber(string: text)
            case .uuid: UUID(uuidString: text)
            case .uri: URL(string: text)
            default: text
            }
        case .bytes(let bytes): Data(bytes)
        case .list(let texts): texts as NSArray
        }
    }

    /// What key-value coding has read from an attribute of a type; nil if it is nothing of the type.
    init?(_ object: Any?, _ kind: Kind) {
        guard let object else {
            self = .null
            return
        }
        switch kind {
        case .int16, .int32, .int64:
            guard let number = object as? NSNumber else { return nil }
            self = .int(number.int64Value)
        case .double, .float:
            guard let number = object as? NSNumber else { return nil }
            self = .real(number.doubleValue)
        case .bool:
            guard let number = object as? NSNumber else { return nil }
            self = .flag(number.boolValue)
        case .date:
            guard let date = object as? Date else { return nil }
            self = .real(date.timeIntervalSinceReferenceDate)
        case .decimal:
            guard let number = object as? NSDecimalNumber else { return nil }
            self = .text(number.description)
        case .string:
            guard let text = object as? String else { return nil }
            self = .text(text)
        case .uuid:
            guard let identifier = object as? UUID else { return nil }
            self = .text(identifier.uuidString)
        case .uri:
            guard let address = object as? URL else { return nil }
            self = .text(address.absoluteString)
        case .data:
            guard let data = object as? Data else { return nil }
            self = .bytes([UInt8](data))
        case .list:
            guard let list = object as? [String] else { return nil }
            self = .list(list)
        }
    }
}
