import Foundation

/// What may be done with a store of another model when it is opened.
struct MigrationOptions {
    /// Whether it may be migrated.
    let isAutomatic: Bool
    /// Whether the mapping may be inferred.
    let infers: Bool
    /// How the store is opened.
    let storeOptions: [AnyHashable: Any]
    /// Whoever opens the store does so for the migration that has reserved it.
    let reservation: SharedLogs.Reservation?

    /// The checksum of the only model that the store may be migrated from; nil for any.
    let onlySource: String?

    /// The option whose value is ``onlySource``.
    static let onlySourceOption = "StrataMigrationSource"
    /// The option whose value is the reservation.
    static let reservationOption = "StrataMigrationReservation"

    init(_ options: [AnyHashable: Any]?) {
        isAutomatic = StoreOptions.flag(options, NSMigratePersistentStoresAutomaticallyOption)
        infers = StoreOptions.flag(options, NSInferMappingModelAutomaticallyOption)
        storeOptions = options ?? [:]
        reservation = options?[Self.reservationOption] as? SharedLogs.Reservation
        onlySource = options?[Self.onlySourceOption] as? String
    }
}
