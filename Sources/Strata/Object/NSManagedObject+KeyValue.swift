import Foundation

extension NSManagedObject: KeyValueCoding {
    /// The value of a property by name.
    public subscript(_ key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// Sets the property that a dotted path leads to; nothing happens when an object on the way is nil.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let names = keyPath.split(separator: ".").map(String.init)
        var object: NSManagedObject? = self
        for (index, name) in names.enumerated() {
            guard let current = object else { return }
            // The last name, or an element of a composite attribute.
            if index == names.count - 1 { return current.setValue(value, forKey: name) }
            if case .composite? = current.shape.place(name) {
                return current.setValue(value, forKey: names[index...].joined(separator: "."))
            }
            object = current.value(forKey: name) as? NSManagedObject
        }
    }

    /// The values of several properties, with `NSNull` for nil.
    public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    }

    /// Sets several properties; `NSNull` stands for nil.
    public final func setValuesForKeys(_ values: [String: Any]) {
        for (key, value) in values { setValue(value is NSNull ? nil : value, forKey: key) }
    }
}

extension NSManagedObject: PredicateIdentifiable {
    package final var predicateIdentity: AnyHashable { objectID }
}

extension NSManagedObject {
    final func keyedValue(_ key: String) -> Any? {
        switch shape.place(key) {
        case .slot(let slot)?:
            let index = shape.slots[slot].relationshipIndex
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
            switch key {
            case "self": return self
            case "objectID": return objectID
            default: return value(forUndefinedKey: key)
            }
        }
    }

    final func setKeyedValue(_ value: Any?, _ key: String) {
        switch shape.place(key) {
        case .slot(let slot)?:
            let index = shape.slots[slot].relationshipIndex
            guard index >= 0 else { return setBoxedValue(value, slot: slot) }
            let converted = ValueConversion.convert(value, for: shape.slots[slot], entity: shape)
            setToOne(shape.relationships[index], to: converted as? NSManagedObject)
        case .toMany(let index)?:
            setToMany(shape.relationships[index], to: Self.members(value))
        case .composite(let composite)?:
            setCompositeValue(value, composite)
        case .fetched(let property)?:
            preconditionFailure("\(shape.name).\(property.name) is a fetched property and cannot be set")
        case nil:
            setValue(value, forUndefinedKey: key)
        }
    }

    /// The objects in any of the collections that a to-many relationship can be set to.
    static func members(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case nil, is NSNull: return []
        case let ordered as NSOrderedSet: return ordered.array.compactMap { $0 as? NSManagedObject }
        case let array as [NSManagedObject]: return array
        case let set as Set<NSManagedObject>: return Array(set)
        default: preconditionFailure("a to-many relationship cannot be set to \(String(describing: value))")
        }
    }
}
