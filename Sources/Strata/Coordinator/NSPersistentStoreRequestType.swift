/// The kinds of requests to a store.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// To find objects.
    case fetchRequestType = 1
    /// To save changes.
    case saveRequestType = 2
    /// To insert many objects at once.
    case batchInsertRequestType = 5
    /// To change many objects at once.
    case batchUpdateRequestType = 6
    /// To delete many objects at once.
    case batchDeleteRequestType = 7
}

/// The events in the life of a ubiquitous store.
@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public enum NSPersistentStoreUbiquitousTransitionType: UInt, Sendable {
    /// An account came.
    case accountAdded = 1
    /// An account went.
    case accountRemoved = 2
    /// The account's content went.
    case contentRemoved = 3
    /// The first import is done.
    case initialImportCompleted = 4
}
