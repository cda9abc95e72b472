public import Foundation
import StrataIO

/// Something that is asked of the stores.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores that are asked; nil for all.
    open var affectedStores: [NSPersistentStore]?

    /// The kind of request.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Creates a request. Use one of the subclasses.
    override public init() {}

    /// A copy of the request. Kinds of requests that can be copied override this.
    open func copy(with zone: NSZone? = nil) -> Any {
        programmerError("\(type(of: self))", "the class does not support copying", "Override copy(with:)")
    }
}

/// The answer to a request.
open class NSPersistentStoreResult: NSObject {
    override init() {}
}
