import Foundation
import StrataSupport

/// A property that a class of managed objects declares itself, as key-value coding reads and sets it.
struct KeyAccessor {
    /// Numbers come as `NSNumber`, as key-value coding hands them out.
    let get: (NSManagedObject) -> Any?
    /// Nil for a property that cannot be set. False for a value of a type that the property does not take, and for nil
    /// if it takes none.
    let set: ((NSManagedObject, Any?) -> Bool)?
    /// The property's type, without its optional.
    let valueType: Any.Type

    init<Object: NSManagedObject, Value>(_ keyPath: KeyPath<Object, Value>) {
        get = { object in Self.boxed((object as? Object)?[keyPath: keyPath]) }
        set = nil
        valueType = (Value.self as? any SettableOptional.Type)?.wrappedType ?? Value.self
    }

    init<Object: NSManagedObject, Value>(writable keyPath: ReferenceWritableKeyPath<Object, Value>) {
        get = { object in Self.boxed((object as? Object)?[keyPath: keyPath]) }
        set = { object, value in
            guard let object = object as? Object, let value = Self.converted(AnyElements.plain(value), to: Value.self)
            else { return false }
            object[keyPath: keyPath] = value
            return true
        }
        valueType = (Value.self as? any SettableOptional.Type)?.wrappedType ?? Value.self
    }

    private static func boxed(_ value: Any?) -> Any? {
        guard let value = AnyElements.plain(value) else { return nil }
        let type = type(of: value)
        guard type == Bool.self || type is any Numeric.Type, type != Decimal.self else { return value }
        return KeyValueAccess.boxed(value)
    }

    private static func converted<Value>(_ value: Any?, to type: Value.Type) -> Value? {
        if let optional = type as? any SettableOptional.Type { return optional.make(value) as? Value }
        return value.flatMap { AccessorConversion.value($0, as: type) }
    }

    /// Whether the property is one of an attribute's kind: a class may as well make a URL of a text, and that key-value
    /// coding, which means what the model declares, must not take for the attribute.
    func stands(for kind: SlotKind) -> Bool {
        switch kind {
        case .bool, .int16, .int32, .int64, .float, .double: Self.isNumber(valueType)
        case .decimal: valueType == Decimal.self || Self.isNumber(valueType)
        case .string: valueType == String.self || valueType == NSString.self
        case .date: valueType == Date.self || valueType == NSDate.self
        case .data: valueType == Data.self || valueType == NSData.self
        case .uuid: valueType == UUID.self || valueType == NSUUID.self
        case .uri: valueType == URL.self || valueType == NSURL.self
        case .transformable, .toOne: true
        }
    }

    private static func isNumber(_ type: Any.Type) -> Bool {
        type is any FixedWidthInteger.Type || type is any BinaryFloatingPoint.Type || type == Bool.self
            || type == NSNumber.self || type == NSDecimalNumber.self
    }
}

/// Makes an optional of what key-value coding is given.
private protocol SettableOptional {
    static var wrappedType: Any.Type { get }
    /// An optional: nil of it for nil. Nil if the value is not of the wrapped type.
    static func make(_ value: Any?) -> Any?
}

extension Optional: SettableOptional {
    fileprivate static var wrappedType: Any.Type { Wrapped.self }

    fileprivate static func make(_ value: Any?) -> Any? {
        guard let value else { return .some(Self.none as Any) }
        return AccessorConversion.value(value, as: Wrapped.self).map { Self.some($0) as Any }
    }
}

extension KeyAccessor {
    /// An accessor that runs, so that one which asks key-value coding for its own property gets what is stored.
    final class Call: Sendable {
        private let object: ObjectIdentifier
        private let key: String
        private let outer: Call?

        @TaskLocal static var current: Call?

        init(_ object: NSManagedObject, _ key: String) {
            self.object = ObjectIdentifier(object)
            self.key = key
            outer = Self.current
        }

        static func isRunning(_ object: NSManagedObject, _ key: String) -> Bool {
            var call = current
            while let running = call {
                if running.object == ObjectIdentifier(object), running.key == key { return true }
                call = running.outer
            }
            return false
        }
    }
}

extension NSManagedObject {
    /// The accessor that the class declares for a key, unless it is the one that asks, or makes something else of the
    /// attribute than the model.
    private func ownAccessor(_ key: String) -> KeyAccessor? {
        guard let accessor = classRecord.summary.accessors[key] else { return nil }
        if case .slot(let slot)? = shape.property(key), !accessor.stands(for: shape.slots[slot].kind) { return nil }
        return KeyAccessor.Call.isRunning(self, key) ? nil : accessor
    }

    /// What generated code says of the object's class, which mostly is the one that its entity names.
    private var classRecord: ManagedClassRecord {
        let type = type(of: self)
        guard type == shape.objectClass else { return GeneratedAccessors.record(of: type) }
        let known = shape.classRecord.load() ?? shape.classRecord.storeIfNil(GeneratedAccessors.record(of: type))
        // Nothing else is kept there.
        return unsafeDowncast(known, to: ManagedClassRecord.self)
    }

    /// Whether the class declares accessors of its own.
    final var hasOwnAccessors: Bool { GeneratedAccessors.areThere && !classRecord.summary.accessors.isEmpty }

    /// Whether the class declares a property of the model as an optional, which takes nil.
    final func declaresOptional(_ key: String) -> Bool {
        GeneratedAccessors.areThere && classRecord.summary.optionalNames.contains(key)
    }

    /// What the class's own accessor returns for a key; nil if it declares none. Ask only of a class that
    /// ``hasOwnAccessors``.
    final func valueOfOwnAccessor(_ key: String) -> Any?? {
        guard let accessor = ownAccessor(key) else { return nil }
        return KeyAccessor.Call.$current.withValue(KeyAccessor.Call(self, key)) { .some(accessor.get(self)) }
    }

    /// Gives a value to the class's own accessor for a key; false if it declares none that can be set, or that takes
    /// such a value, and the model has the property.
    final func setByOwnAccessor(_ value: Any?, _ key: String) -> Bool {
        guard hasOwnAccessors, let accessor = ownAccessor(key), let set = accessor.set else { return false }
        let property = shape.property(key)
        // The accessor would get what the number is cut to.
        if case .slot(let slot)? = property, let value, ValueConversion.misfit(value, shape.slots[slot].kind) != nil {
            return false
        }
        let isSet = KeyAccessor.Call.$current.withValue(KeyAccessor.Call(self, key)) { set(self, value) }
        guard !isSet, property == nil else { return isSet }
        programmerError(
            shape.subject,
            "\(value.map { "a value of type \(type(of: $0))" } ?? "nil") cannot be set to the property \"\(key)\" of"
                + " type \(accessor.valueType)",
            "Convert the value before setting it")
    }
}
