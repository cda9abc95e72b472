import Foundation
import StrataLog
import StrataSupport

/// Brings what key-value coding is given into the Swift type that a slot keeps.
package enum ValueConversion {
    /// Nil for nil and `NSNull`.
    ///
    /// - Precondition: the value is of a type that the attribute takes; numbers are cut to its width, as NSNumber does.
    package static func convert(_ value: Any?, for info: SlotInfo, entity: EntityShape) -> Any? {
        guard let value = AnyElements.plain(value) else { return nil }
        guard let converted = converted(value, info.kind) else {
            programmerError(
                "\(entity.name).\(info.name)",
                "Unacceptable type of value for \(info.kind == .toOne ? "to-one relationship" : "attribute"):"
                    + " property = \"\(info.name)\"; desired type = \(info.kind); given type = \(type(of: value))",
                "Convert the value before setting it")
        }
        return converted
    }

    /// Whether a value that is not nil could be set.
    package static func accepts(_ value: Any, _ kind: SlotKind) -> Bool {
        flattened(value).map { converted($0, kind) != nil } ?? true
    }

    /// An optional inside of `Any` counts as what it wraps.
    package static func flattened(_ value: Any?) -> Any? {
        guard let value else { return nil }
        if AnyElements.isSurelyPlain(value) || type(of: value) is AnyClass { return value }
        guard let optional = value as? any OptionalValue else { return value }
        return flattened(optional.wrappedAny)
    }

    package static func converted(_ value: Any, _ kind: SlotKind) -> Any? {
        switch kind {
        case .string: return exact(value, String.self)
        case .data: return value as? Data
        case .date: return exact(value, Date.self)
        case .uuid: return value as? UUID
        case .uri: return value as? URL ?? (value as? NSURL).flatMap { URL(string: $0.absoluteString) }
        case .transformable: return value
        case .toOne: return type(of: value) is AnyClass ? value as? any RowObject : nil
        case .decimal: return (value as? Decimal) ?? number(value)?.decimalValue
        case .bool: return own(value, Bool.self) ?? number(value)?.boolValue
        case .int16: return integer(value).map { Int16(truncatingIfNeeded: $0) } ?? number(value)?.int16Value
        case .int32: return integer(value).map { Int32(truncatingIfNeeded: $0) } ?? number(value)?.int32Value
        case .int64: return integer(value) ?? number(value)?.int64Value
        case .float: return own(value, Float.self) ?? number(value)?.floatValue
        case .double: return own(value, Double.self) ?? number(value)?.doubleValue
        }
    }

    /// The value if it is of this type, or becomes one by a cast. One of just this type needs none, which takes longer
    /// than comparing types.
    private static func exact<Value>(_ value: Any, _: Value.Type) -> Any? {
        if type(of: value) == Value.self { return value }
        return value as? Value
    }

    /// The value if it is of just this type: a cast that fails takes long.
    private static func own<Number>(_ value: Any, _: Number.Type) -> Number? {
        type(of: value) == Number.self ? value as? Number : nil
    }

    /// Swift's signed integers, which need no NSNumber in between; nil for others.
    private static func integer(_ value: Any) -> Int64? {
        let type = type(of: value)
        if type == Int.self { return (value as? Int).map { Int64($0) } }
        if type == Int16.self { return (value as? Int16).map { Int64($0) } }
        if type == Int32.self { return (value as? Int32).map { Int64($0) } }
        return type == Int64.self ? value as? Int64 : nil
    }

    /// The number that a value is, if an integer attribute has no room for it.
    package static func misfit(_ value: Any, _ kind: SlotKind) -> NSNumber? {
        guard kind.hasRange else { return nil }
        if let integer = integer(value) {
            return kind.fits(integer) ? nil : NSNumber(value: integer)
        }
        guard let value = flattened(value), let number = number(value) else { return nil }
        return kind.fits(number) ? nil : number
    }

    /// Swift's numbers are tried one by one: a cast to NSNumber takes them all, but not an enumeration's or a string.
    private static func number(_ value: Any) -> NSNumber? {
        if type(of: value) is AnyClass { return value as? NSNumber }
        if let decimal = value as? Decimal { return NSDecimalNumber(decimal: decimal) }
        return KeyValueAccess.number(value)
    }
}
