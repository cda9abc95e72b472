import CoreData

/// Names every symbol of the group "notifications" with its signature, so that none can vanish. Never run.
enum SurfaceNotifications {
    static func nsManagedObjectContext() {
        _ = { () -> Notification.Name in NSManagedObjectContext.willSaveObjectsNotification }
        _ = { () -> Notification.Name in NSManagedObjectContext.didSaveObjectsNotification }
        _ = { () -> Notification.Name in NSManagedObjectContext.didChangeObjectsNotification }
        _ = { () -> Notification.Name in NSManagedObjectContext.didSaveObjectIDsNotification }
        _ = { () -> Notification.Name in NSManagedObjectContext.didMergeChangesObjectIDsNotification }
    }

    static func nsManagedObjectContextMemberNotificationKey() {
        _ = NSManagedObjectContext.NotificationKey.self
        _ = { (value: NSManagedObjectContext.NotificationKey) -> String in value.rawValue }
        _ = { () -> NSManagedObjectContext.NotificationKey in .queryGeneration }
        _ = { () -> NSManagedObjectContext.NotificationKey in .invalidatedAllObjects }
        _ = { () -> NSManagedObjectContext.NotificationKey in .insertedObjects }
        _ = { () -> NSManagedObjectContext.NotificationKey in .updatedObjects }
        _ = { () -> NSManagedObjectContext.NotificationKey in .deletedObjects }
        _ = { () -> NSManagedObjectContext.NotificationKey in .refreshedObjects }
        _ = { () -> NSManagedObjectContext.NotificationKey in .invalidatedObjects }
        _ = { () -> NSManagedObjectContext.NotificationKey in .insertedObjectIDs }
        _ = { () -> NSManagedObjectContext.NotificationKey in .updatedObjectIDs }
        _ = { () -> NSManagedObjectContext.NotificationKey in .deletedObjectIDs }
        _ = { () -> NSManagedObjectContext.NotificationKey in .refreshedObjectIDs }
        _ = { () -> NSManagedObjectContext.NotificationKey in .invalidatedObjectIDs }
        _ = { (a0: String) -> NSManagedObjectContext.NotificationKey? in
            NSManagedObjectContext.NotificationKey(rawValue: a0)
        }
        _ = { (value: String) -> NSManagedObjectContext.NotificationKey.RawValue in value }
        _ = { (object: NSManagedObjectContext.NotificationKey) -> String in object.rawValue }
    }

    static func nsNotificationMemberName() {
        _ = { () -> NSNotification.Name in NSNotification.Name.NSManagedObjectContextWillSave }
        _ = { () -> NSNotification.Name in NSNotification.Name.NSManagedObjectContextDidSave }
        _ = { () -> NSNotification.Name in NSNotification.Name.NSManagedObjectContextObjectsDidChange }
        _ = { () -> NSNotification.Name in NSNotification.Name.NSManagedObjectContextDidSaveObjectIDs }
        _ = { () -> NSNotification.Name in NSNotification.Name.NSManagedObjectContextDidMergeChangesObjectIDs }
        _ = { () -> NSNotification.Name in NSNotification.Name.NSPersistentStoreCoordinatorStoresWillChange }
        _ = { () -> NSNotification.Name in NSNotification.Name.NSPersistentStoreCoordinatorStoresDidChange }
        _ = { () -> NSNotification.Name in NSNotification.Name.NSPersistentStoreCoordinatorWillRemoveStore }
        _ = { () -> NSNotification.Name in NSNotification.Name.NSPersistentStoreRemoteChange }
    }

    static func global() {
        _ = { () -> String in NSInsertedObjectsKey }
        _ = { () -> String in NSUpdatedObjectsKey }
        _ = { () -> String in NSDeletedObjectsKey }
        _ = { () -> String in NSRefreshedObjectsKey }
        _ = { () -> String in NSInvalidatedObjectsKey }
        _ = { () -> String in NSInvalidatedAllObjectsKey }
        _ = { () -> String in NSInsertedObjectIDsKey }
        _ = { () -> String in NSUpdatedObjectIDsKey }
        _ = { () -> String in NSDeletedObjectIDsKey }
        _ = { () -> String in NSRefreshedObjectIDsKey }
        _ = { () -> String in NSInvalidatedObjectIDsKey }
        _ = { () -> String in NSAddedPersistentStoresKey }
        _ = { () -> String in NSRemovedPersistentStoresKey }
        _ = { () -> String in NSUUIDChangedPersistentStoresKey }
        _ = { () -> String in NSPersistentStoreRemoteChangeNotificationPostOptionKey }
        _ = { () -> String in NSPersistentStoreURLKey }
    }
}
