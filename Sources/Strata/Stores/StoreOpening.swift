import Foundation
import StrataIO
import StrataLog
import StrataSupport
import SystemPackage

/// Opens the log of a store and checks it against a model.
struct StoreOpening {
    let shapes: ModelShapes
    /// The entities of the configuration, with what they inherit from.
    let served: Set<String>
    let configuration: String?
    let options: LogOptions
    let fileSystem: any FileSystem
    let path: FilePath
    private let isInMemory: Bool
    /// What the URL says, also of a store in memory.
    private let urlPath: String
    private let forcesDestruction: Bool
    private let ignoresVersion: Bool
    private let timeoutSeconds: Double
    let type: String
    private let stopsOnDamage: Bool
    /// What may be done with a store of an older model.
    let migration: MigrationOptions

    init(
        _ shapes: ModelShapes, type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?
    ) throws {
        guard type == NSSQLiteStoreType || type == NSInMemoryStoreType else { throw Self.unknownType(type) }
        self.shapes = shapes
        self.type = type
        self.configuration = configuration
        isInMemory = Self.isInMemory(type, url)
        urlPath = url?.path ?? ""
        let host = StoreHost.of(options)
        if isInMemory {
            fileSystem = MemoryFileSystem()
            path = "/store"
        } else {
            guard let url, url.isFileURL else {
                throw DescribedError(
                    .persistentStoreOpen,
                    userInfo: [NSLocalizedDescriptionKey: "A store needs the URL of a directory to lie in."])
            }
            fileSystem = host.fileSystem
            path = FilePath(url.path)
        }
        served = try Self.entities(shapes, configuration)
        var logOptions = LogOptions()
        logOptions.access = StoreOptions.flag(options, NSReadOnlyPersistentStoreOption) ? .readOnly : .readWrite
        logOptions.cacheMaximumBytes = Self.cacheMaximumBytes
        logOptions.durability = isInMemory ? .os : try StoreOptions.durability(options)
        if isInMemory { logOptions.access = .readWrite }
        host.adjust(&logOptions)
        self.options = logOptions
        forcesDestruction = StoreOptions.flag(options, NSPersistentStoreForceDestroyOption)
        ignoresVersion = StoreOptions.flag(options, NSIgnorePersistentStoreVersioningOption)
        timeoutSeconds = Self.timeout(options)
        stopsOnDamage = StoreOptions.flag(options, StrataStopOnDamageOption)
        migration = MigrationOptions(options)
    }

    /// What decoded blocks may take: four fifths of what the process may keep. It is taken only as far as that much is
    /// read.
    private static var cacheMaximumBytes: Int { MemoryBudget.shared.limitBytes / 5 * 4 }

    static func isInMemory(_ type: String, _ url: URL?) -> Bool {
        type == NSInMemoryStoreType || (type == NSSQLiteStoreType && url?.isNullDevice ?? false)
    }

    static func unknownType(_ type: String) -> any Error {
        DescribedError(
            .persistentStoreInvalidType,
            userInfo: [NSLocalizedDescriptionKey: "There are no stores of the type \(type)."])
    }

    /// The names of the entities of a configuration, with everything they inherit from.
    static func entities(_ shapes: ModelShapes, _ configuration: String?) throws -> Set<String> {
        guard let configuration, configuration != NSManagedObjectModel.defaultConfigurationName else {
            return Set(shapes.byName.keys)
        }
        guard let entities = shapes.model.entities(forConfigurationName: configuration) else {
            throw DescribedError(
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

    /// The entities that a store has a place for when it is opened: those of the configuration, and what it holds
    /// besides and the model still has. A configuration of a part of the model opens a store of the whole.
    ///
    /// - Parameter match: of the stored model; nil where entities still have their names.
    func held(_ stored: StoredModel, _ match: ModelMatch? = nil) -> Set<String> {
        let names = stored.entities.compactMap { $0.versionHash == nil ? nil : $0.name }
        guard let match else { return shapes.lineages(of: names).union(served) }
        let destinations = names.compactMap { name in
            match.source.entitiesByName[name].flatMap { match.destination(of: $0)?.name }
        }
        return shapes.lineages(of: destinations).union(served)
    }

    private var exists: Bool {
        get throws {
            guard let attributes = try fileSystem.attributes(path) else { return false }
            guard attributes.isDirectory else {
                throw ForeignFile.error(path.string)
            }
            return try !fileSystem.list(path).isEmpty
        }
    }

    // MARK: Opening

    func open() throws -> StoreHandle {
        let handle = try Self.waiting(timeoutSeconds, path.string) { try openOnce() }
        if !isInMemory, options.access == .readWrite { SQLiteSideFiles.make(beside: path, fileSystem) }
        return handle
    }

    /// Tries again as long as another process has the store and time is left; turns the engine's errors into Core
    /// Data's.
    private static func waiting<R>(_ seconds: Double, _ path: String, _ body: () throws -> R) throws -> R {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while true {
            do {
                return try body()
            } catch let error as StoreError where error.code == .locked && seconds > 0 {
                guard Date() < deadline else { throw StoreFailure.timeout(error, path) }
                Thread.sleep(forTimeInterval: 0.02)
            } catch let error as StoreError {
                throw StoreFailure.opening(error, path)
            } catch let error as Errno {
                throw StoreFailure.opening(StoreError(.io, "the store cannot be used", errno: error), path)
            }
        }
    }

    static func timeout(_ options: [AnyHashable: Any]?) -> Double {
        (options?[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 0
    }

    private func openOnce() throws -> StoreHandle {
        if isInMemory {
            let stored = try StoredModel(shapes, holding: served, previous: nil)
            return handle(
                try LogStore.open(path, in: fileSystem, options: options, schema: try stored.schema(shapes)), stored)
        }
        guard try exists else {
            let stored = try StoredModel(shapes, holding: served, previous: nil)
            return handle(try openLog(try stored.schema(shapes)), stored)
        }
        let log = try openLog(nil)
        do {
            guard !log.schema.model.isEmpty else {
                // Made, but never given a model.
                try SharedLogs.close(log)
                let stored = try StoredModel(shapes, holding: served, previous: nil)
                return handle(try openLog(try stored.schema(shapes)), stored)
            }
            let stored = try Self.storedModel(log)
            if try isReadable(stored) {
                keepEndsOfLinks(stored, log)
                return handle(log, stored)
            }
            if let known = try withConstraints(stored, log) { return handle(log, known) }
            let plan = try migrationPlan(stored, log)
            var isLight = false
            defer { SharedLogs.endReservation(log, plan.reservation) }
            let migrated = try EventHub.telling(.migration, of: [.at(path.string)]) { work in
                isLight || work.error != nil ? .migration(work) : nil
            } _: {
                let migrated = try migrateLightly(log, plan)
                isLight = migrated != nil
                return migrated
            }
            if let migrated { return handle(log, migrated) }
            // Closes the log when the new store is complete.
            try EventHub.telling(.migration, of: [.at(path.string)], as: { .migration($0) }) {
                try migrateByCopying(log, plan)
            }
        } catch {
            try SharedLogs.close(log)
            throw error
        }
        return try openOnce()
    }

    static func storedModel(_ log: LogStore) throws(StoreError) -> StoredModel {
        do {
            return try StoredModel(bytes: log.schema.model)
        } catch {
            throw StoreError(.unsupportedFormat, "the store's model cannot be read: \(error)")
        }
    }

    private func openLog(_ schema: Schema?) throws -> LogStore {
        let isWriter = options.access == .readWrite
        let log = try SharedLogs.open(path, in: fileSystem, isWriter: isWriter, reservation: migration.reservation) {
            var options = options
            if options.access == .readOnly { options.createsIfMissing = false }
            return try LogStore.open(path, in: fileSystem, options: options, schema: schema)
        }
        do {
            try StoreMetadata.check(log.metadata)
            try StoreLineage.ensureOwnIdentity(log, at: path, in: fileSystem)
        } catch {
            try? SharedLogs.close(log)
            throw error
        }
        return log
    }

    private func handle(_ log: LogStore, _ stored: StoredModel) -> StoreHandle {
        StoreHandle(
            log: log, map: StoreMap(shapes, stored, serving: served), shapes: shapes,
            isReadOnly: options.access == .readOnly, path: path.string, stopsOnDamage: stopsOnDamage)
    }

    /// Whether the store's rows have the shape that the model gives them.
    private func isReadable(_ stored: StoredModel) throws -> Bool {
        let wanted = try StoredModel(shapes, holding: held(stored), previous: stored)
        let hashes = stored.versionHashes
        let differing = wanted.versionHashes.filter { hashes[$0.key] != $0.value }.keys.sorted()
        let missing = hashes.keys.filter { wanted.versionHashes[$0] == nil }.sorted()
        let isSameShape = wanted.entities.allSatisfy { entity in stored.entity(entity.name)?.slots == entity.slots }
        return isSameShape && (differing.isEmpty && missing.isEmpty || ignoresVersion)
    }

    /// Error 134100 as Core Data fills it.
    static func incompatible(_ metadata: [String: Any], path: String, detail: String = "") -> any Error {
        let reason = "The model used to open the store is incompatible with the one used to create the store"
        return DescribedError(
            .persistentStoreIncompatibleVersionHash,
            userInfo: [
                NSLocalizedDescriptionKey: "\(reason). \(detail)", "reason": reason, "metadata": metadata,
                NSFilePathErrorKey: path,
            ])
    }

    // MARK: Without adding

    /// Removes the store's files; an empty directory stays, as an empty file does in Core Data, and so do the files
    /// that SQLite would have beside it. Where there is no store, these are made: programs remove what is left without
    /// asking whether it is there.
    ///
    /// - Parameter release: takes the store, whose log it is given, from the coordinators of this process.
    func destroy(release: (LogStore?) throws -> Void) throws {
        if isInMemory {
            guard type == NSInMemoryStoreType else { throw Self.nothingToDestroy(urlPath) }
            return
        }
        let foreign = try Self.waiting(timeoutSeconds, path.string) {
            if try fileSystem.attributes(path) == nil, try fileSystem.attributes(path.removingLastComponent()) == nil {
                throw Self.nothingToDestroy(path.string)
            }
            try release(try logToBeReleased)
            let foreign = try StoreDirectory(path, fileSystem).destroy(ignoringDamage: forcesDestruction)
            try makeWhatIsLeft()
            return foreign
        }
        guard foreign.isEmpty else { throw Self.foreignFiles(foreign, path.string) }
    }

    /// Makes what a destroyed store leaves, as far as it is not there.
    private func makeWhatIsLeft() throws {
        guard try fileSystem.attributes(path) == nil else { return }
        do {
            try fileSystem.createDirectory(path)
        } catch Errno.fileExists {
            // A link that leads nowhere, or somebody else was faster: there is something to be removed.
            return
        }
        SQLiteSideFiles.make(beside: path, fileSystem)
    }

    /// Where no store of this type can be.
    private static func nothingToDestroy(_ path: String) -> any Error {
        DescribedError(
            .fileNoSuchFile,
            userInfo: [
                NSLocalizedDescriptionKey: "There is no store at \(path), and none can be there.",
                NSFilePathErrorKey: path,
            ])
    }

    /// The store is gone, and what was in its directory beside it is not.
    private static func foreignFiles(_ names: [String], _ path: String) -> any Error {
        let list = names.prefix(10).joined(separator: ", ") + (names.count > 10 ? " and \(names.count - 10) more" : "")
        return DescribedError(
            .persistentStoreOperation,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "The store was destroyed. Its directory also holds files that are not the store's, which were left "
                    + "there: \(list).",
                NSFilePathErrorKey: path,
            ])
    }

    /// The log of the store at the path if this process has it open for writing.
    ///
    /// - Throws: `StoreError` `.locked` while a migration has it.
    private var logToBeReleased: LogStore? {
        get throws {
            guard !SharedLogs.isReserved(path, in: fileSystem) else {
                throw StoreError(
                    .locked, "the store is being migrated by another coordinator of this process", path: path.string)
            }
            return SharedLogs.existing(path, in: fileSystem)
        }
    }

    /// Puts a copy of the store at another path in this one's place.
    ///
    /// - Parameter release: called when the copy is complete; takes the store that is replaced, whose log it is given,
    ///   from the coordinators of this process.
    func replace(with source: URL, release: (LogStore?) throws -> Void) throws {
        guard !isInMemory else { throw Self.unknownType(type) }
        guard source.isFileURL else {
            throw DescribedError(.fileReadUnsupportedScheme, userInfo: [NSFilePathErrorKey: source.absoluteString])
        }
        try Self.waiting(timeoutSeconds, path.string) {
            let sourcePath = FilePath(source.path)
            // What has been saved but not flushed yet is to be in the copy, too.
            try SharedLogs.existing(sourcePath, in: fileSystem)?.sync()
            let log = try logToBeReleased
            try StoreDirectory(path, fileSystem).replace(
                with: sourcePath, isInUse: log != nil,
                beforeInstalling: {
                    try release(log)
                    return nil
                },
                finishing: { log, path in
                    // As in Core Data the copy goes by the UUID of its source.
                    try StoreLineage.ensureOwnIdentity(log, at: path, in: fileSystem, keepsUUID: true)
                })
        }
        SQLiteSideFiles.make(beside: path, fileSystem)
    }

    static func metadata(at url: URL, type: String, options: [AnyHashable: Any]? = nil) throws -> [String: Any] {
        try withExisting(url, readOnly: true, options) { log in
            try StoreMetadata.check(log.metadata)
            return StoreMetadata.read(log, type: type)
        }
    }

    /// The model that a store on disk was written with: the entities that the store holds.
    static func model(at url: URL) throws -> NSManagedObjectModel {
        try withExisting(url, readOnly: true, nil) { log in
            guard let model = try storedModel(log).decodedModel else {
                throw DescribedError(
                    .persistentStoreOpen,
                    userInfo: [
                        NSLocalizedDescriptionKey: "The store does not say what its model is.",
                        NSFilePathErrorKey: url.path,
                    ])
            }
            return model
        }
    }

    /// Every model that the rows of a store on disk were written with, oldest first: as far as they have an encoding.
    static func models(at url: URL, options: [AnyHashable: Any]? = nil) throws -> [NSManagedObjectModel] {
        try withExisting(url, readOnly: true, options) { log in
            try log.schemas.compactMap { try StoredModel(bytes: $0.schema.model).decodedModel }
        }
    }

    static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]? = nil) throws {
        try withExisting(url, readOnly: false, options) { try StoreMetadata.write(metadata ?? [:], to: $0) }
    }

    /// Opens a store that exists without asking which model it has.
    static func withExisting<R>(
        _ url: URL, readOnly: Bool, _ options: [AnyHashable: Any]?, _ body: (LogStore) throws -> R
    ) throws -> R {
        let path = FilePath(url.path)
        let host = StoreHost.of(options)
        let fileSystem = host.fileSystem
        return try waiting(timeout(options), url.path) {
            if let attributes = try fileSystem.attributes(path), !attributes.isDirectory {
                throw ForeignFile.error(path.string)
            }
            let log = try SharedLogs.open(path, in: fileSystem, isWriter: !readOnly) {
                var options = LogOptions()
                options.access = readOnly ? .readOnly : .readWrite
                options.createsIfMissing = false
                host.adjust(&options)
                return try LogStore.open(path, in: fileSystem, options: options, schema: nil)
            }
            let result = Result {
                if !readOnly { try StoreLineage.ensureOwnIdentity(log, at: path, in: fileSystem) }
                return try body(log)
            }
            try SharedLogs.close(log)
            return try result.get()
        }
    }
}
