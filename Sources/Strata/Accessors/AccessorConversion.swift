import Foundation
import StrataSupport

/// Brings what a property holds into the type that an accessor declares.
enum AccessorConversion {
    /// Nil if the value has no form in that type. Numbers are cut to their width, as NSNumber does.
    static func value<Value>(_ held: Any, as type: Value.Type) -> Value? {
        if AnyElements.isSetOfDecimals(held) { return held as? Value }
        if let number = held as? NSNumber, let value = Self.number(number, as: type) { return value }
        // Foundation's strings and Swift's are not equal inside of it.
        if type == AnyHashable.self, let text = held as? String { return AnyHashable(text) as? Value }
        if let date = held as? Date, type == Double.self { return date.timeIntervalSinceReferenceDate as? Value }
        if let representable = type as? any RawRepresentable.Type {
            return held as? Value ?? represented(held, as: representable) as? Value
        }
        if let members = collection(held, as: type) { return members as? Value }
        return held as? Value ?? swiftCollection(held) ?? mutableCopy(of: held)
    }

    /// What null is read as by an accessor of a number's type, which is not optional; nil for other types.
    static func zero<Value>(_ type: Value.Type) -> Value? {
        (type as? any AdditiveArithmetic.Type).flatMap { $0.zero as? Value }
    }

    /// A mutable copy of a collection that is not mutable, for an accessor of a mutable type.
    private static func mutableCopy<Value>(of held: Any) -> Value? {
        switch held {
        case let array as NSArray: array.mutableCopy() as? Value
        case let set as NSSet: set.mutableCopy() as? Value
        case let set as NSOrderedSet: set.mutableCopy() as? Value
        case let dictionary as NSDictionary: dictionary.mutableCopy() as? Value
        default: nil
        }
    }

    /// An array or set of Swift's, of what Foundation's bridging does not cast as a whole.
    private static func swiftCollection<Value>(_ held: Any) -> Value? {
        guard let elements = AnyElements(held)?.elements.compactMap({ $0 }) else { return nil }
        if let array = elements as? Value { return array }
        // The hash of an `NSDecimalNumber` overflows the stack on Linux.
        let members = elements.map { ($0 as? NSDecimalNumber)?.decimalValue ?? $0 }
        return (members as? [AnyHashable]).flatMap { Set($0) as? Value }
    }

    /// A value as the model's attribute takes it.
    static func stored(_ value: Any, kind: SlotKind?) -> Any {
        if kind == .transformable { return value }
        if let representable = value as? any RawRepresentable, !(value is NSObject) {
            return stored(representable.rawValue, kind: kind)
        }
        if kind == .date, let interval = value as? Double { return Date(timeIntervalSinceReferenceDate: interval) }
        return value
    }

    private static func number<Value>(_ number: NSNumber, as type: Value.Type) -> Value? {
        if let integer = type as? any FixedWidthInteger.Type { return cut(number, to: integer) as? Value }
        switch type {
        case is Bool.Type: return number.boolValue as? Value
        case is Double.Type: return number.doubleValue as? Value
        case is Float.Type: return number.floatValue as? Value
        case is CGFloat.Type: return CGFloat(number.doubleValue) as? Value
        case is Decimal.Type: return number.decimalValue as? Value
        default: return nil
        }
    }

    private static func cut<Integer: FixedWidthInteger>(_ number: NSNumber, to type: Integer.Type) -> Integer {
        Integer(truncatingIfNeeded: number.int64Value)
    }

    private static func represented<Value: RawRepresentable>(_ held: Any, as type: Value.Type) -> Value? {
        value(held, as: Value.RawValue.self).flatMap { Value(rawValue: $0) }
    }

    /// The objects of a relationship as one of Foundation's collections.
    private static func collection<Value>(_ held: Any, as type: Value.Type) -> Any? {
        let isOfFoundation = type == NSSet.self || type == NSOrderedSet.self || type == NSArray.self
        guard isOfFoundation, let members = AnyElements(held)?.elements.compactMap({ $0 }) else { return nil }
        if type == NSSet.self { return NSSet(array: members) }
        if type == NSArray.self { return NSArray(array: members) }
        return NSOrderedSet(array: members)
    }
}

extension NSManagedObject {
    /// The value of a property in the type that an accessor declares, nil for null.
    ///
    /// - Precondition: the entity has the property, and its value has a form in the type.
    final func convertedValue<Value>(_ name: String) -> Value? {
        // These two change the relationship when they are changed.
        if Value.self == NSMutableSet.self, shape.relationship(name) != nil {
            return mutableSetValue(forKey: name) as? Value
        }
        if Value.self == NSMutableOrderedSet.self, shape.relationship(name) != nil {
            return mutableOrderedSetValue(forKey: name) as? Value
        }
        guard let held = heldValue(name) else { return nil }
        guard let value = AccessorConversion.value(held, as: Value.self) else {
            programmerError(
                "\(shape.subject).\(name)",
                "the accessor does not fit the model: its type is \(Value.self), the value's \(type(of: held))",
                "Let accessor and model agree")
        }
        return value
    }

    /// Sets a property from an accessor of any type.
    final func setConverted<Value>(_ value: Value?, _ name: String) {
        guard shape.property(name) != nil else {
            return setPrimitive(value.map { AccessorConversion.stored($0, kind: nil) }, primitiveName(name))
        }
        var kind: SlotKind?
        if case .slot(let slot)? = shape.property(name) { kind = shape.slots[slot].kind }
        guard let value else { return kind == nil || kind == .toOne ? setKeyedValue(nil, name) : setKeyedNil(name) }
        setKeyedValue(AccessorConversion.stored(value, kind: kind), name)
    }

    private func heldValue(_ name: String) -> Any? {
        guard shape.property(name) != nil else { return primitive(primitiveName(name)) }
        if flags.contains(.observable) { reportAccess(name) }
        return keyedValue(name)
    }

    /// The property that a primitive accessor (`primitiveName`) is for.
    private func primitiveName(_ accessor: String) -> String {
        let prefix = "primitive"
        let rest = accessor.hasPrefix(prefix) ? accessor.dropFirst(prefix.count) : ""
        for name in [rest.prefix(1).lowercased() + rest.dropFirst(), String(rest)] where shape.property(name) != nil {
            return name
        }
        programmerError(
            shape.subject,
            "the entity \(shape.name) has no property named \"\(accessor)\", which an accessor of the class"
                + " names\(shape.suggestion(for: accessor))",
            "Let accessor and model agree")
    }
}
