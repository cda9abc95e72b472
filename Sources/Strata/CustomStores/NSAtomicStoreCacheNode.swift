public import Foundation

/// One object of an ``NSAtomicStore``: its values by property name, relationships as other nodes.
///
/// Not thread-safe; belongs to its store.
open class NSAtomicStoreCacheNode: NSObject {
    /// The object that the node stands for.
    public let objectID: NSManagedObjectID
    /// The values: attributes, to-one relationships as nodes, to-many ones as sets (or ordered sets) of nodes.
    open var propertyCache: NSMutableDictionary?

    /// Creates a node without values.
    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
    }

    /// The value of a property from ``propertyCache``.
    open func value(forKey key: String) -> Any? { propertyCache?[key] }

    /// Sets the value of a property in ``propertyCache``; nil takes it away.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let value else {
            propertyCache?.removeObject(forKey: key)
            return
        }
        let cache = propertyCache ?? NSMutableDictionary()
        cache[key] = value
        propertyCache = cache
    }

    /// A text for logs and for debugging; not to be parsed.
    override open var description: String {
        "<\(type(of: self)): \(addressDescription(self))> (objectID: \(objectID))"
    }
}
