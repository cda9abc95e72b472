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
        if let common = common(value, isCast: false) { return common }
        let type = type(of: value as Any)
        if type is AnyClass { return Operand(instance: value) }
        // An existential in another one, as an `Optional<Any>` gives it, has that as its type.
        if type != Value.self, let common = common(value, isCast: true) { return common }
        return Operand(uncommon: value)
    }

    @inline(__always)
    private static func common<Value>(_ value: Value, isCast: Bool) -> Operand? {
        func known<Known>(_ type: Known.Type) -> Known? {
            if isCast { return value as? Known }
            guard Value.self == type else { return nil }
            // SAFETY: it is of that type.
            return withUnsafePointer(to: value) { UnsafeRawPointer($0).assumingMemoryBound(to: type).pointee }
        }
        if let text = known(String.self) { return .string(text) }
        if let number = known(Int64.self) { return .integer(number) }
        if let number = known(Int.self) { return .integer(Int64(number)) }
        if let number = known(Int32.self) { return .integer(Int64(number)) }
        if let number = known(Int16.self) { return .integer(Int64(number)) }
        if let number = known(Double.self) { return .double(number) }
        if let truth = known(Bool.self) { return .integer(truth ? 1 : 0) }
        if let date = known(Date.self) { return .date(date.timeIntervalSinceReferenceDate) }
        if let uuid = known(UUID.self) { return .uuid(uuid) }
        if let decimal = known(Decimal.self) { return .decimal(decimal) }
        return nil
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
