import Foundation
import StrataIO
import StrataLog
import SystemPackage

// A store of an older model, on its way to being opened.
extension StoreOpening {
    /// What leads from a store's model to the one it is opened with.
    struct MigrationPlan {
        let stored: StoredModel
        let source: NSManagedObjectModel
        /// Of the program's own; nil for one to be inferred.
        let mapping: NSMappingModel?
        let match: ModelMatch
        /// Keeps the process's other coordinators away until the store has been migrated.
        let claim: SharedLogs.Claim
    }

    /// - Throws: `CocoaError` 134100 when the store may not be migrated, 134130 when it does not say what its model is,
    ///   134140 when there is no mapping, 134190 when none can be inferred.
    func migrationPlan(_ stored: StoredModel, _ log: LogStore) throws -> MigrationPlan {
        let source = try stored.decodedModel
        let difference = source.map { "\(ModelDifference($0, shapes.model))" } ?? ""
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
        guard let claim = SharedLogs.claim(log) else {
            throw incompatible("Another coordinator of this process uses the store with its own model.")
        }
        guard let source else {
            throw error(
                .migrationMissingSourceModel, "The store does not say what its model is, which has no encoded form.")
        }
        let match = ModelMatch(source, shapes.model)
        let mapping = NSMappingModel(from: nil, forSourceModel: source, destinationModel: shapes.model)
        guard mapping == nil else {
            return MigrationPlan(stored: stored, source: source, mapping: mapping, match: match, claim: claim)
        }
        guard migration.infers else {
            throw error(
                .migrationMissingMappingModel,
                "There is no mapping model, and none is to be inferred (NSInferMappingModelAutomaticallyOption). "
                    + "What differs: \(difference).")
        }
        let obstacles = match.obstacles
        guard obstacles.isEmpty else {
            throw error(
                .inferredMappingModel, "No mapping can be inferred: \(obstacles.joined(separator: "; ")).")
        }
        return MigrationPlan(stored: stored, source: source, mapping: nil, match: match, claim: claim)
    }

    func error(_ code: CocoaError.Code, _ text: String) -> any Error {
        DescribedError(code, userInfo: [NSLocalizedDescriptionKey: text, NSFilePathErrorKey: path.string])
    }

    /// Has the store's rows read by the newer model from now on, without writing any.
    ///
    /// Durable when it returns. A crash leaves the store as it was, or migrated.
    ///
    /// - Returns: the newer model as the store keeps it; nil when the objects have to be copied.
    /// - Complexity: O(1) in the rows, but for an attribute that is no longer optional and has no default value.
    func migrateLightly(_ log: LogStore, _ plan: MigrationPlan) throws -> StoredModel? {
        guard plan.mapping == nil else { return nil }
        var planner = LightMigrationPlanner(log, plan.stored, plan.match, shapes, holding: held)
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
        let destination = shapes.model
        let mapping =
            try plan.mapping
            ?? NSMappingModel.inferredMappingModel(forSourceModel: plan.source, destinationModel: destination)
        let metadata = StoreMetadata.read(log, type: type)
        var options = migration.storeOptions
        for key in [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            NSPersistentStoreStagedMigrationManagerOptionKey, StrataHistoryRetentionOption,
        ] { options[key] = nil }
        var sourceOptions = options
        sourceOptions[MigrationOptions.claimOption] = plan.claim
        let source = URL(fileURLWithPath: path.string, isDirectory: true)
        try StoreDirectory(path, fileSystem).replace(
            mustBeSound: true, isInUse: true, beforeInstalling: { try SharedLogs.closeKeepingLock(log) }
        ) { target in
            let url = URL(fileURLWithPath: target.string, isDirectory: true)
            let manager = NSMigrationManager(sourceModel: plan.source, destinationModel: destination)
            try manager.migrate(
                from: .init(url: source, type: type, options: sourceOptions), with: mapping,
                // Nobody sees the store before it is complete, and closing it flushes it.
                to: .init(url: url, type: type, options: options.merging([StrataDurabilityOption: "os"]) { $1 }))
            try Self.setMetadata(metadata, at: url, options: options)
            try PendingStage(log)?.note(at: url, options: options)
        }
    }
}
