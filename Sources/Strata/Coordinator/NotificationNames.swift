import Foundation

extension Notification.Name {
    /// A Spotlight index was updated. Never posted on Linux.
    public static let NSCoreDataCoreSpotlightDelegateIndexDidUpdate = Notification.Name(
        "NSCoreDataCoreSpotlightDelegateIndexDidUpdateNotification")

    /// A context is about to save.
    public static let NSManagedObjectContextWillSave = Notification.Name(
        "NSManagingContextWillSaveChangesNotification")

    /// A context has saved.
    public static let NSManagedObjectContextDidSave = Notification.Name(
        "NSManagingContextDidSaveChangesNotification")

    /// Objects of a context have changed.
    public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
        "NSObjectsChangedInManagingContextNotification")

    /// A context has saved; carries identifiers instead of objects.
    public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name(
        "NSManagedObjectContextDidSaveObjectIDsNotification")

    /// A context has merged changes of others; carries identifiers.
    public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name(
        "NSManagedObjectContextDidMergeChangesObjectIDsNotification")

    /// The stores of a coordinator are about to change. As in Core Data, only ubiquitous stores announce that, so that
    /// it is never posted; see ``NSPersistentStoreCoordinatorWillRemoveStore``.
    public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
        "NSPersistentStoreCoordinatorStoresWillChangeNotification")

    /// The stores of a coordinator have changed.
    public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
        "NSPersistentStoreCoordinatorStoresDidChangeNotification")

    /// A store is about to be removed from a coordinator.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStoreNotification")

    /// A store was changed, perhaps by another process.
    public static let NSPersistentStoreRemoteChange = Notification.Name(
        "NSPersistentStoreRemoteChangeNotification")

    /// Kept so that code that mentions it compiles; it is never posted.
    @available(*, deprecated, message: "Ubiquitous stores are not supported.")
    public static let NSPersistentStoreDidImportUbiquitousContentChanges = Notification.Name(
        "NSPersistentStoreDidImportUbiquitousContentChangesNotification")
}
