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
    /// - Throws: `CocoaError` 134504 when the model of a stage is not there, 134506 when the store is of a later version,
    ///   134140 when no stage begins with the store's version; what handlers throw, and what opening a store does. The
    ///   store is of the version that it has come to then.
    func run() throws {
        let metadata: [String: Any]
        do {
            metadata = try NSPersistentStoreCoordinator.readMetadata(type, at: url, options)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return
        }
        guard !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) else { return }
        let stored: [NSManagedObjectModel]
        let version: String?
        if let custom = try StoreClasses.customClass(type) {
            stored = [try AtomicStoreMigration.storedModel(at: url, custom)].compactMap(\.self)
            version = (metadata[NSStoreModelVersionHashesKey] as? [String: Data]).map { ModelTables.checksum(of: $0) }
        } else {
            stored = try StoreOpening.models(at: url)
            version = stored.last?.versionChecksum
        }
        guard let current = version else {
            throw DescribedError(
                .migrationMissingSourceModel,
                userInfo: [NSLocalizedDescriptionKey: "The store does not say what its model is."])
        }
        for step in try steps(from: current) { try run(step, stored) }
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
        if let stage = step.stage, let handler = stage.willMigrateHandler {
            try with(plain(try find(step.from, stored)), migrates: false) { try handler(manager, stage) }
        }
        guard let stage = step.stage, let handler = stage.didMigrateHandler else {
            return try with(next, migrates: true) {}
        }
        try with(next, migrates: true) { try handler(manager, stage) }
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
        let candidates = stored + NSManagedObjectModel.models(in: bundles, allVersions: true)
        guard let found = candidates.first(where: { $0.versionChecksum == checksum }) else {
            throw NSManagedObjectModelReference.notFound("There is no model for the checksum \(checksum).")
        }
        return found
    }

    private func with(_ model: NSManagedObjectModel, migrates: Bool, _ body: () throws -> Void) throws {
        let container = NSPersistentContainer(name: url.lastPathComponent, managedObjectModel: model)
        var options = options
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = nil
        options[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: migrates)
        options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: migrates)
        let coordinator = container.persistentStoreCoordinator
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: configuration, at: url, options: options)
        manager.container = container
        defer { manager.container = nil }
        do {
            try body()
        } catch {
            try? coordinator.remove(store)
            throw error
        }
        try coordinator.remove(store)
    }
}
