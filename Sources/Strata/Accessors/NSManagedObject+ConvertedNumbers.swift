import Foundation
import StrataRuntime

/// Accessors of a number's type over attributes that store another one: `Int` over Integer 16, seconds over a date.
///
/// They do what key-value coding does with such values, without boxes.
extension NSManagedObject {
    /// The number at a place in the type of its accessor, cut to its width; nil for null.
    ///
    /// - Precondition: the place was found for numbers of this type.
    final func convertedNumber<Value: AttributeValue>(_ token: SlotToken) -> Value? {
        // One that the attribute has no room for is kept elsewhere.
        if flags.contains(.numberOutOfRange) { return convertedValue(shape.slots[token.index].name) }
        switch shape.codes[token.index].kind {
        case .bool: return (_value(token) as Bool?).flatMap { Value._ofInteger($0 ? 1 : 0) }
        case .int16: return (_value(token) as Int16?).flatMap { Value._ofInteger(Int64($0)) }
        case .int32: return (_value(token) as Int32?).flatMap { Value._ofInteger(Int64($0)) }
        case .int64: return (_value(token) as Int64?).flatMap { Value._ofInteger($0) }
        case .float: return (_value(token) as Float?).flatMap { Value._ofDouble(Double($0)) }
        case .double: return (_value(token) as Double?).flatMap { Value._ofDouble($0) }
        case .date: return (_value(token) as Date?).flatMap { Value._ofDouble($0.timeIntervalSinceReferenceDate) }
        default: return convertedValue(shape.slots[token.index].name)
        }
    }

    /// Sets a number if the attribute can store just that: what it cannot, the validation has to hear of.
    ///
    /// - Returns: whether it is set.
    final func setNumber<Value: AttributeValue>(_ value: Value, _ token: SlotToken) -> Bool {
        if flags.contains(.numberOutOfRange) { return false }
        switch shape.codes[token.index].kind {
        case .bool: return set(value._integer.flatMap { $0 == 0 ? false : $0 == 1 ? true : nil }, token)
        case .int16: return set(value._integer.flatMap { Int16(exactly: $0) }, token)
        case .int32: return set(value._integer.flatMap { Int32(exactly: $0) }, token)
        case .int64: return set(value._integer, token)
        case .float:
            return set(
                value._double.flatMap { Float(exactly: $0) } ?? value._integer.flatMap { Float(exactly: $0) }, token)
        case .double: return set(value._double ?? value._integer.flatMap { Double(exactly: $0) }, token)
        case .date: return set(value._double.map { Date(timeIntervalSinceReferenceDate: $0) }, token)
        default: return false
        }
    }

    private final func set<Stored: AttributeValue>(_ value: Stored?, _ token: SlotToken) -> Bool {
        guard let value else { return false }
        _setPresent(value, token)
        return true
    }
}
