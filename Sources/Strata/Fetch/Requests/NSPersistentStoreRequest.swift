public import Foundation
import StrataSupport

/// Something that is asked of the stores.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores that are asked; nil for all.
    @exclusivity(unchecked) open var affectedStores: [NSPersistentStore]?

    /// An option of Strata: how long the request may take, from when it is executed; nil, the default, for as long as
    /// it takes. Zero or less is up at once.
    ///
    /// A request whose time is up throws `CocoaError` 134090 (`NSPersistentStoreTimeoutError`), mostly within
    /// milliseconds; what it waits for counts, too. A batch request has then stored nothing, or whole parts of
    /// `maximumObjectsPerTransaction` objects; a commit that has begun is not given up any more. A custom store gets
    /// the limit with the request and sees to it itself.
    @exclusivity(unchecked) open var timeLimit: Duration?

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
    /// A result of nothing, for subclasses that stand in for one.
    override public init() {}
}
