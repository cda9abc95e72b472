import StrataIO

/// The slot of an accessor that the plugin `ManagedAccessors` generates for an `@NSManaged` property. Not API: generated
/// code makes it.
///
/// `Value` is the declared type, which may be another one than the model's: `Int` for Integer 16, an enumeration for
/// its raw value, `NSSet` for a relationship. The model says how the value is stored. A type that the model stores as
/// it is goes straight to its place, as with ``AttributeSlot``; others are converted at each access.
public struct ManagedSlot<Value>: Sendable {
    /// Not API.
    public let _cache: _SlotCache
    /// The property's name.
    public var name: String { _cache.name }

    /// Names a property of any other type than those of the other initialisers. Complexity: O(1).
    @_disfavoredOverload
    public init(_ name: String) {
        _cache = _SlotCache(name) { _, _ in "values of type \(Value.self) are converted" }
    }
}

extension ManagedSlot where Value: AttributeValue {
    /// Names an attribute. Complexity: O(1).
    public init(_ name: String) { _cache = AttributeSlot<Value>(name)._cache }
}

extension ManagedSlot where Value: RawRepresentable, Value.RawValue: AttributeValue {
    /// Names an attribute that has the raw values of an enumeration. Complexity: O(1).
    public init(_ name: String) { _cache = AttributeSlot<Value.RawValue>(name)._cache }
}

extension ManagedSlot {
    /// Names an attribute whose null is read as nil. Complexity: O(1).
    public init<Wrapped: AttributeValue>(_ name: String) where Value == Wrapped? {
        _cache = AttributeSlot<Wrapped>(name)._cache
    }

    /// Names an attribute that has the raw values of an enumeration, and null. Complexity: O(1).
    public init<Wrapped: RawRepresentable>(_ name: String) where Value == Wrapped?, Wrapped.RawValue: AttributeValue {
        _cache = AttributeSlot<Wrapped.RawValue>(name)._cache
    }

    /// Names a to-one relationship. Complexity: O(1).
    public init<Target: NSManagedObject>(_ name: String) where Value == Target? {
        _cache = ToOneSlot<Target>(name)._cache
    }

    /// Names a to-many relationship. Complexity: O(1).
    public init<Target: NSManagedObject>(_ name: String) where Value == Set<Target> {
        _cache = ToManySlot<Target>(name)._cache
    }

    /// Names a to-many relationship. Complexity: O(1).
    public init<Target: NSManagedObject>(_ name: String) where Value == Set<Target>? {
        _cache = ToManySlot<Target>(name)._cache
    }

    /// Names an ordered to-many relationship. Complexity: O(1).
    public init<Target: NSManagedObject>(_ name: String) where Value == [Target] {
        _cache = ToManySlot<Target>(name)._cache
    }

    /// Names an ordered to-many relationship. Complexity: O(1).
    public init<Target: NSManagedObject>(_ name: String) where Value == [Target]? {
        _cache = ToManySlot<Target>(name)._cache
    }
}

extension ManagedSlot where Value: NSManagedObject {
    /// Names a to-one relationship. Complexity: O(1).
    public init(_ name: String) { _cache = ToOneSlot<Value>(name)._cache }
}

/// The slots of generic classes, which cannot keep them in constants.
private enum SharedSlots {
    private struct Key: Hashable {
        var name: String
        var type: ObjectIdentifier
    }
    private static let caches = AdaptiveMutex<[Key: _SlotCache]>([:])

    /// The slot of a name and type, made at the first use: slots are never freed.
    static func slot(_ name: String, _ type: Any.Type, make: () -> _SlotCache) -> _SlotCache {
        let key = Key(name: name, type: ObjectIdentifier(type))
        if let cache = caches.withLock({ $0[key] }) { return cache }
        let cache = make()
        caches.withLock { $0[key] = cache }
        return cache
    }
}

extension ManagedSlot {
    fileprivate init(_ cache: _SlotCache) { _cache = cache }
}

extension NSManagedObject {
    /// Not API: the slot of a property of a generic class. Takes a lock.
    public static func _slot<Value>(_ name: String, _ make: (String) -> ManagedSlot<Value>) -> ManagedSlot<Value> {
        ManagedSlot(SharedSlots.slot(name, Value.self) { make(name)._cache })
    }

    /// Not API: the slot of a to-many relationship of a generic class. Takes a lock.
    public static func _members(_ name: String) -> ToManySlot<NSManagedObject> {
        ToManySlot(
            SharedSlots.slot(name, ToManySlot<NSManagedObject>.self) { ToManySlot<NSManagedObject>(name)._cache })
    }
}
