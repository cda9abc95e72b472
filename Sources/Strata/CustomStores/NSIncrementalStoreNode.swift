public import Foundation

/// The values of one object in an ``NSIncrementalStore``: attributes, and relationships as IDs.
///
/// Not thread-safe; made by the store and read at once.
open class NSIncrementalStoreNode: NSObject {
    /// The object that the values are of.
    public let objectID: NSManagedObjectID
    private var values: [String: Any]
    private var storedVersion: UInt64

    /// Creates a node.
    ///
    /// - Parameters:
    ///   - objectID: whose values they are.
    ///   - values: by property name; to-one relationships as ``NSManagedObjectID`` or `NSNull`, to-many ones as a
    ///     collection of IDs. The store is asked for relationships that are not among them.
    ///   - version: grows when the values change.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        storedVersion = version
    }

    /// Replaces values and version.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values = values
        storedVersion = version
    }

    /// The version of the values.
    open var version: UInt64 { storedVersion }

    /// The value of a property: nil if the node does not have it, `NSNull` if it is null.
    open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }

    /// A text for logs and for debugging; not to be parsed.
    override open var description: String {
        "<\(type(of: self)): \(addressDescription(self))> (objectID: \(objectID), version: \(storedVersion))"
    }
}
