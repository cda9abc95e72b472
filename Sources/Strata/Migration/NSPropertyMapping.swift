import Foundation

/// How a migration gets the value of one property of the destination.
///
/// Belongs to whoever made it: use it from one thread at a time, and do not change it while a migration uses it.
open class NSPropertyMapping: NSObject {
    /// The name of the property in the destination entity.
    open var name: String?
    /// What gives the value: evaluated with `$manager`, `$source`, `$destination`, `$entityMapping`, `$propertyMapping` and
    /// `$entityPolicy`. Nil leaves the property as it is.
    open var valueExpression: NSExpression?
    /// What the program likes to keep with it.
    open var userInfo: [AnyHashable: Any]?
}
