import Foundation
import StrataLog
import StrataSupport
import SystemPackage

// A store of an older model, on its way to being opened.
extension StoreOpening {
    /// What a store of an older model needs.
    struct MigrationPlan {
        let stored: StoredModel
        let migrationPath: MigrationPath
        /// Keeps the process's other coordinators away until the store has been migrated.
        let reservation: SharedLogs.Reservation
    }

    /// - Throws: `CocoaError` 134100 when the store may not be migrated, 134130 when it does not say what its model is,
    ///   134140 when there is no mapping, 134190 when none can be inferred.
    func migrationPlan(_ stored: StoredModel, _ log: LogStore) throws -> MigrationPlan {
        let source = try stored.decodedModel
        let difference =
            source.map { "\(ModelDifference($0, shapes.model))" } ?? "the store does not say what its model is"
        func incompatible(_ remedy: String) -> any Error {
            Self.incompatible(
                StoreMetadata.read(log, type: type), path: path.string, detail: "\(remedy) What differs: \(difference)."
            )
        }
        guard migration.isAutomatic else {
            throw incompatible("Set NSMigratePersistentStoresAutomaticallyOption to have the store migrated.")
        }
        guard !log.isReadOnly, options.access == .readWrite else {
            throw incompatible("A store that is opened read-only is not migrated.")
        }
        guard let reservation = SharedLogs.reserve(log) else {
            throw incompatible("Another coordinator of this process uses the store with its own model.")
        }
        guard let source else {
            throw MigrationPath.error(
                .migrationMissingSourceModel, "The store does not say what its model is, which has no encoded form.",
                path.string)
        }
        if let only = migration.onlySource, source.versionChecksum != only {
            throw incompatible("Another process has migrated the store meanwhile.")
        }
        let migrationPath = try MigrationPath(
            from: source, to: shapes.model, infers: migration.infers, path: path.string)
        return MigrationPlan(stored: stored, migrationPath: migrationPath, reservation: reservation)
    }

    private func held(_ plan: MigrationPlan) -> Set<String> { held(plan.stored, plan.migrationPath.match) }

    /// Has the store's rows read by the newer model from now on, without writing any.
    ///
    /// Durable when it returns. A crash leaves the store as it was, or migrated.
    ///
    /// - Returns: the newer model as the store keeps it; nil when the objects have to be copied.
    /// - Complexity: O(1) in the rows, but for an attribute that is no longer optional and has no default value.
    func migrateLightly(_ log: LogStore, _ plan: MigrationPlan) throws -> StoredModel? {
        guard plan.migrationPath.mapping == nil else { return nil }
        var planner = LightMigrationPlanner(log, plan.stored, plan.migrationPath.match, shapes, holding: held(plan))
        let light = try planner.plan()
        guard light.obstacles.isEmpty else { return nil }
        try log.register(light.schema)
        return light.stored
    }

    /// Copies all objects into a new store, which takes the old one's place in one step.
    ///
    /// A crash leaves the old store or the new one, whole.
    ///
    /// - Complexity: O(n) in the objects; memory for a window of them.
    func migrateByCopying(_ log: LogStore, _ plan: MigrationPlan) throws {
        let metadata = StoreMetadata.read(log, type: type)
        let source = URL(fileURLWithPath: path.string, isDirectory: true)
        try StoreDirectory(path, fileSystem).replace(
            mustBeSound: true, isInUse: true, beforeInstalling: { try SharedLogs.closeKeepingLock(log) }
        ) { target in
            let url = URL(fileURLWithPath: target.string, isDirectory: true)
            try plan.migrationPath.copy(
                from: source, to: url, type: type, configuration: held(plan) == served ? configuration : nil,
                options: migration.storeOptions,
                reservation: plan.reservation, metadata: metadata, destination: shapes.model)
            try PendingStage(log)?.record(at: url, options: migration.storeOptions)
        }
    }
}
