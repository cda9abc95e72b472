public import Foundation

/// Key-value coding, which Linux's Foundation lacks: history tokens are often kept this way.
extension UserDefaults {
    /// As `object(forKey:)`.
    public func value(forKey key: String) -> Any? { object(forKey: key) }

    /// As `set(_:forKey:)`.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
}
