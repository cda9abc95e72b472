// Options of stores.

/// Whether to open a store for reading only.
public let NSReadOnlyPersistentStoreOption: String = "NSReadOnlyPersistentStoreOption"

/// Whether to validate an XML file when it is read.
public let NSValidateXMLStoreOption: String = "NSValidateXMLStoreOption"

/// How many seconds to wait for a store.
public let NSPersistentStoreTimeoutOption: String = "NSPersistentStoreTimeoutOption"

/// Pragmas for SQLite, `[String: String]`. Strata has none.
public let NSSQLitePragmasOption: String = "NSSQLitePragmasOption"

/// Whether SQLite should analyse a store. Strata need not.
public let NSSQLiteAnalyzeOption: String = "NSSQLiteAnalyzeOption"

/// Whether to compact a store when it is opened for writing, before anybody sees it, to free space; see
/// `compact(_:progress:)` of the coordinator.
public let NSSQLiteManualVacuumOption: String = "NSSQLiteManualVacuumOption"

/// Whether to open a store without comparing version hashes.
public let NSIgnorePersistentStoreVersioningOption: String = "NSIgnorePersistentStoreVersioningOption"

/// Whether to migrate a store when it is opened.
public let NSMigratePersistentStoresAutomaticallyOption: String = "NSMigratePersistentStoresAutomaticallyOption"

/// Whether to infer how to migrate a store.
public let NSInferMappingModelAutomaticallyOption: String = "NSInferMappingModelAutomaticallyOption"

/// How many connections a coordinator may open to a store. Strata needs none.
public let NSPersistentStoreConnectionPoolMaxSizeKey: String = "NSPersistentStoreConnectionPoolMaxSize"

/// The Spotlight delegate of a store. Nothing on Linux reads it.
public let NSCoreDataCoreSpotlightExporter: String = "NSCoreDataCoreSpotlightExporter"

/// The staged migration manager to migrate a store with.
public let NSPersistentStoreStagedMigrationManagerOptionKey: String = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// Whether to destroy a store even if it cannot be locked.
public let NSPersistentStoreForceDestroyOption: String = "NSPersistentStoreForceDestroyOption"

/// The file protection class of a store. Linux has none.
public let NSPersistentStoreFileProtectionKey: String = "NSPersistentStoreFileProtectionKey"

/// Whether to keep the persistent history of a store.
public let NSPersistentHistoryTrackingKey: String = "NSPersistentHistoryTrackingKey"

/// Further classes that a binary store may hold.
public let NSBinaryStoreSecureDecodingClasses: String = "NSBinaryStoreSecureDecodingClasses"

/// Whether a binary store may hold any class.
public let NSBinaryStoreInsecureDecodingCompatibilityOption: String = "NSBinaryStoreInsecureDecodingCompatibilityOption"

/// Whether to post a notification for every change of a store, of other processes, too.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey: String =
    "NSPersistentStoreRemoteChangeNotificationOptionKey"

/// Whether to put off the expensive parts of a migration.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey: String =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"
