import StrataRuntime
import StrataSupport

// What generated accessors call. Not API.
extension NSManagedObject {
    /// An attribute of a type that some attributes have as it is; null is read as zero, "" and so on.
    @inlinable
    public final func _attribute<Value: AttributeValue>(_ slots: ManagedSlots, _ position: Int) -> Value {
        _optional(slots, position) ?? Value._whenNull
    }

    /// Sets such an attribute.
    @inlinable
    public final func _setAttribute<Value: AttributeValue>(
        _ value: consuming Value, _ slots: ManagedSlots, _ position: Int
    ) {
        let token = slots.token(position)
        if token.shapeID == shapeID { _setPresent(value, token) } else { setSlowly(value, slots, position) }
    }

    /// Such an attribute, nil for null.
    @inlinable
    public final func _optional<Value: AttributeValue>(_ slots: ManagedSlots, _ position: Int) -> Value? {
        let token = slots.token(position)
        return token.shapeID == shapeID ? _value(token) : readSlowly(slots, position)
    }

    /// Sets such an attribute; nil is null.
    @inlinable
    public final func _setOptional<Value: AttributeValue>(
        _ value: __owned Value?, _ slots: ManagedSlots, _ position: Int
    ) {
        let token = slots.token(position)
        if token.shapeID == shapeID { _setValue(value, token) } else { setSlowly(value, slots, position) }
    }

    /// The first access with a shape, and every one to a value that has to be converted.
    @usableFromInline @inline(never)
    final func readSlowly<Value: AttributeValue>(_ slots: ManagedSlots, _ position: Int) -> Value? {
        let number = slots.number(position)
        if number.shapeID == shapeID { return convertedNumber(number) }
        if let token = slots.resolve(position, shape, as: Value.self) { return _value(token) }
        if let token = slots.resolveNumber(position, shape, as: Value.self) { return convertedNumber(token) }
        return convertedValue(slots.name(position))
    }

    @usableFromInline @inline(never)
    final func setSlowly<Value: AttributeValue>(_ value: Value?, _ slots: ManagedSlots, _ position: Int) {
        let number = slots.number(position)
        if number.shapeID == shapeID {
            if let value, setNumber(value, number) { return }
            return setConverted(value, slots.name(position))
        }
        if let token = slots.resolve(position, shape, as: Value.self) { return _setValue(value, token) }
        if let token = slots.resolveNumber(position, shape, as: Value.self), let value, setNumber(value, token) {
            return
        }
        setConverted(value, slots.name(position))
    }
}

// Properties of other types: the compiler chooses by the declared one. Getters are given it, since a result alone would
// also fit a type that it can be converted to: the `NSObject?` of a transformable attribute, or `[Any]`.
extension NSManagedObject {
    /// An enumeration over an attribute; null is read as the case whose raw value is zero, "" and so on.
    ///
    /// - Precondition: the stored value is a case's.
    public final func _property<Value: RawRepresentable>(
        _ slots: ManagedSlots, _ position: Int, as type: Value.Type
    ) -> Value
    where Value.RawValue: AttributeValue {
        let raw: Value.RawValue = _attribute(slots, position)
        guard let value = Value(rawValue: raw) else {
            programmerError(
                "\(shape.subject).\(slots.name(position))", "the stored value is no raw value of \(Value.self)",
                "Give the enumeration a case for it, or declare the property as \(Value.self)?")
        }
        return value
    }

    /// Sets an enumeration.
    public final func _setProperty<Value: RawRepresentable>(_ value: Value, _ slots: ManagedSlots, _ position: Int)
    where Value.RawValue: AttributeValue { _setAttribute(value.rawValue, slots, position) }

    /// An enumeration over an attribute, nil for null and for raw values of no case.
    public final func _propertyOrNil<Value: RawRepresentable>(
        _ slots: ManagedSlots, _ position: Int, as type: Value?.Type
    ) -> Value?
    where Value.RawValue: AttributeValue {
        (_optional(slots, position) as Value.RawValue?).flatMap { Value(rawValue: $0) }
    }

    /// Sets an enumeration, or null.
    public final func _setPropertyOrNil<Value: RawRepresentable>(
        _ value: Value?, _ slots: ManagedSlots, _ position: Int
    )
    where Value.RawValue: AttributeValue { _setOptional(value?.rawValue, slots, position) }

    /// The object of a to-one relationship.
    public final func _propertyOrNil<Target: NSManagedObject>(
        _ slots: ManagedSlots, _ position: Int, as type: Target?.Type
    ) -> Target? {
        // Names are for those who look on.
        if flags.contains(.observable) { reportAccess(slots.name(position)) }
        guard let target = toOneTarget(at: slots.toOne(position, shape, Target.self)) else { return nil }
        ForeignObjects.check(target, is: Target.self, isNarrow: slots.isNarrow(position))
        // SAFETY: the slot has checked that the destination's classes are Target or subclasses of it; where they are
        // not, the object has been looked at.
        return unsafeDowncast(target, to: Target.self)
    }

    /// Sets a to-one relationship.
    public final func _setPropertyOrNil<Target: NSManagedObject>(
        _ value: Target?, _ slots: ManagedSlots, _ position: Int
    ) {
        let slot = slots.toOne(position, shape, Target.self).index
        // SAFETY: the model keeps its relationships for ever.
        shape.relationshipReferences[Int(shape.codes[slot].relationshipIndex)].withBorrowed {
            if let value, setNew($0, to: value) { return }
            setToOne($0, to: value)
        }
    }

    /// The object of a to-one relationship.
    ///
    /// - Precondition: it leads to one.
    public final func _property<Target: NSManagedObject>(
        _ slots: ManagedSlots, _ position: Int, as type: Target.Type
    ) -> Target {
        guard let target = _propertyOrNil(slots, position, as: Target?.self) else {
            programmerError(
                "\(shape.subject).\(slots.name(position))",
                "the relationship leads to no object, and its accessor is not optional",
                "Set the relationship before reading it, or declare it as \(Target.self)?")
        }
        return target
    }

    /// The objects of a to-many relationship.
    public final func _property<Target: NSManagedObject>(
        _ slots: ManagedSlots, _ position: Int, as type: Set<Target>.Type
    ) -> Set<Target> {
        if flags.contains(.observable) { reportAccess(slots.name(position)) }
        let members = toManyMembers(slots.toMany(position, shape, Target.self))
        ForeignObjects.check(members, are: Target.self, isNarrow: slots.isNarrow(position))
        // SAFETY: the slot has checked that the destination's classes are Target or subclasses, or the members have
        // been looked at; sets of class references have one layout and hash alike.
        return CollectionLayout.cast(members, to: Set<Target>.self)
    }

    /// The objects of a to-many relationship, never nil.
    public final func _propertyOrNil<Target: NSManagedObject>(
        _ slots: ManagedSlots, _ position: Int, as type: Set<Target>?.Type
    ) -> Set<Target>? {
        .some(_property(slots, position, as: Set<Target>.self))
    }

    /// Sets a to-many relationship; nil empties it.
    public final func _setPropertyOrNil<Target: NSManagedObject>(
        _ value: Set<Target>?, _ slots: ManagedSlots, _ position: Int
    ) { setToMany(slots.toMany(position, shape, Target.self), to: Array(value ?? [])) }

    /// The objects of a to-many relationship, in its order if it has one, or the results of a fetched property.
    public final func _property<Target: NSManagedObject>(
        _ slots: ManagedSlots, _ position: Int, as type: [Target].Type
    ) -> [Target] {
        if flags.contains(.observable) { reportAccess(slots.name(position)) }
        if let property = slots.fetched(position, shape) { return results(of: property) }
        let members = toManyOrder(slots.toMany(position, shape, Target.self))
        return ForeignObjects.checked(members, are: Target.self, isNarrow: slots.isNarrow(position))
    }

    /// The same, never nil.
    public final func _propertyOrNil<Target: NSManagedObject>(
        _ slots: ManagedSlots, _ position: Int, as type: [Target]?.Type
    ) -> [Target]? {
        .some(_property(slots, position, as: [Target].self))
    }

    /// Sets a to-many relationship; nil empties it.
    public final func _setPropertyOrNil<Target: NSManagedObject>(
        _ value: [Target]?, _ slots: ManagedSlots, _ position: Int
    ) { setToMany(slots.toMany(position, shape, Target.self), to: value ?? []) }

    private func results<Target: NSManagedObject>(of property: NSPropertyDescription) -> [Target] {
        guard let objects = fetchedValue(property) as? [Target] else {
            programmerError(
                "\(shape.subject).\(property.name)",
                "the accessor does not fit the model: its request finds something else than objects of \(Target.self)",
                "Let accessor and model agree")
        }
        return objects
    }

    /// A property of any other type; null is read as zero if that is a number.
    ///
    /// - Precondition: the value is not null, or the type is a number's.
    @_disfavoredOverload
    public final func _property<Value>(_ slots: ManagedSlots, _ position: Int, as type: Value.Type) -> Value {
        guard let value: Value = convertedValue(slots.name(position)) ?? AccessorConversion.zero(Value.self) else {
            programmerError(
                "\(shape.subject).\(slots.name(position))", "the value is nil, and its accessor is not optional",
                "Set the value before reading it, or declare it as \(Value.self)?")
        }
        return value
    }

    /// A property of any other type, nil for null.
    @_disfavoredOverload
    public final func _propertyOrNil<Value>(_ slots: ManagedSlots, _ position: Int, as type: Value?.Type) -> Value? {
        convertedValue(slots.name(position))
    }

    /// Sets a property of any other type; nil is null.
    @_disfavoredOverload
    public final func _setPropertyOrNil<Value>(_ value: Value?, _ slots: ManagedSlots, _ position: Int) {
        setConverted(value, slots.name(position))
    }

    /// Sets a to-one relationship.
    public final func _setProperty<Target: NSManagedObject>(_ value: Target, _ slots: ManagedSlots, _ position: Int) {
        _setPropertyOrNil(value, slots, position)
    }

    /// Sets a to-many relationship.
    public final func _setProperty<Target: NSManagedObject>(
        _ value: Set<Target>, _ slots: ManagedSlots, _ position: Int
    ) { _setPropertyOrNil(value, slots, position) }

    /// Sets a to-many relationship.
    public final func _setProperty<Target: NSManagedObject>(
        _ value: [Target], _ slots: ManagedSlots, _ position: Int
    ) { _setPropertyOrNil(value, slots, position) }

    /// Sets a property of any other type.
    @_disfavoredOverload
    public final func _setProperty<Value>(_ value: Value, _ slots: ManagedSlots, _ position: Int) {
        setConverted(value, slots.name(position))
    }
}
