import Foundation

/// Migrates a store that is one file when it is opened with another model: its objects go into a new file beside it,
/// which takes its place in one step. Log stores have ways of their own.
struct AtomicStoreMigration {
    let type: NSPersistentStore.Type
    let typeName: String
    let url: URL?
    let configuration: String?
    let options: [AnyHashable: Any]?
    let model: NSManagedObjectModel

    /// Brings the store to the model. A crash leaves the old file or the new one, whole.
    ///
    /// - Parameter metadata: the store's, which say that it has another model.
    /// - Throws: `CocoaError` 134100 when the store may not or cannot be migrated, 134130 when its model is nowhere to
    ///   be found, 134140 when there is no mapping, 134190 when none can be inferred; what the migration throws.
    /// - Complexity: O(n) in the objects, in memory, too: a file is read and written as a whole.
    func run(_ metadata: [String: Any]) throws {
        let migration = MigrationOptions(options)
        let path = url?.path ?? ""
        let source = try sourceModel(metadata)
        func incompatible(_ remedy: String) -> any Error {
            let difference =
                source.map { "\(ModelDifference($0, model))" } ?? "the store does not say what its model is"
            return StoreOpening.incompatible(metadata, path: path, detail: "\(remedy) What differs: \(difference).")
        }
        guard migration.isAutomatic else {
            throw incompatible("Set NSMigratePersistentStoresAutomaticallyOption to have the store migrated.")
        }
        guard let url, url.isFileURL, type is NSAtomicStore.Type, StoreFile.isFile(url) else {
            throw incompatible("Only stores in a file of their own are migrated when they are opened.")
        }
        guard !StoreOptions.flag(options, NSReadOnlyPersistentStoreOption) else {
            throw incompatible("A store that is opened read-only is not migrated.")
        }
        if let uuid = metadata[NSStoreUUIDKey] as? String, !StoreIdentity.named(uuid).stores.isEmpty {
            throw incompatible("Another coordinator of this process uses the store with its own model.")
        }
        guard let source else {
            throw MigrationPath.error(
                .migrationMissingSourceModel,
                "The model that the store was written with is not in the program's bundles.", path)
        }
        let migrationPath = try MigrationPath(from: source, to: model, infers: migration.infers, path: path)
        try StoreFile.replace(url, isOwn: StoreFile.own(type)) { copy in
            // Somebody else may have migrated it before this process came to its turn.
            let now = try type.metadataForPersistentStore(with: url)
            guard now[NSStoreUUIDKey] as? String == metadata[NSStoreUUIDKey] as? String else { return false }
            try migrationPath.copy(
                from: url, to: copy, type: typeName, configuration: configuration(for: migrationPath.match),
                options: migration.storeOptions,
                metadata: metadata, destination: model)
            return true
        }
    }

    /// The configuration of the new store: none where the old one also holds what the configuration leaves out and the
    /// model still has.
    private func configuration(for match: ModelMatch) -> String? {
        let members = model.entities(forConfigurationName: configuration) ?? []
        let isWhole = match.source.entities.compactMap { match.destination(of: $0) }.allSatisfy { entity in
            members.contains { $0.isKindOf(entity: entity) }
        }
        return isWhole ? configuration : nil
    }

    /// The model that the store was written with: its own, or else one of the program's bundles.
    private func sourceModel(_ metadata: [String: Any]) throws -> NSManagedObjectModel? {
        if let url, let stored = try Self.storedModel(at: url, type) { return stored }
        let found = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        return found?.entityVersionHashesByName == hashes ? found : nil
    }

    /// The model that a file of Strata's carries; nil for others.
    static func storedModel(at url: URL, _ type: NSPersistentStore.Type) throws -> NSManagedObjectModel? {
        guard let type = type as? PropertyListStore.Type, let bytes = try type.modelBytes(at: url) else { return nil }
        do {
            return try StoredModel(bytes: bytes).decodedModel
        } catch {
            throw DescribedError(
                .fileReadCorruptFile,
                userInfo: [
                    NSLocalizedDescriptionKey: "The store's model cannot be read: \(error)",
                    NSFilePathErrorKey: url.path,
                ])
        }
    }
}
