import StrataIO

/// A property that a class of managed objects declares itself, as key-value coding reads and sets it.
struct KeyAccessor {
    let get: (NSManagedObject) -> Any?
    /// Nil for a property that cannot be set. Stops the program for a value of a type that the property does not take.
    let set: ((NSManagedObject, Any?) -> Void)?

    init<Object: NSManagedObject, Value>(_ keyPath: KeyPath<Object, Value>) {
        get = { object in AnyElements.plain((object as? Object)?[keyPath: keyPath]) }
        set = nil
    }

    init<Object: NSManagedObject, Value>(writable keyPath: ReferenceWritableKeyPath<Object, Value>) {
        get = { object in AnyElements.plain((object as? Object)?[keyPath: keyPath]) }
        set = { object, value in
            guard let object = object as? Object else { return }
            if let value = Self.converted(AnyElements.plain(value), to: Value.self) {
                object[keyPath: keyPath] = value
                return
            }
            programmerError(
                object.shape.subject,
                "a value of type \(value.map { "\(type(of: $0))" } ?? "nil") cannot be set to a property of type"
                    + " \(Value.self)",
                "Convert the value before setting it")
        }
    }

    private static func converted<Value>(_ value: Any?, to type: Value.Type) -> Value? {
        if let optional = type as? any SettableOptional.Type { return optional.make(value) as? Value }
        return value.flatMap { AccessorConversion.value($0, as: type) }
    }
}

/// Makes an optional of what key-value coding is given.
private protocol SettableOptional {
    /// Nil if the value is not of the wrapped type.
    static func make(_ value: Any?) -> Any?
}

extension Optional: SettableOptional {
    fileprivate static func make(_ value: Any?) -> Any? {
        guard let value else { return Self.none as Any }
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
    /// The accessor that the class declares for a key, unless it is the one that asks.
    private func ownAccessor(_ key: String) -> KeyAccessor? {
        guard GeneratedAccessors.areThere, let accessor = classRecord.summary.accessors[key],
            !KeyAccessor.Call.isRunning(self, key)
        else { return nil }
        return accessor
    }

    /// What generated code says of the object's class, which mostly is the one that its entity names.
    private var classRecord: ManagedClassRecord {
        let type = type(of: self)
        guard type == shape.objectClass else { return GeneratedAccessors.record(of: type) }
        return shape.classRecord.load() ?? shape.classRecord.storeIfNil(GeneratedAccessors.record(of: type))
    }

    /// What the class's own accessor returns for a key; nil if it declares none.
    final func valueOfOwnAccessor(_ key: String) -> Any?? {
        guard let accessor = ownAccessor(key) else { return nil }
        return KeyAccessor.Call.$current.withValue(KeyAccessor.Call(self, key)) { .some(accessor.get(self)) }
    }

    /// Gives a value to the class's own accessor for a key; false if it declares none that can be set.
    final func setByOwnAccessor(_ value: Any?, _ key: String) -> Bool {
        guard let set = ownAccessor(key)?.set else { return false }
        KeyAccessor.Call.$current.withValue(KeyAccessor.Call(self, key)) { set(self, value) }
        return true
    }
}
