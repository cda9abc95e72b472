import Foundation

/// The stages that one store goes through before it is opened.
struct StagedMigration {
    private let manager: NSStagedMigrationManager
    private let url: URL
    private let type: String
    private let configuration: String?
    private let options: [AnyHashable: Any]
    private let model: NSManagedObjectModel

    /// From one version to the next.
    private struct Step {
        var from: String
        var to: String
        /// Nil for one without handlers.
        var stage: NSCustomMigrationStage?
    }

    init(
        _ manager: NSStagedMigrationManager, _ url: URL, _ type: String, _ configuration: String?,
        _ options: [AnyHashable: Any]?, _ model: NSManagedObjectModel
    ) {
        self.manager = manager
        self.url = url
        self.type = type
        self.configuration = configuration
        self.options = options ?? [:]
        self.model = model
    }

    /// Brings the store to the model. Nothing happens if it has it, or there is none.
    ///
    /// - Throws: `CocoaError` 134100 when the store is opened read-only and has a way to go, without calling any
    ///   handler; 134504 when the model of a stage is not there, 134506 when the store is of a later
    ///   version, 134140 when no stage begins with the store's version; what handlers throw, and what opening a store
    ///   does. The store is of the version that it has come to then.
    func run() throws {
        while true {
            var reached: String?
            do {
                return try run(reached: &reached)
            } catch let error as CocoaError where error.code == .persistentStoreIncompatibleVersionHash {
                // Nobody has the store between two steps: another process may have gone on, and what is left is
                // another way.
                guard let version = try storedVersion(), let reached, version != reached else { throw error }
            }
        }
    }

    private func storedVersion() throws -> String? {
        try versions(try NSPersistentStoreCoordinator.readMetadata(type, at: url, options)).1
    }

    /// - Parameter reached: the version that the store has come to as far as this has brought it.
    private func run(reached: inout String?) throws {
        let metadata: [String: Any]
        let pending: PendingStage?
        do {
            let isCustom = try StoreClasses.customClass(type) != nil
            (metadata, pending) =
                isCustom
                ? (try NSPersistentStoreCoordinator.readMetadata(type, at: url, options), nil)
                : try PendingStage.read(at: url, type: type, options: options)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return
        }
        let isCurrent = model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
        if isCurrent, pending == nil { return }
        guard !StoreOptions.flag(options, NSReadOnlyPersistentStoreOption) else {
            // No handler is called: what it changes could not be saved.
            throw StoreOpening.incompatible(
                metadata, path: url.path,
                detail: isCurrent
                    ? "A stage of its migration has not ended, and a store that is opened read-only is not migrated."
                    : "A store that is opened read-only is not migrated.")
        }
        let (stored, version) = try versions(metadata)
        reached = version
        if let pending { try finish(pending, stored) }
        if isCurrent { return }
        guard let current = version else {
            throw DescribedError(
                .migrationMissingSourceModel,
                userInfo: [NSLocalizedDescriptionKey: "The store does not say what its model is."])
        }
        for step in try steps(from: current) {
            try run(step, stored)
            reached = step.to
        }
    }

    /// The models that the store has had, as far as it knows them, and the checksum of the one that it has.
    private func versions(_ metadata: [String: Any]) throws -> ([NSManagedObjectModel], String?) {
        guard let custom = try StoreClasses.customClass(type) else {
            let stored = try StoreOpening.models(at: url, options: options)
            return (stored, stored.last?.versionChecksum)
        }
        let stored = try AtomicStoreMigration.storedModel(at: url, custom)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        return ([stored].compactMap(\.self), hashes.map { ModelTables.checksum(of: $0) })
    }

    private func steps(from current: String) throws -> [Step] {
        var all: [Step] = []
        func go(to version: String, _ stage: NSCustomMigrationStage? = nil) {
            guard let last = all.last?.to ?? first, last != version else { return }
            all.append(Step(from: last, to: version, stage: stage))
        }
        var first: String?
        for stage in manager.stages {
            switch stage {
            case let stage as NSLightweightMigrationStage:
                for version in stage.versionChecksums {
                    if first == nil { first = version } else { go(to: version) }
                }
            case let stage as NSCustomMigrationStage:
                if first == nil { first = stage.currentModel.versionChecksum }
                go(to: stage.currentModel.versionChecksum)
                go(to: stage.nextModel.versionChecksum, stage)
            default: continue
            }
        }
        let target = model.versionChecksum
        // Later stages are for later models.
        if let end = all.firstIndex(where: { $0.to == target }) {
            if all[(end + 1)...].contains(where: { $0.to == current }) { throw tooNew }
            all.removeSubrange((end + 1)...)
        } else if first == target, all.contains(where: { $0.to == current }) {
            throw tooNew
        } else {
            go(to: target)
        }
        guard let begin = all.firstIndex(where: { $0.from == current }) else {
            throw DescribedError(
                .migrationMissingMappingModel,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "No stage of the migration begins with the store's version of the model, \(current)."
                ])
        }
        return Array(all[begin...])
    }

    private var tooNew: any Error {
        DescribedError(
            CocoaError.Code(rawValue: NSStagedMigrationBackwardMigrationError),
            userInfo: [
                NSLocalizedDescriptionKey: "The store is of a later version of the model than the coordinator's.",
                NSFilePathErrorKey: url.path,
            ])
    }

    // MARK: One step

    private func run(_ step: Step, _ stored: [NSManagedObjectModel]) throws {
        let next = plain(try find(step.to, stored))
        guard let stage = step.stage, stage.willMigrateHandler != nil || stage.didMigrateHandler != nil else {
            return try with(next, migratesFrom: step.from) { _ in }
        }
        try with(plain(try find(step.from, stored))) { store in
            try stage.willMigrateHandler?(manager, stage)
            // From the moment the store has the next model on, whoever opens it knows that the other handler is due.
            if stage.didMigrateHandler != nil { try PendingStage(from: step.from, to: step.to).record(in: store) }
        }
        try with(next, migratesFrom: step.from) { store in
            if stage.didMigrateHandler == nil || isDue(store) { try callSecondHandler(of: stage, store) }
        }
    }

    /// Whether the second handler of the stage that a store is in has not returned yet: another process may have called
    /// it meanwhile. Stores in one file do not say.
    private func isDue(_ store: NSPersistentStore) -> Bool {
        guard let log = store.handle?.log, !(store is NSAtomicStore) else { return true }
        return PendingStage(log) != nil
    }

    private func callSecondHandler(of stage: NSCustomMigrationStage, _ store: NSPersistentStore) throws {
        try stage.didMigrateHandler?(manager, stage)
        try PendingStage.forget(in: store)
    }

    /// Calls the handler of a stage that has led to the store's version, and that was interrupted before its end.
    private func finish(_ pending: PendingStage, _ stored: [NSManagedObjectModel]) throws {
        guard stored.last?.versionChecksum == pending.to else { return }
        let stage = manager.stages.lazy.compactMap { $0 as? NSCustomMigrationStage }.first {
            $0.currentModel.versionChecksum == pending.from && $0.nextModel.versionChecksum == pending.to
        }
        guard let stage else { return }
        try with(plain(try find(pending.to, stored))) { store in
            if isDue(store) { try callSecondHandler(of: stage, store) }
        }
    }

    /// The classes of the program are those of its newest model.
    private func plain(_ model: NSManagedObjectModel) -> NSManagedObjectModel {
        let copy = model.copy() as? NSManagedObjectModel ?? model
        for entity in copy.entities { entity.managedObjectClassName = "NSManagedObject" }
        return copy
    }

    private func find(_ checksum: String, _ stored: [NSManagedObjectModel]) throws -> NSManagedObjectModel {
        if model.versionChecksum == checksum { return model }
        for case let stage as NSCustomMigrationStage in manager.stages {
            for reference in [stage.currentModel, stage.nextModel] where reference.versionChecksum == checksum {
                return try reference.resolve()
            }
        }
        let bundles = [Bundle.main] + Bundle.allBundles
        let own = stored.first { $0.versionChecksum == checksum }
        guard let found = own ?? NSManagedObjectModel.version(withChecksum: checksum, in: bundles) else {
            throw NSManagedObjectModelReference.notFound("There is no model for the checksum \(checksum).")
        }
        return found
    }

    /// Has the store open with a model.
    ///
    /// - Parameter source: the model that it may be migrated from; nil for none.
    private func with(
        _ model: NSManagedObjectModel, migratesFrom source: String? = nil, _ body: (NSPersistentStore) throws -> Void
    ) throws {
        let container = NSPersistentContainer(name: url.lastPathComponent, managedObjectModel: model)
        var options = options
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        options[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: source != nil)
        options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: source != nil)
        if try StoreClasses.customClass(type) == nil { options[MigrationOptions.onlySourceOption] = source }
        let coordinator = container.persistentStoreCoordinator
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: configuration, at: url, options: options)
        manager.container = container
        defer { manager.container = nil }
        do {
            try body(store)
        } catch {
            try? coordinator.remove(store)
            throw error
        }
        try coordinator.remove(store)
    }
}
