import Foundation
import StrataSupport

extension NSArray {
    /// The results of asking every element for `key`, with `NSNull` where there is none. Complexity: O(n).
    public func value(forKey key: String) -> Any? {
        AnyElements(self).flatMap { KeyValueAccess.map($0, key: key) }
    }

    /// The value at the end of `keyPath`, with collection operators. Complexity: O(n).
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValueAccess.value(of: self, forKeyPath: keyPath)
    }
}

extension NSSet {
    /// The set of the results of asking every element for `key`, without `nil`s. Complexity: O(n).
    public func value(forKey key: String) -> Any? {
        AnyElements(self).flatMap { KeyValueAccess.map($0, key: key) }
    }

    /// The value at the end of `keyPath`, with collection operators. Complexity: O(n).
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValueAccess.value(of: self, forKeyPath: keyPath)
    }
}

extension NSOrderedSet {
    /// The results of asking every element for `key`, in order, with `NSNull` where there is none. Complexity: O(n).
    public func value(forKey key: String) -> Any? {
        AnyElements(self).flatMap { KeyValueAccess.map($0, key: key) }
    }

    /// The value at the end of `keyPath`, with collection operators. Complexity: O(n).
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValueAccess.value(of: self, forKeyPath: keyPath)
    }
}

extension NSDictionary {
    /// The value at the end of `keyPath`, with collection operators. Complexity: O(1) without to-many steps.
    public func value(forKeyPath keyPath: String) -> Any? {
        KeyValueAccess.value(of: self, forKeyPath: keyPath)
    }
}

extension NSMutableDictionary {
    /// Stores `value` under `key`; `nil` removes the entry.
    public func setValue(_ value: Any?, forKey key: String) {
        if let value {
            setObject(value, forKey: NSString(string: key))
        } else {
            removeObject(forKey: NSString(string: key))
        }
    }

    /// Sets the value that a dotted path leads to; nothing happens when there is nothing on the way.
    ///
    /// Foundation on Linux hands out copies of the dictionaries in a dictionary: those on the way are exchanged for
    /// changed ones, mutable or not.
    /// - Precondition: what lies on the way is a dictionary or a managed object.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.firstIndex(of: ".") else { return setValue(value, forKey: keyPath) }
        let first = NSString(string: String(keyPath[..<dot]))
        let rest = String(keyPath[keyPath.index(after: dot)...])
        switch object(forKey: first) {
        case nil: return
        case let object as any ModelObject: object.setValue(value, forKeyPath: rest)
        case let entries as [AnyHashable: Any]:
            let dictionary = NSMutableDictionary()
            for (key, entry) in entries { dictionary[key] = entry }
            dictionary.setValue(value, forKeyPath: rest)
            setObject(dictionary, forKey: first)
        case let other?:
            programmerError(
                "setValue(_:forKeyPath:) of a dictionary",
                "a \(type(of: other)) lies on the path \"\(keyPath)\"",
                "Have dictionaries or managed objects on the way")
        }
    }
}

// MARK: Setting the value of every element

extension NSArray {
    /// Sets the property named `key` of every element. Complexity: O(n).
    /// - Precondition: the elements are managed objects.
    public func setValue(_ value: Any?, forKey key: String) {
        setForEach(of: self, value, key)
    }
}

extension NSSet {
    /// Sets the property named `key` of every element. Complexity: O(n).
    /// - Precondition: the elements are managed objects.
    public func setValue(_ value: Any?, forKey key: String) {
        setForEach(of: self, value, key)
    }
}

extension NSOrderedSet {
    /// Sets the property named `key` of every element. Complexity: O(n).
    /// - Precondition: the elements are managed objects.
    public func setValue(_ value: Any?, forKey key: String) {
        setForEach(of: self, value, key)
    }
}

private func setForEach(of elements: some Sequence<Any>, _ value: Any?, _ key: String) {
    // An array of its own: what is set may change the collection, as a relationship's inverse does.
    for element in Array(elements) {
        guard let object = element as? any ModelObject else {
            programmerError(
                "setValue(_:forKey:) of a collection",
                "an element is a \(type(of: element)), which is no managed object",
                "Set values in collections of managed objects only")
        }
        object.setValue(value, forKey: key)
    }
}
