/// An object that stands for a row. Managed objects conform, and nothing else does.
package protocol RowObject: AnyObject {
    var objectID: NSManagedObjectID { get }
}

extension NSManagedObjectID {
    /// The ID that a value is, or that of the object that it is; nil for others.
    package static func of(_ value: Any) -> NSManagedObjectID? {
        // Casting Swift's set of decimals to a class would bridge it, which never ends; and casts in vain take long.
        guard type(of: value) is AnyClass else { return nil }
        return value as? NSManagedObjectID ?? (value as? any RowObject)?.objectID
    }
}
