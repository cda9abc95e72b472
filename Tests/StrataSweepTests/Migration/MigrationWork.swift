import CoreData
import Foundation
import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import Strata

/// A migration of one of the kinds that there are.
struct MigrationWork: Sendable, CustomTestStringConvertible {
    var name: String
    /// The versions that the store may be found in, from the first to the last.
    var models: @Sendable () -> [NSManagedObjectModel]
    /// Where the migrated store is in the end.
    var target = MigrationFixture.store
    /// How the store is opened to be migrated.
    var options: @Sendable (any FileSystem) -> [AnyHashable: Any] = automatic
    /// Makes another store of it.
    var make: (@Sendable (any FileSystem) throws -> Void)?

    var testDescription: String { name }

    func run(_ fileSystem: any FileSystem) throws {
        if let make { return try make(fileSystem) }
        guard let newest = models().last else { return }
        try MigrationFixture.with(newest, options(fileSystem)) { _ in }
    }

    /// Whether the store itself stays as it is.
    var makesAnother: Bool { target != MigrationFixture.store }
    var before: MigratedState {
        makesAnother ? .none : MigratedState(version: 0, people: MigrationFixture.people)
    }
    var after: MigratedState { MigratedState(version: models().count - 1, people: MigrationFixture.people) }
    /// All states that a crash may leave.
    var allowed: Set<MigratedState> {
        if makesAnother { return [before, after] }
        return Set(models().indices.map { MigratedState(version: $0, people: MigrationFixture.people) })
    }

    static let all = [light, copying, staged, mapped]

    @Sendable private static func automatic(_ fileSystem: any FileSystem) -> [AnyHashable: Any] {
        MigratedStore.automatic.merging(MigrationFixture.options(fileSystem)) { $1 }
    }

    static let light = MigrationWork(name: "light", models: { [MigrationFixture.first, MigrationFixture.withCode] })

    static let copying = MigrationWork(
        name: "inferred, by copying", models: { [MigrationFixture.first, MigrationFixture.withTeams] })

    /// A custom stage that copies, with a handler without which names are lost, and one that drops the old names.
    static let staged = MigrationWork(
        name: "staged",
        models: { [MigrationFixture.first, MigrationFixture.withBoth, MigrationFixture.withFirst] },
        options: { fileSystem in
            automatic(fileSystem).merging([NSPersistentStoreStagedMigrationManagerOptionKey: stages()]) { $1 }
        })

    private static func stages() -> NSStagedMigrationManager {
        func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
            NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
        }
        let fill = NSCustomMigrationStage(
            migratingFrom: reference(MigrationFixture.first), to: reference(MigrationFixture.withBoth))
        fill.willMigrateHandler = { _, _ in }
        fill.didMigrateHandler = { manager, _ in
            let context = try #require(manager.container?.newBackgroundContext())
            try context.performAndWait {
                for person in try context.all("Person") { person.setValue(person.text("name"), forKey: "first") }
                try context.save()
            }
        }
        let drop = NSLightweightMigrationStage([
            MigrationFixture.withBoth.versionChecksum, MigrationFixture.withFirst.versionChecksum,
        ])
        return NSStagedMigrationManager([fill, drop])
    }

    /// A mapping of the program's own, with a policy.
    static let mapped = MigrationWork(
        name: "mapping model", models: { [MigrationFixture.withFirst] }, target: MigrationFixture.made,
        make: makeAnother)

    @Sendable private static func makeAnother(_ fileSystem: any FileSystem) throws {
        NSEntityMigrationPolicy.register(RenamingPolicy.self)
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: MigrationFixture.first, destinationModel: MigrationFixture.withFirst)
        for entity in mapping.entityMappings where entity.destinationEntityName == "Person" {
            entity.entityMigrationPolicyClassName = "RenamingPolicy"
        }
        let manager = NSMigrationManager(
            sourceModel: MigrationFixture.first, destinationModel: MigrationFixture.withFirst)
        let options = MigrationFixture.options(fileSystem)
        try manager.migrateStore(
            from: MigrationFixture.url(MigrationFixture.store), sourceType: NSSQLiteStoreType, options: options,
            with: mapping, toDestinationURL: MigrationFixture.url(MigrationFixture.made),
            destinationType: NSSQLiteStoreType, destinationOptions: options)
    }
}

/// Gives a person its name under another key.
final class RenamingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        for object in manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]) {
            object.setValue(source.text("name"), forKey: "first")
        }
    }
}
