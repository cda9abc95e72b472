import Foundation

// The part of NSObject's Objective-C side that has a meaning in Swift. Messages, implementations and allocation apart
// from initialisation have none.
extension NSObject {
    /// The class that the object's class inherits from; nil for a root class.
    public final var superclass: AnyClass? { _getSuperclass(type(of: self)) }

    /// The name of the object's class: that which models have for the class of a managed object, elsewhere the name
    /// with the module.
    public final var className: String {
        (type(of: self) as? any ModelObject.Type)?.objectiveCName ?? NSStringFromClass(type(of: self))
    }

    /// The class itself.
    public class func `class`() -> AnyClass { self }

    /// The class itself: the Objective-C runtime lets a class be asked as its instances are.
    public class func classForCoder() -> AnyClass { self }
}
