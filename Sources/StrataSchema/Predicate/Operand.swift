import Foundation

/// A value as predicates compare it: Swift and Foundation forms of the same thing are one case.
package enum Operand {
    case null
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    /// Seconds since the reference date.
    case date(Double)
    case data(Data)
    case uuid(UUID)
    case url(URL)
    case list(AnyElements)
    case dictionary(any DictionaryValue)
    /// Anything else, compared by identity, `isEqual` or `==`.
    case object(Any)

    package init(_ value: borrowing Any?) { self = Self.of(value) }

    private static func of(_ value: Any?) -> Operand {
        guard let value else { return .null }
        return opened(value)
    }

    /// A value whose type is told by comparing it with those that most are of. A cast out of an existential takes 250
    /// instructions, and whether a type is one of a class is asked of the runtime, which costs more than all of these.
    private static func opened<Value>(_ value: Value) -> Operand {
        func read<Known>(_ type: Known.Type) -> Known {
            // SAFETY: called with the type that the value has.
            withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: type).pointee }
        }
        if Value.self == String.self { return .string(read(String.self)) }
        if Value.self == Int64.self { return .integer(read(Int64.self)) }
        if Value.self == Int.self { return .integer(Int64(read(Int.self))) }
        if Value.self == Int32.self { return .integer(Int64(read(Int32.self))) }
        if Value.self == Int16.self { return .integer(Int64(read(Int16.self))) }
        if Value.self == Double.self { return .double(read(Double.self)) }
        if Value.self == Bool.self { return .integer(read(Bool.self) ? 1 : 0) }
        if Value.self == Date.self { return .date(read(Date.self).timeIntervalSinceReferenceDate) }
        if Value.self == UUID.self { return .uuid(read(UUID.self)) }
        if Value.self == Decimal.self { return .decimal(read(Decimal.self)) }
        return Value.self is AnyClass ? Operand(instance: value) : Operand(uncommon: value)
    }

    private init(instance value: Any) {
        // Each cast in vain takes hundreds of instructions.
        let type = type(of: value)
        if type == NSDate.self, let value = value as? NSDate {
            self = .date(value.timeIntervalSinceReferenceDate)
            return
        }
        if type == NSNumber.self, let value = value as? NSNumber {
            self = Operand(number: value)
            return
        }
        switch value {
        case let value as NSString: self = .string(String(describing: value))
        case let value as NSDecimalNumber: self = .decimal(value.decimalValue)
        case let value as NSNumber: self = Operand(number: value)
        case is NSNull: self = .null
        case let value as NSDate: self = .date(value.timeIntervalSinceReferenceDate)
        case let value as any PredicateIdentifiable: self = .object(value.predicateIdentity.base)
        case let value as NSDictionary: self = .dictionary(FoundationDictionary(dictionary: value))
        case let value as NSData: self = .data(Data(referencing: value))
        case let value as NSUUID: self = UUID(uuidString: value.uuidString).map { .uuid($0) } ?? .null
        case let value as NSURL: self = .url(value as URL)
        default:
            if let elements = AnyElements(value) {
                self = .list(elements)
            } else {
                self = .object(value)
            }
        }
    }

    private init(number: NSNumber) {
        // An unsigned 64-bit number is the only kind that Int64 cannot hold.
        switch number.objCType.pointee {
        case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): self = .double(number.doubleValue)
        case CChar(UInt8(ascii: "Q")): self = Operand(unsigned: number.uint64Value)
        default: self = .integer(number.int64Value)
        }
    }

    private init(unsigned value: UInt64) {
        if let small = Int64(exactly: value) {
            self = .integer(small)
        } else {
            self = .decimal(Decimal(value))
        }
    }

    private init(uncommon value: Any) {
        // A cast to a protocol in vain takes a thousand instructions, and half a million the first time. Lists, as for
        // IN, are what is left most often.
        if let elements = AnyElements(value) {
            self = .list(elements)
            return
        }
        if type(of: value) == CGFloat.self, let value = value as? CGFloat {
            self = .double(Double(value))
            return
        }
        switch value {
        case let value as any OptionalValue: self = Operand(value.wrappedAny)
        case let value as any FixedWidthInteger:
            if let small = Int64(exactly: value) {
                self = .integer(small)
            } else {
                self = .decimal(Decimal(string: String(describing: value)) ?? 0)
            }
        case let value as Float: self = .double(Double(value))
        case let value as Data: self = .data(value)
        case let value as URL: self = .url(value)
        case let value as Substring: self = .string(String(value))
        case let value as Character: self = .string(String(value))
        case let value as any PredicateIdentifiable: self = .object(value.predicateIdentity.base)
        case let value as any DictionaryValue: self = .dictionary(value)
        case let value as any RawRepresentable: self = Operand(value.rawValue)
        default: self = .object(value)
        }
    }

    /// The members a collection offers to `IN` and `CONTAINS`; a dictionary offers its values.
    package var members: [Any?]? {
        switch self {
        case .list(let elements): elements.elements
        case .dictionary(let dictionary): dictionary.anyValues
        default: nil
        }
    }
}

/// An `NSDictionary` as a `DictionaryValue`; a class from another module cannot take the name-clashing members itself.
struct FoundationDictionary: DictionaryValue {
    let dictionary: NSDictionary

    func anyValue(forKey key: String) -> Any? { dictionary.object(forKey: NSString(string: key)) }
    var anyValues: [Any?] { dictionary.allValues }
    var foundationDictionary: NSDictionary? { dictionary }
}
