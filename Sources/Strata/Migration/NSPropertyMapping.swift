import Foundation

/// How a migration gets the value of one property of the destination.
///
/// Belongs to whoever made it: use it from one thread at a time, and do not change it while a migration uses it.
open class NSPropertyMapping: NSObject {
    /// The name of the property in the destination entity.
    open var name: String?
    /// What gives the value: evaluated with `$manager`, `$source`, `$destination`, `$entityMapping`, `$propertyMapping`
    /// and `$entityPolicy`. Nil leaves the property as it is.
    open var valueExpression: NSExpression?
    /// What the program likes to keep with it.
    open var userInfo: [AnyHashable: Any]?

    /// Whether both give the same property its value in the same way.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        return other === self
            || name == other.name && valueExpression == other.valueExpression && Self.isSame(userInfo, other.userInfo)
    }

    /// Agrees with equality: changes with the name.
    open override var hash: Int { name.hashValue }

    /// Whether the program keeps the same with both; nothing is an empty dictionary.
    static func isSame(_ one: [AnyHashable: Any]?, _ other: [AnyHashable: Any]?) -> Bool {
        // `isEqual(to:)` of Linux's Foundation finds equal numbers different.
        NSDictionary(dictionary: one ?? [:]).isEqual(NSDictionary(dictionary: other ?? [:]))
    }
}
