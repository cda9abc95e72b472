/// What descriptions, predicates and key-value coding ask of the objects that a model is about, which they do not know.
///
/// Managed objects conform, and nothing else does.
package protocol ModelObject: AnyObject {
    /// The name of the class in models, if that is another than Swift's.
    static var objectiveCName: String? { get }

    /// The name of the property, or the path of properties, that a key path of the class stands for; nil if it is not
    /// known.
    static func propertyName(of keyPath: AnyKeyPath) -> String?

    /// Sets a property.
    func setValue(_ value: Any?, forKey key: String)

    /// Sets the property at the end of a path.
    func setValue(_ value: Any?, forKeyPath keyPath: String)
}

/// The names of the properties that Swift key paths stand for.
package enum PropertyNames {
    /// The property's name, if the class of the key path's root knows it.
    package static func name(of keyPath: AnyKeyPath) -> String? {
        (type(of: keyPath).rootType as? any ModelObject.Type)?.propertyName(of: keyPath)
    }
}
