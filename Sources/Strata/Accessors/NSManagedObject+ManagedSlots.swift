import StrataIO

// What generated accessors read and write. Not API. The compiler chooses by the declared type.
extension NSManagedObject {
    /// An attribute; null is read as zero, "" and so on.
    @inlinable
    public subscript<Value: AttributeValue>(slot: ManagedSlot<Value>) -> Value {
        get { _managedValue(slot._cache) ?? Value._whenNull }
        set { _setManagedValue(newValue, slot._cache) }
    }

    /// An attribute, nil for null.
    @inlinable
    public subscript<Value: AttributeValue>(slot: ManagedSlot<Value?>) -> Value? {
        get { _managedValue(slot._cache) }
        set { _setManagedValue(newValue, slot._cache) }
    }

    /// An enumeration over an attribute; null is read as the case whose raw value is zero, "" and so on.
    ///
    /// - Precondition: the stored value is a case's.
    @inlinable
    public subscript<Value: RawRepresentable>(slot: ManagedSlot<Value>) -> Value where Value.RawValue: AttributeValue {
        get {
            guard let value = Value(rawValue: _managedValue(slot._cache) ?? Value.RawValue._whenNull) else {
                _refuseRawValue(Value.self, slot.name)
            }
            return value
        }
        set { _setManagedValue(newValue.rawValue, slot._cache) }
    }

    /// An enumeration over an attribute, nil for null and for raw values of no case.
    @inlinable
    public subscript<Value: RawRepresentable>(slot: ManagedSlot<Value?>) -> Value?
    where Value.RawValue: AttributeValue {
        get { (_managedValue(slot._cache) as Value.RawValue?).flatMap { Value(rawValue: $0) } }
        set { _setManagedValue(newValue?.rawValue, slot._cache) }
    }

    /// A to-one relationship.
    public final subscript<Target: NSManagedObject>(slot: ManagedSlot<Target?>) -> Target? {
        get { self[ToOneSlot<Target>(slot._cache)] }
        set { self[ToOneSlot<Target>(slot._cache)] = newValue }
    }

    /// A to-one relationship.
    ///
    /// - Precondition: it leads to an object.
    public final subscript<Target: NSManagedObject>(slot: ManagedSlot<Target>) -> Target {
        get {
            guard let target = self[ToOneSlot<Target>(slot._cache)] else {
                programmerError(
                    "\(shape.subject).\(slot.name)",
                    "the relationship leads to no object, and its accessor is not optional",
                    "Set the relationship before reading it, or declare it as \(Target.self)?")
            }
            return target
        }
        set { self[ToOneSlot<Target>(slot._cache)] = newValue }
    }

    /// A to-many relationship.
    public final subscript<Target: NSManagedObject>(slot: ManagedSlot<Set<Target>>) -> Set<Target> {
        get { self[ToManySlot<Target>(slot._cache)] }
        set { self[ToManySlot<Target>(slot._cache)] = newValue }
    }

    /// A to-many relationship, never nil; setting nil empties it.
    public final subscript<Target: NSManagedObject>(slot: ManagedSlot<Set<Target>?>) -> Set<Target>? {
        get { self[ToManySlot<Target>(slot._cache)] }
        set { self[ToManySlot<Target>(slot._cache)] = newValue ?? [] }
    }

    /// A to-many relationship, in its order if it has one.
    public final subscript<Target: NSManagedObject>(slot: ManagedSlot<[Target]>) -> [Target] {
        get { ordered(ToManySlot<Target>(slot._cache)) }
        set { setOrdered(newValue, ToManySlot<Target>(slot._cache)) }
    }

    /// A to-many relationship, in its order if it has one, never nil; setting nil empties it.
    public final subscript<Target: NSManagedObject>(slot: ManagedSlot<[Target]?>) -> [Target]? {
        get { ordered(ToManySlot<Target>(slot._cache)) }
        set { setOrdered(newValue ?? [], ToManySlot<Target>(slot._cache)) }
    }

    /// A property of any other type.
    ///
    /// - Precondition: the value is not null.
    @_disfavoredOverload
    public final subscript<Value>(slot: ManagedSlot<Value>) -> Value {
        get {
            guard let value: Value = convertedValue(slot.name) else {
                programmerError(
                    "\(shape.subject).\(slot.name)", "the value is nil, and its accessor is not optional",
                    "Set the value before reading it, or declare it as \(Value.self)?")
            }
            return value
        }
        set { setConverted(newValue, slot.name) }
    }

    /// A property of any other type, nil for null.
    @_disfavoredOverload
    public final subscript<Value>(slot: ManagedSlot<Value?>) -> Value? {
        get { convertedValue(slot.name) }
        set { setConverted(newValue, slot.name) }
    }
}

extension NSManagedObject {
    /// Not API. As `_value`, converted if the model stores the attribute in another type.
    @inlinable @inline(__always)
    public final func _managedValue<Value: AttributeValue>(_ cache: _SlotCache) -> Value? {
        let token = cache.lastToken
        return token.shapeID == shapeID ? _value(token, cache) : managedValueSlowly(cache)
    }

    /// Not API.
    @inlinable @inline(__always)
    public final func _setManagedValue<Value: AttributeValue>(_ value: consuming Value, _ cache: _SlotCache) {
        let token = cache.lastToken
        if token.shapeID == shapeID { _setPresent(value, token) } else { setManagedValueSlowly(value, cache) }
    }

    /// Not API.
    @inlinable @inline(__always)
    public final func _setManagedValue<Value: AttributeValue>(_ value: __owned Value?, _ cache: _SlotCache) {
        let token = cache.lastToken
        if token.shapeID == shapeID { _setValue(value, token) } else { setManagedValueSlowly(value, cache) }
    }

    /// The first access with a shape, and every one to a value that has to be converted.
    @usableFromInline @inline(never)
    final func managedValueSlowly<Value: AttributeValue>(_ cache: _SlotCache) -> Value? {
        if let token = cache.resolveIfFits(self) { return _value(token, cache) }
        return convertedValue(cache.name)
    }

    @usableFromInline @inline(never)
    final func setManagedValueSlowly<Value: AttributeValue>(_ value: Value?, _ cache: _SlotCache) {
        if let token = cache.resolveIfFits(self) { return _setValue(value, token) }
        setConverted(value, cache.name)
    }

    /// Not API.
    public final func _refuseRawValue<Value>(_ type: Value.Type, _ name: String) -> Never {
        programmerError(
            "\(shape.subject).\(name)", "the stored value is no raw value of \(type)",
            "Give the enumeration a case for it, or declare the property as \(type)?")
    }
}
