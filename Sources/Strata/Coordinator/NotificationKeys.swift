// Keys of the user info of notifications.

/// The objects that were inserted: `Set<NSManagedObject>`.
public let NSInsertedObjectsKey: String = "inserted"

/// The objects that were changed: `Set<NSManagedObject>`.
public let NSUpdatedObjectsKey: String = "updated"

/// The objects that were deleted: `Set<NSManagedObject>`.
public let NSDeletedObjectsKey: String = "deleted"

/// The objects that were refreshed: `Set<NSManagedObject>`.
public let NSRefreshedObjectsKey: String = "refreshed"

/// The objects that were invalidated: `Set<NSManagedObject>`.
public let NSInvalidatedObjectsKey: String = "invalidated"

/// The query generation that a context reads.
public let NSManagedObjectContextQueryGenerationKey: String = "newQueryGeneration"

/// Present if all objects of the context were invalidated.
public let NSInvalidatedAllObjectsKey: String = "invalidatedAll"

/// The identifiers of objects that were inserted.
public let NSInsertedObjectIDsKey: String = "inserted_objectIDs"

/// The identifiers of objects that were changed.
public let NSUpdatedObjectIDsKey: String = "updated_objectIDs"

/// The identifiers of objects that were deleted.
public let NSDeletedObjectIDsKey: String = "deleted_objectIDs"

/// The identifiers of objects that were refreshed.
public let NSRefreshedObjectIDsKey: String = "refreshed_objectIDs"

/// The identifiers of objects that were invalidated.
public let NSInvalidatedObjectIDsKey: String = "invalidated_objectIDs"

/// The stores that were added to a coordinator.
public let NSAddedPersistentStoresKey: String = "NSAddedPersistentStoresKey"

/// The stores that were removed from a coordinator.
public let NSRemovedPersistentStoresKey: String = "NSRemovedPersistentStoresKey"

/// Stores whose UUID changed: the old store and the new one.
public let NSUUIDChangedPersistentStoresKey: String = "NSUUIDChangedPersistentStoresKey"

/// The URL of the store that changed.
public let NSPersistentStoreURLKey: String = "storeURL"

/// The history token after the change.
public let NSPersistentHistoryTokenKey: String = "historyToken"
