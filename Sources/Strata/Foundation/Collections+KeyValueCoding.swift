import Foundation

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
}
