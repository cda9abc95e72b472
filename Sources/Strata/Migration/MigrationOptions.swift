import Foundation

/// What may be done with a store of another model when it is opened.
struct MigrationOptions {
    /// Whether it may be migrated.
    let isAutomatic: Bool
    /// Whether the mapping may be inferred.
    let infers: Bool
    /// How the store is opened.
    let storeOptions: [AnyHashable: Any]

    init(_ options: [AnyHashable: Any]?) {
        isAutomatic = StoreOptions.flag(options, NSMigratePersistentStoresAutomaticallyOption)
        infers = StoreOptions.flag(options, NSInferMappingModelAutomaticallyOption)
        storeOptions = options ?? [:]
    }
}
