import Foundation

/// Reads properties by name from anything: what `value(forKey:)` and `value(forKeyPath:)` do on Apple's platforms.
package enum KeyValueAccess {
    /// The value at the end of `path`, starting at `base`; `nil` as soon as something on the way is `nil`.
    package static func value(of base: Any?, path: KeyPathComponents) -> Any? {
        value(of: base, names: path.names[...])
    }

    /// The value at the end of a dotted path.
    package static func value(of base: Any?, forKeyPath keyPath: String) -> Any? {
        boxed(value(of: base, path: KeyPathComponents(keyPath)))
    }

    /// A number as the class that Foundation has for it: casts of that to any type of number that can hold it succeed,
    /// as programs expect, while a Swift integer is no `Double`.
    package static func boxed(_ value: Any?) -> Any? { value.flatMap(number) ?? value }

    /// A number of any type as `NSNumber`; nil for other values.
    package static func number(_ value: Any) -> NSNumber? {
        // Linux's Foundation bridges all of Swift's numbers but this one. A cast in vain takes long.
        if type(of: value) == CGFloat.self, let number = value as? CGFloat { return NSNumber(value: Double(number)) }
        return AnyElements.isSetOfDecimals(value) ? nil : value as? NSNumber
    }

    static func value(of base: Any?, names: ArraySlice<String>) -> Any? {
        var current = AnyElements.plain(base)
        var rest = names
        while let name = rest.popFirst() {
            guard EvaluationWork.step(), let object = current else { return nil }
            if name.utf8.first == UInt8(ascii: "@") {
                if let elements = collectionElements(object) {
                    return CollectionOperator.apply(name, to: elements, rest: rest)
                }
                // One object is no collection; asked for the name of an operator, a managed object stops the program.
                if object is any PredicateIdentifiable { return nil }
            }
            current = AnyElements.plain(value(of: object, forKey: name))
        }
        return current
    }

    private static func collectionElements(_ object: Any) -> AnyElements? {
        if let elements = AnyElements(object) { return elements }
        if let dictionary = object as? NSDictionary {
            var elements = AnyElements([Any]())
            elements?.elements = dictionary.allValues
            return elements
        }
        return nil
    }

    /// Every value that a path reaches when it fans out over to-many properties; `nil`s stay, empty collections vanish.
    package static func leaves(of base: Any?, path: KeyPathComponents) -> [Any?] {
        if path.names.contains(where: { $0.utf8.first == UInt8(ascii: "@") }) {
            return AnyElements.flattened(value(of: base, path: path))
        }
        var frontier = AnyElements.flattened(base)
        for name in path.names {
            var next: [Any?] = []
            // An object that several ways lead to says the same each time; left in, such ways multiply at each step.
            if frontier.count > 64 { frontier = withoutRepeatedObjects(frontier) }
            for object in frontier {
                guard EvaluationWork.step() else { return [] }
                guard let object else {
                    next.append(nil)
                    continue
                }
                next.append(contentsOf: AnyElements.flattened(value(of: object, forKey: name)))
            }
            frontier = next
        }
        return frontier
    }

    private static func withoutRepeatedObjects(_ values: [Any?]) -> [Any?] {
        var seen: Set<AnyHashable> = []
        return values.filter { value in
            guard let object = value as? any PredicateIdentifiable else { return true }
            return seen.insert(object.predicateIdentity).inserted
        }
    }

    /// The value of one property of `object`.
    package static func value(of object: Any, forKey key: String) -> Any? {
        if let coded = object as? any KeyValueCoding { return coded.value(forKey: key) }
        if key == "self" { return object }
        if let dictionary = object as? any DictionaryValue { return dictionary.anyValue(forKey: key) }
        if !AnyElements.isSetOfDecimals(object), let dictionary = object as? NSDictionary {
            return dictionary.object(forKey: NSString(string: key))
        }
        if let collection = AnyElements(object) { return map(collection, key: key) }
        if let value = FoundationKeys.value(of: object, forKey: key) { return value }
        return reflected(object, key: key)
    }

    static func map(_ collection: AnyElements, key: String) -> Any? {
        var values: [Any] = []
        values.reserveCapacity(collection.elements.count)
        for element in collection.elements {
            guard EvaluationWork.step() else { return nil }
            var found: Any?
            if let object = AnyElements.plain(element) { found = AnyElements.plain(value(of: object, forKey: key)) }
            if let found {
                values.append(found)
            } else if !collection.isUnordered {
                values.append(NSNull())
            }
        }
        if collection.isUnordered { return AnyElements.set(of: values) }
        return collection.isOrderedSet ? AnyElements.set(of: values, isOrdered: true) : values
    }

    /// The value of a stored property.
    package static func reflected(_ object: Any, key: String) -> Any? {
        var mirror: Mirror? = Mirror(reflecting: object)
        while let current = mirror {
            for child in current.children {
                // Property wrappers keep their storage under an underscore, lazy properties under a longer prefix.
                guard let label = child.label else { continue }
                if label == key || label == "$__lazy_storage_$_" + key { return AnyElements.plain(child.value) }
            }
            mirror = current.superclassMirror
        }
        return key == "description" ? String(describing: object) : nil
    }
}
