import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// What a store's directory holds, for those who look.
struct DirectoryState: Hashable, CustomStringConvertible {
    /// The text that all rows of the beginning have; nil when there is no store.
    var version: String?
    /// The texts of rows that were added later.
    var added: Set<String> = []

    static let none = DirectoryState()

    var description: String { version.map { "\($0)\(added.sorted())" } ?? "none" }
}

/// The stores of a sweep: `/d/store`, which things are done to, and `/d/source`, of the text "new".
enum DirectoryFixture {
    static let store: FilePath = "/d/store"
    static let source: FilePath = "/d/source"
    /// An older copy of the store, which has its UUID.
    static let backup: FilePath = "/d/backup"
    static let schema = Schema(entities: [
        EntityLayout(id: 1, rootID: 1, name: "E", slots: [SlotLayout(.string)])
    ])

    static func options(_ uuid: UInt64 = 1) -> LogOptions {
        var options = StoreWorkload.options()
        options.newStoreUUID = StoreUUID(high: uuid, low: uuid)
        return options
    }

    static func add(_ text: String, _ count: Int, to log: LogStore) throws {
        let transaction = log.makeTransaction()
        let writer = transaction.writer(for: 1)
        let key = try log.allocateKeys(root: 1, count: count)
        for index in 0..<UInt64(count) {
            writer.beginInsert(key: key + index)
            writer.set(0, text)
            writer.endRow()
        }
        _ = try log.commit(transaction)
    }

    static func make(
        _ text: String, at path: FilePath, _ fileSystem: any FileSystem, uuid: UInt64, adding others: [String] = []
    ) throws {
        let log = try LogStore.open(path, in: fileSystem, options: options(uuid), schema: schema)
        try add(text, 3, to: log)
        for other in others { try add(other, 1, to: log) }
        try log.close()
    }

    static func state(_ log: LogStore) throws -> DirectoryState {
        var texts: [String] = []
        for key in UInt64(1)...20 {
            guard let row = try log.snapshot.row(ObjectRef(entity: 1, key: key)) else { continue }
            texts.append(String(decoding: try row.block.column(0).bytes(row.index), as: UTF8.self))
        }
        guard !texts.isEmpty else { return DirectoryState(version: "empty") }
        let added = Set(texts.filter { $0.hasPrefix("+") })
        let rest = texts.filter { !$0.hasPrefix("+") }
        // A mixture of two stores, or a part of one, has a name that nothing allows.
        let version =
            rest == Array(repeating: rest.first ?? "", count: 3) ? rest[0] : rest.isEmpty ? "empty" : "mixed \(rest)"
        return DirectoryState(version: version, added: added)
    }

    /// Opens the store, also where there is none if asked for; nil when there is none.
    static func open(
        _ fileSystem: any FileSystem, _ access: LogOptions.Access, creates: Bool = false
    ) throws -> LogStore? {
        var options = options(9)
        options.access = access
        options.createsIfMissing = creates
        let opened = Result { [options] in
            try LogStore.open(store, in: fileSystem, options: options, schema: creates ? schema : nil)
        }
        if case .failure(let error) = opened, (error as? StoreError)?.code == .notFound { return nil }
        return try opened.get()
    }

    static func look(_ fileSystem: any FileSystem, _ access: LogOptions.Access) throws -> DirectoryState {
        guard let log = try open(fileSystem, access) else { return .none }
        let state = Result { try Self.state(log) }
        try log.close()
        return try state.get()
    }
}

/// Something that a process does to a store's directory.
struct DirectoryWork: Sendable, CustomTestStringConvertible {
    var name: String
    /// Whether there is a store in the beginning.
    var hasStore = true
    /// Whether two names can be swapped in one step.
    var canExchange = true
    /// Names in the store's directory that are not the store's.
    var foreign: [String] = []
    /// Whether an empty directory is there in the beginning.
    var hasDirectory = false
    /// Whether it leaves the state as it is where it cannot be done at all.
    var isRefused = false
    var run: @Sendable (any FileSystem) throws -> Void
    /// What it makes of a state if it succeeds.
    var effect: @Sendable (DirectoryState) -> DirectoryState

    var testDescription: String { name }

    func fixture() throws -> SimulatedFileSystem {
        typealias Fixture = DirectoryFixture
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory("/d")
        try fileSystem.syncDirectory("/")
        try Fixture.make("new", at: Fixture.source, fileSystem, uuid: 2)
        if hasStore {
            try Fixture.make("old", at: Fixture.store, fileSystem, uuid: 1)
            try StoreDirectory(Fixture.backup, fileSystem).replace(with: Fixture.store)
            let log = try #require(try Fixture.open(fileSystem, .readWrite))
            try Fixture.add("+later", 1, to: log)
            try log.close()
        } else if hasDirectory {
            try fileSystem.createDirectory(Fixture.store)
            try fileSystem.syncDirectory("/d")
        }
        for name in foreign {
            try fileSystem.open(Fixture.store.appending(name), .create).close()
            try fileSystem.syncDirectory(Fixture.store)
        }
        if !canExchange { fileSystem.refuseExchange() }
        return fileSystem.resting()
    }

    var before: DirectoryState { hasStore ? DirectoryState(version: "old", added: ["+later"]) : .none }
    var after: DirectoryState { isRefused ? before : effect(before) }

    // MARK: The kinds

    static let all: [DirectoryWork] = [
        create, createInDirectory, replace, replaceNothing, replaceEmpty, replaceInSteps, restore, migrate,
        migrateInPlace,
        migrateInPlaceInSteps, destroy, destroyBesideForeign, replaceForeign, close,
    ]

    private static func replacing(_ state: DirectoryState) -> DirectoryState { DirectoryState(version: "new") }

    private static let runReplace: @Sendable (any FileSystem) throws -> Void = { fileSystem in
        try StoreDirectory(DirectoryFixture.store, fileSystem).replace(with: DirectoryFixture.source)
    }

    private static let runCreate: @Sendable (any FileSystem) throws -> Void = { fileSystem in
        try DirectoryFixture.open(fileSystem, .readWrite, creates: true)?.close()
    }

    private static func creating(_ state: DirectoryState) -> DirectoryState {
        state == .none ? DirectoryState(version: "empty") : state
    }

    static let create = DirectoryWork(name: "create", hasStore: false, run: runCreate, effect: creating)
    static let createInDirectory = DirectoryWork(
        name: "create in a directory", hasStore: false, hasDirectory: true, run: runCreate, effect: creating)
    static let replace = DirectoryWork(name: "replace", run: runReplace, effect: replacing)
    static let replaceNothing = DirectoryWork(
        name: "replace nothing", hasStore: false, run: runReplace, effect: replacing)
    static let replaceEmpty = DirectoryWork(
        name: "replace an empty directory", hasStore: false, hasDirectory: true, run: runReplace, effect: replacing)
    static let replaceInSteps = DirectoryWork(
        name: "replace in steps", canExchange: false, run: runReplace, effect: replacing)
    static let restore = DirectoryWork(
        name: "restore",
        run: { try StoreDirectory(DirectoryFixture.store, $0).replace(with: DirectoryFixture.backup) },
        effect: { _ in DirectoryState(version: "old") })
    static let migrate = DirectoryWork(
        name: "migrate",
        run: { fileSystem in
            try StoreDirectory(DirectoryFixture.store, fileSystem).replace(mustBeSound: true) { path in
                try DirectoryFixture.make("new", at: path, fileSystem, uuid: 3)
            }
        }, effect: replacing)
    private static let runInPlace: @Sendable (any FileSystem) throws -> Void = { fileSystem in
        guard let log = try DirectoryFixture.open(fileSystem, .readWrite) else {
            throw StoreError(.notFound, "there is no store")
        }
        defer { try? log.close() }
        try StoreDirectory(DirectoryFixture.store, fileSystem).replace(
            isInUse: true, beforeInstalling: { try log.closeKeepingLock() }
        ) { path in
            try DirectoryFixture.make(
                "new", at: path, fileSystem, uuid: 3, adding: DirectoryFixture.state(log).added.sorted())
        }
    }
    /// What was added to the old store is in the new one, whoever added it.
    private static func migrating(_ state: DirectoryState) -> DirectoryState {
        DirectoryState(version: "new", added: state.added)
    }
    static let migrateInPlace = DirectoryWork(name: "migrate in place", run: runInPlace, effect: migrating)
    static let migrateInPlaceInSteps = DirectoryWork(
        name: "migrate in place in steps", canExchange: false, run: runInPlace, effect: migrating)
    static let destroy = DirectoryWork(
        name: "destroy", run: { _ = try StoreDirectory(DirectoryFixture.store, $0).destroy() }, effect: { _ in .none })
    static let destroyBesideForeign = DirectoryWork(
        name: "destroy beside a foreign file", foreign: ["notes.txt"],
        run: { _ = try StoreDirectory(DirectoryFixture.store, $0).destroy() }, effect: { _ in .none })
    static let replaceForeign = DirectoryWork(
        name: "replace beside a foreign file", foreign: ["notes.txt"], isRefused: true, run: runReplace,
        effect: replacing)
    static let close = DirectoryWork(
        name: "open and close",
        run: { fileSystem in
            guard let log = try DirectoryFixture.open(fileSystem, .readWrite) else {
                throw StoreError(.notFound, "there is no store")
            }
            try DirectoryFixture.add("+here", 1, to: log)
            try log.close()
        },
        effect: { $0 == .none ? $0 : DirectoryState(version: $0.version, added: $0.added.union(["+here"])) })
}

extension SimulatedFileSystem {
    /// The same disk, at rest, without what has happened to it before.
    func resting() -> SimulatedFileSystem { fork() }
}
