public import Foundation

// The names of notifications and of their user info in the new spelling.
extension NSManagedObjectContext {
    /// Posted before a save writes anything.
    public static let willSaveObjectsNotification = Notification.Name.NSManagedObjectContextWillSave
    /// Posted after a save, with the objects.
    public static let didSaveObjectsNotification = Notification.Name.NSManagedObjectContextDidSave
    /// Posted when pending changes have been processed, with the objects.
    public static let didChangeObjectsNotification = Notification.Name.NSManagedObjectContextObjectsDidChange
    /// Posted after a save, with the objects' IDs.
    public static let didSaveObjectIDsNotification = Notification.Name.NSManagedObjectContextDidSaveObjectIDs
    /// Posted after changes of another context were merged, with the objects' IDs.
    public static let didMergeChangesObjectIDsNotification = Notification.Name
        .NSManagedObjectContextDidMergeChangesObjectIDs

    /// A key of the notifications' user info.
    public enum NotificationKey: String, Sendable {
        /// The `NSQueryGenerationToken` that the context is pinned to; only if it is.
        case queryGeneration = "newQueryGeneration"
        /// There when the context was reset.
        case invalidatedAllObjects = "invalidatedAll"
        /// The inserted objects.
        case insertedObjects = "inserted"
        /// The updated objects.
        case updatedObjects = "updated"
        /// The deleted objects.
        case deletedObjects = "deleted"
        /// The objects brought up to date with the store.
        case refreshedObjects = "refreshed"
        /// The objects that are no longer valid.
        case invalidatedObjects = "invalidated"
        /// The IDs of inserted objects.
        case insertedObjectIDs = "inserted_objectIDs"
        /// The IDs of updated objects.
        case updatedObjectIDs = "updated_objectIDs"
        /// The IDs of deleted objects.
        case deletedObjectIDs = "deleted_objectIDs"
        /// The IDs of objects brought up to date with the store.
        case refreshedObjectIDs = "refreshed_objectIDs"
        /// The IDs of objects that are no longer valid.
        case invalidatedObjectIDs = "invalidated_objectIDs"
    }
}
