import Foundation
import StrataSupport

extension NSManagedObject: KeyValueCoding {
    /// The value of a property by name.
    public subscript(_ key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }
}

extension NSManagedObject {
    final func setKeyedValue(_ value: Any?, path keyPath: String) {
        guard let dot = keyPath.firstIndex(of: ".") else { return setValue(value, forKey: keyPath) }
        let first = String(keyPath[..<dot])
        let rest = String(keyPath[keyPath.index(after: dot)...])
        // A composite attribute is no object: the path as a whole names one of its elements.
        if case .composite? = shape.property(first) { return setValue(value, forKey: keyPath) }
        switch AnyElements.plain(self.value(forKey: first)) {
        case nil: return
        case let object as NSManagedObject: object.setValue(value, forKeyPath: rest)
        case let dictionary as NSMutableDictionary: dictionary.setValue(value, forKeyPath: rest)
        case let owner?:
            guard let elements = AnyElements(owner) else {
                programmerError(
                    shape.name, "there is nothing to be set at the key path \"\(keyPath)\"",
                    "End the path with a property of a managed object, a collection of them or a dictionary")
            }
            for case let object as NSManagedObject in elements.elements { object.setValue(value, forKeyPath: rest) }
        }
    }
}

extension NSManagedObject: PredicateIdentifiable {
    package final var predicateIdentity: AnyHashable { objectID }
    package final var hasFinalPredicateIdentity: Bool { !objectID.isTemporaryID }
}

extension NSManagedObject {
    final func keyedValue(_ key: String) -> Any? {
        switch shape.property(key) {
        case .slot(let slot)?:
            let index = Int(shape.codes[slot].relationshipIndex)
            return index >= 0 ? toOneTarget(shape.relationships[index]) : boxedValue(slot)
        case .toMany(let index)?:
            let relationship = shape.relationships[index]
            return relationship.isOrdered
                ? NSOrderedSet(array: toManyOrder(relationship)) : toManyMembers(relationship) as Any
        case .composite(let composite)?:
            return compositeValue(composite)
        case .fetched(let property)?:
            return fetchedValue(property)
        case nil:
            return unmodeledValue(key)
        }
    }

    /// What the class has of itself, by name.
    private func unmodeledValue(_ key: String) -> Any? {
        switch key {
        case "self", "SELF": self
        case "objectID": objectID
        case "entity": entity
        case "managedObjectContext": managedObjectContext
        case "isInserted", "inserted": isInserted
        case "isUpdated", "updated": isUpdated
        case "isDeleted", "deleted": isDeleted
        case "hasChanges": hasChanges
        case "hasPersistentChangedValues": hasPersistentChangedValues
        case "isFault", "fault": isFault
        case "faultingState": faultingState
        case "description": description
        case "hash": hash
        default: value(forUndefinedKey: key)
        }
    }

    final func setKeyedValue(_ value: Any?, _ key: String) {
        switch shape.property(key) {
        case .slot(let slot)?:
            let index = Int(shape.codes[slot].relationshipIndex)
            guard index >= 0 else {
                let kind = shape.codes[slot].kind
                if let value, ExactValue.isTaken(value, by: kind) { return setBoxedValue(value, slot: slot) }
                if kind.isNumber, AnyElements.plain(value) == nil, !declaresOptional(key) {
                    return setNilValueForKey(key)
                }
                return setBoxedValue(value, slot: slot)
            }
            let converted = ValueConversion.convert(value, for: shape.slots[slot], entity: shape)
            setToOne(shape.relationships[index], to: converted as? NSManagedObject)
        case .toMany(let index)?:
            setToMany(shape.relationships[index], to: members(value, for: shape.relationships[index]))
        case .composite(let composite)?:
            setCompositeValue(value, composite)
        case .fetched(let property)?:
            programmerError(
                "\(shape.name).\(property.name)", "a fetched property cannot be set", "Change what its request finds")
        case nil:
            guard let name = propertyName(ofSetterFor: key) else { return setValue(value, forUndefinedKey: key) }
            setValue(value, forKey: name)
        }
    }

    /// The property that `setKey:` sets by the rules of key-value coding, of a key that is no property's name: the
    /// setter's name has a capital for the first letter of either.
    private func propertyName(ofSetterFor key: String) -> String? {
        guard let first = key.first, first.isUppercase else { return nil }
        let name = first.lowercased() + key.dropFirst()
        return shape.property(name) != nil ? name : nil
    }

    /// Sets an attribute to null.
    final func setKeyedNil(_ key: String) {
        guard case .slot(let slot)? = shape.property(key), shape.slots[slot].relationshipIndex < 0 else {
            return setValue(nil, forUndefinedKey: key)
        }
        setBoxedValue(nil, slot: slot)
    }

    /// The objects in any of the collections that a to-many relationship can be set to.
    private func members(_ value: Any?, for relationship: RelationshipShape) -> [NSManagedObject] {
        guard let value = AnyElements.plain(value) else { return [] }
        guard let elements = AnyElements(value) else {
            programmerError(
                "\(shape.name).\(relationship.name)",
                "Unacceptable type of value for to-many relationship: property = \"\(relationship.name)\"; desired"
                    + " type = \(relationship.isOrdered ? "NSOrderedSet" : "NSSet"); given type ="
                    + " \(type(of: value))",
                "Give a collection of managed objects")
        }
        return elements.elements.map { element in
            guard let object = element as? NSManagedObject else {
                programmerError(
                    "\(shape.name).\(relationship.name)",
                    "Unacceptable element of to-many relationship: property = \"\(relationship.name)\"; desired"
                        + " type = \(relationship.destination.name); given type ="
                        + " \(element.map { "\(type(of: $0))" } ?? "nil")",
                    "Give a collection of managed objects")
            }
            return object
        }
    }

    // MARK: Primitive values

    /// What the object holds of a property, nil in a fault unless it was set there.
    final func primitive(_ key: String) -> Any? {
        guard isUnread else { return keyedValue(key) }
        guard case .slot(let slot)? = shape.property(key), let overlay, overlay.isPresent(slot), !overlay.isNull(slot)
        else { return nil }
        return overlay.boxed(shape.codes[slot])
    }

    /// Sets a property without telling the context, if it is an attribute.
    final func setPrimitive(_ value: Any?, _ key: String) {
        guard case .slot(let slot)? = shape.property(key), shape.slots[slot].relationshipIndex < 0 else {
            return setKeyedValue(value, key)
        }
        if isUnread { realize(slot) }
        // The values are dirty all the same, so that the next save of the object has them.
        if !flags.contains(.awaking), slot < shape.persistentSlotCount { flags.insert(.dirtySlots) }
        store(value, slot: slot)
    }

    // MARK: Announcements

    /// See ``willChangeValue(forKey:)``.
    final func announceChange(_ key: String) {
        if isUnread { realize() }
        if !flags.contains(.unobserved) { observedWillChange(key) }
        guard !flags.contains(.awaking) else { return }
        if shape.property(key) != nil || !Self.contextShouldIgnoreUnmodeledPropertyChanges { recordChange([]) }
    }

    /// Says what kind of change the next one of an ordered relationship is. Whatever is announced before
    /// ``completeMembers(_:)`` is a part of it.
    final func announceMembers(_ key: String, _ change: OrderedChange) {
        if flags.contains(.unobserved) { return }
        if isUnread { realize() }
        ObservedObjects.willChangeMembers(self, key, change)
    }

    /// See ``announceMembers(_:_:)``.
    final func completeMembers(_ key: String) {
        if !flags.contains(.unobserved) { ObservedObjects.didChangeMembers(self, key) }
    }

    /// See ``didChangeValue(forKey:)``.
    final func completeChange(_ key: String) {
        if !flags.contains(.unobserved) { observedDidChange(key) }
    }
}
