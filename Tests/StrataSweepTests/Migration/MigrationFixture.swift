import CoreData
import Foundation
import StrataIO
import StrataLog
import StrataTestKit
import SystemPackage

@testable import Strata

/// What a store holds, for those who look.
struct MigratedState: Hashable, CustomStringConvertible {
    /// The number of the model that it has, from 0; nil where there is no store.
    var version: Int?
    /// A text for each person, the same in all versions.
    var people: [String] = []

    static let none = MigratedState()

    var description: String { version.map { "version \($0) of \(people)" } ?? "none" }
}

/// The models, and the stores of a sweep: `/d/store`, which is migrated, and `/d/new`, which a manager makes of it.
enum MigrationFixture {
    private typealias G = GraphModel

    static let directory: FilePath = "/d"
    static let store: FilePath = "/d/store"
    static let made: FilePath = "/d/new"
    /// A file that is nobody's business.
    static let foreign: FilePath = "/d/store.strata-notes"

    /// Persons have a team and a name, which may be in "name" or in "first".
    private static func model(names: [String], toMany: Bool = false, code: Bool = false) -> NSManagedObjectModel {
        let person = G.entity("Person")
        let team = G.entity("Team")
        let teamOf = G.relationship("team", to: team, toMany: toMany)
        let people = G.relationship("people", to: person, toMany: true)
        G.link(teamOf, people)
        person.properties = names.map { G.attribute($0, .stringAttributeType) } + [teamOf]
        if code { person.properties.append(G.attribute("code", .stringAttributeType, default: "c")) }
        team.properties = [G.attribute("title", .stringAttributeType), people]
        return makeModel([person, team])
    }

    static let first = model(names: ["name"])
    /// Rows stay.
    static let withCode = model(names: ["name"], code: true)
    /// Objects are copied.
    static let withTeams = model(names: ["name"], toMany: true)
    /// Objects are copied, and a handler fills the new attribute.
    static let withBoth = model(names: ["name", "first"], toMany: true)
    static let withFirst = model(names: ["first"], toMany: true)

    /// Small files, so that a disk is quickly crashed.
    static func options(_ fileSystem: any FileSystem) -> [AnyHashable: Any] {
        let host = StoreHost(fileSystem: fileSystem) { options in
            options.segmentMaximumBytes = 64 << 10
            options.preallocationMinimumBytes = 4096
            options.cacheMaximumBytes = 1 << 20
            options.checkpointsInBackground = false
            options.compaction.isAutomatic = false
        }
        return [StoreHost.option: host]
    }

    static func url(_ path: FilePath) -> URL { URL(fileURLWithPath: path.string, isDirectory: true) }

    /// Opens a store, hands a context out, and closes the store.
    static func with<R>(
        _ model: NSManagedObjectModel, at path: FilePath = store, _ options: [AnyHashable: Any],
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let opened = try OpenedStore(model, at: path, options)
        let result = Result { try opened.perform(body) }
        try opened.close()
        return try result.get()
    }

    /// A store that stays open.
    final class OpenedStore {
        private let coordinator: NSPersistentStoreCoordinator
        private let store: NSPersistentStore
        private let context = NSManagedObjectContext(.privateQueue)

        init(_ model: NSManagedObjectModel, at path: FilePath, _ options: [AnyHashable: Any]) throws {
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url(path), options: options)
            context.persistentStoreCoordinator = coordinator
        }

        func perform<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
            try context.performAndWait { Result { try body(context) } }.get()
        }

        func close() throws {
            context.performAndWait { context.reset() }
            try coordinator.remove(store)
        }
    }

    /// A disk with a store of the first version.
    static func disk() throws -> SimulatedFileSystem {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory(directory)
        try fileSystem.syncDirectory("/")
        try fileSystem.open(foreign, .create).close()
        try fileSystem.syncDirectory(directory)
        try with(first, options(fileSystem)) { context throws in
            let teams = (0..<2).map { context.insert("Team", ["title": "t\($0)"]) }
            for index in 0..<5 { _ = context.insert("Person", ["name": "p\(index)", "team": teams[index % 2]]) }
            try context.save()
        }
        return fileSystem.fork()
    }

    static let people = (0..<5).map { "p\($0)@t\($0 % 2)" }

    static func add(_ name: String, to context: NSManagedObjectContext) throws {
        let person = context.insert("Person", [:])
        for key in ["name", "first"] where person.entity.attributesByName[key] != nil {
            person.setValue(name, forKey: key)
        }
        try context.save()
    }

    private static func people(_ context: NSManagedObjectContext) throws -> [String] {
        try context.all("Person").map { person in
            let names = ["first", "name"].filter { person.entity.attributesByName[$0] != nil }
            let name = names.compactMap { person.text($0) }.first
            let team = person.value(forKey: "team")
            let teams = (team as? Set<NSManagedObject>).map(Array.init) ?? [team as? NSManagedObject].compactMap { $0 }
            // Default values are there, too.
            if person.entity.attributesByName["code"] != nil, person.text("code") != "c" { return "no code" }
            return "\(name ?? "nobody")@\(teams.compactMap { $0.text("title") }.sorted().joined(separator: "+"))"
        }.sorted()
    }

    /// - Parameter models: those that the store may have.
    static func look(
        _ fileSystem: any FileSystem, at path: FilePath, _ models: [NSManagedObjectModel], readOnly: Bool
    ) throws -> MigratedState {
        var options = options(fileSystem)
        options[NSReadOnlyPersistentStoreOption] = readOnly
        let metadata: [String: Any]
        // A writer keeps what was written and never acknowledged, such as a newer model; readers do not show it.
        if !readOnly, try fileSystem.attributes(path) != nil {
            try StoreOpening.withExisting(url(path), readOnly: false, options) { _ in }
        }
        do {
            metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: url(path), options: options)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return .none
        }
        let version = models.firstIndex {
            $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        guard let version else { throw CocoaError(.persistentStoreIncompatibleVersionHash) }
        let people = try with(models[version], at: path, options, people)
        return MigratedState(version: version, people: people)
    }
}
