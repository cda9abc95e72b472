import Foundation
import StrataIO
import StrataLog
import SystemPackage

/// Opens the log of a store and checks it against a model.
struct StoreOpening {
    private let shapes: ModelShapes
    private let held: Set<String>
    private let options: LogOptions
    private let fileSystem: any FileSystem
    private let path: FilePath
    private let isInMemory: Bool
    private let forcesDestruction: Bool
    private let ignoresVersion: Bool

    init(
        _ shapes: ModelShapes, type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?
    ) throws {
        guard type == NSSQLiteStoreType || type == NSInMemoryStoreType else {
            throw CocoaError(
                .persistentStoreInvalidType,
                userInfo: [NSLocalizedDescriptionKey: "There are no stores of the type \(type)."])
        }
        self.shapes = shapes
        isInMemory = type == NSInMemoryStoreType || url?.path == "/dev/null"
        if isInMemory {
            fileSystem = MemoryFileSystem()
            path = "/store"
        } else {
            guard let url, url.isFileURL else {
                throw CocoaError(
                    .persistentStoreOpen,
                    userInfo: [NSLocalizedDescriptionKey: "A store needs the URL of a directory to lie in."])
            }
            fileSystem = PosixFileSystem()
            path = FilePath(url.path)
        }
        held = try Self.entities(shapes, configuration)
        var logOptions = LogOptions()
        logOptions.access = StoreOptions.flag(options, NSReadOnlyPersistentStoreOption) ? .readOnly : .readWrite
        logOptions.durability = isInMemory ? .os : try StoreOptions.durability(options)
        self.options = logOptions
        forcesDestruction = StoreOptions.flag(options, NSPersistentStoreForceDestroyOption)
        ignoresVersion = StoreOptions.flag(options, NSIgnorePersistentStoreVersioningOption)
    }

    /// The names of the entities of a configuration, with everything they inherit from.
    private static func entities(_ shapes: ModelShapes, _ configuration: String?) throws -> Set<String> {
        guard let configuration, configuration != "PF_DEFAULT_CONFIGURATION_NAME" else {
            return Set(shapes.byName.keys)
        }
        guard let entities = shapes.model.entities(forConfigurationName: configuration) else {
            throw CocoaError(
                .persistentStoreOpen,
                userInfo: [NSLocalizedDescriptionKey: "The model has no configuration named \(configuration)."])
        }
        var names: Set<String> = []
        for entity in entities {
            guard let name = entity.name, let shape = shapes.byName[name] else { continue }
            names.formUnion(shape.lineage.map(\.name))
        }
        return names
    }

    private var exists: Bool {
        get throws(Errno) {
            guard try fileSystem.attributes(path) != nil else { return false }
            return try !fileSystem.list(path).isEmpty
        }
    }

    func open() throws -> StoreHandle {
        do {
            var log: LogStore
            var stored: StoredModel
            if !isInMemory, try exists {
                log = try LogStore.open(path, in: fileSystem, options: options, schema: nil)
                if log.schema.model.isEmpty {
                    try log.close()
                    stored = try StoredModel(shapes, holding: held, previous: nil)
                    log = try LogStore.open(path, in: fileSystem, options: options, schema: stored.schema(shapes))
                } else {
                    stored = try StoredModel(bytes: log.schema.model)
                    do {
                        try check(stored)
                    } catch {
                        try log.close()
                        throw error
                    }
                }
            } else {
                stored = try StoredModel(shapes, holding: held, previous: nil)
                log = try LogStore.open(path, in: fileSystem, options: options, schema: stored.schema(shapes))
            }
            return StoreHandle(
                log: log, map: StoreMap(shapes, stored), shapes: shapes, isReadOnly: options.access == .readOnly,
                path: path.string)
        } catch let error as StoreError {
            throw StoreFailure.opening(error, path.string)
        } catch let error as Errno {
            throw StoreFailure.opening(StoreError(.io, "The store cannot be looked at", errno: error), path.string)
        }
    }

    /// The store's rows must have the shape that the model gives them.
    private func check(_ stored: StoredModel) throws {
        let wanted = try StoredModel(shapes, holding: held, previous: stored)
        let hashes = stored.versionHashes
        let differing = wanted.versionHashes.filter { hashes[$0.key] != $0.value }.keys.sorted()
        let missing = hashes.keys.filter { wanted.versionHashes[$0] == nil }.sorted()
        let isSameShape = wanted.entities.allSatisfy { entity in stored.entity(entity.name)?.slots == entity.slots }
        if differing.isEmpty && missing.isEmpty && isSameShape { return }
        if ignoresVersion && isSameShape { return }
        throw CocoaError(
            .persistentStoreIncompatibleVersionHash,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The store was written with another model. Entities that differ: \(differing + missing).",
                NSFilePathErrorKey: path.string,
            ])
    }

    func destroy() throws {
        guard !isInMemory else { return }
        do {
            guard try exists else {
                if try fileSystem.attributes(path)?.isDirectory == true { try fileSystem.removeDirectory(path) }
                return
            }
            do {
                // Opening shows that it is a store and that nobody else has it.
                var options = options
                options.createsIfMissing = false
                try LogStore.open(path, in: fileSystem, options: options, schema: nil).close()
            } catch {
                guard error.code == .corruption, forcesDestruction else {
                    throw StoreFailure.opening(error, path.string)
                }
            }
            try FileManager.default.removeItem(atPath: path.string)
        } catch let error as Errno {
            throw StoreFailure.opening(StoreError(.io, "The store cannot be looked at", errno: error), path.string)
        }
    }

    /// Opens a store that exists without asking which model it has.
    static func openExisting(_ url: URL, readOnly: Bool) throws -> LogStore {
        var options = LogOptions()
        options.access = readOnly ? .readOnly : .readWrite
        options.createsIfMissing = false
        do {
            return try LogStore.open(FilePath(url.path), in: PosixFileSystem(), options: options, schema: nil)
        } catch {
            throw StoreFailure.opening(error, url.path)
        }
    }
}
