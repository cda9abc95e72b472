import CoreData
import Foundation
import Testing

@testable import Strata

@Suite struct StagedMigrationTests {
    private typealias G = GraphModel

    /// Version 1 has a full name, 2 both, 3 its parts, 4 an alias.
    private static func version(_ number: Int) -> NSManagedObjectModel {
        let person = G.entity("Person")
        person.properties = []
        if number <= 2 { person.properties.append(G.attribute("fullName", .stringAttributeType)) }
        if number >= 2 {
            person.properties += [
                G.attribute("first", .stringAttributeType), G.attribute("last", .stringAttributeType),
            ]
        }
        if number >= 4 { person.properties.append(G.attribute("alias", .stringAttributeType, default: "-")) }
        return makeModel([person])
    }

    private static func reference(_ number: Int) -> NSManagedObjectModelReference {
        let model = version(number)
        return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private static func stages(_ calls: @escaping (String) -> Void = { _ in }) -> NSStagedMigrationManager {
        let split = NSCustomMigrationStage(migratingFrom: reference(1), to: reference(2))
        split.label = "split"
        split.willMigrateHandler = { manager, _ in
            calls("will \(manager.container?.managedObjectModel.entitiesByName["Person"]?.attributesByName.count ?? 0)")
        }
        split.didMigrateHandler = { manager, stage in
            calls("did \(stage.label ?? "")")
            let context = try #require(manager.container?.newBackgroundContext())
            try context.performAndWait {
                for person in try context.all("Person") {
                    let parts = (person.text("fullName") ?? "").split(separator: " ").map(String.init)
                    person.setValue(parts.first, forKey: "first")
                    person.setValue(parts.last, forKey: "last")
                }
                try context.save()
            }
        }
        let rest = NSLightweightMigrationStage([version(2).versionChecksum, version(3).versionChecksum])
        return NSStagedMigrationManager([split, rest])
    }

    private static func options(_ manager: NSStagedMigrationManager) -> [AnyHashable: Any] {
        MigratedStore.automatic.merging([NSPersistentStoreStagedMigrationManagerOptionKey: manager]) { $1 }
    }

    private static func filled(_ type: String = NSSQLiteStoreType) throws -> MigratedStore {
        let store = try MigratedStore(type)
        try store.with(version(1)) { context throws in
            for index in 0..<20 { _ = context.insert("Person", ["fullName": "a\(index) b\(index)"]) }
            try context.save()
        }
        return store
    }

    @Test(arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType])
    func eachStageRunsOnceInItsTurn(_ type: String) throws {
        let store = try Self.filled(type)
        var calls: [String] = []
        let split = Self.stages { calls.append($0) }.stages[0]
        let drop = NSCustomMigrationStage(migratingFrom: Self.reference(2), to: Self.reference(3))
        let rest = NSLightweightMigrationStage([Self.version(3).versionChecksum, Self.version(4).versionChecksum])
        let manager = NSStagedMigrationManager([split, drop, rest])
        for _ in 0..<2 {
            try store.with(Self.version(4), Self.options(manager)) { context throws in
                let people = try context.all("Person")
                #expect(people.count == 20)
                for person in people {
                    #expect(person.text("first")?.dropFirst() == person.text("last")?.dropFirst())
                    #expect(person.text("alias") == "-")
                }
            }
        }
        #expect(calls == ["will 1", "did split"])
        #expect(manager.container == nil)
    }

    /// A read-only opening ran the first handler, and ended in what that could not save.
    @Test(arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType])
    func aStoreThatIsOpenedReadOnlyIsNotMigrated(_ type: String) throws {
        let store = try Self.filled(type)
        var calls: [String] = []
        let manager = Self.stages { calls.append($0) }
        let readOnly: [AnyHashable: Any] = Self.options(manager)
            .merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        // Without the automatic option, and with a way that no stage knows, too.
        let plain: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true, NSPersistentStoreStagedMigrationManagerOptionKey: manager,
        ]
        for (model, options) in [(Self.version(3), readOnly), (Self.version(3), plain), (Self.version(4), readOnly)] {
            let failure = store.failure(model, options)
            #expect(failure?.code == NSPersistentStoreIncompatibleVersionHashError)
            #expect(failure?.text.contains("read-only") == true)
        }
        #expect(calls.isEmpty)
        try store.with(Self.version(1), readOnly) { context throws in #expect(try context.all("Person").count == 20) }
        // It was left as it is: it can be migrated.
        try store.with(Self.version(3), Self.options(manager)) { context throws in
            #expect(try context.all("Person").count == 20)
        }
        try store.with(Self.version(3), readOnly) { context throws in #expect(try context.all("Person").count == 20) }
        #expect(calls == ["will 1", "did split"])
    }

    @Test func aModelThatIsNowhereToBeFoundIsAnError() throws {
        let store = try Self.filled()
        let failure = store.failure(Self.version(4), Self.options(Self.stages()))
        #expect(failure?.code == NSManagedObjectModelReferenceNotFoundError)
    }

    /// A model that was changed since its checksum was noted is not the one that the stage begins with.
    @Test func aModelWithAnotherChecksumThanItsReferenceIsAnError() throws {
        let store = try Self.filled()
        let reference = NSManagedObjectModelReference(
            model: Self.version(4), versionChecksum: Self.version(1).versionChecksum)
        let stage = NSCustomMigrationStage(migratingFrom: reference, to: Self.reference(2))
        stage.willMigrateHandler = { _, _ in Issue.record("the stage was begun") }
        let failure = store.failure(Self.version(2), Self.options(NSStagedMigrationManager([stage])))
        #expect(failure?.code == NSManagedObjectModelReferenceNotFoundError)
    }

    /// Another process has taken the store further than the step that is to be made: it is not taken back.
    @Test func aStoreThatHasBeenMigratedFurtherIsNotTakenBack() throws {
        let store = try MigratedStore()
        try store.with(Self.version(3)) { _ in }
        var options = MigratedStore.automatic
        options[MigrationOptions.onlySourceOption] = Self.version(1).versionChecksum
        #expect(store.failure(Self.version(2), options)?.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(store.failure(Self.version(3), [:]) == nil)
    }

    @Test func aStoreOfALaterVersionIsRefused() throws {
        let store = try MigratedStore()
        try store.with(Self.version(3)) { _ in }
        let failure = store.failure(Self.version(1), Self.options(Self.stages()))
        #expect(failure?.code == NSStagedMigrationBackwardMigrationError)
    }

    @Test func aStoreThatNoStageBeginsWithIsRefused() throws {
        let store = try LightMigrationTests.filled(3)
        let failure = store.failure(Self.version(3), Self.options(Self.stages()))
        #expect(failure?.code == NSMigrationMissingMappingModelError)
    }

    @Test func anErrorOfAHandlerEndsTheMigration() throws {
        struct Stop: Error {}
        let store = try Self.filled()
        let stage = NSCustomMigrationStage(migratingFrom: Self.reference(1), to: Self.reference(2))
        stage.willMigrateHandler = { _, _ in throw Stop() }
        #expect(throws: Stop.self) {
            try store.with(Self.version(2), Self.options(NSStagedMigrationManager([stage]))) { _ in }
        }
        try store.with(Self.version(1), [:]) { context throws in #expect(try context.all("Person").count == 20) }
    }

    @Test func aHandlerThatWasInterruptedIsCalledAgain() throws {
        struct Stop: Error {}
        let store = try Self.filled()
        var calls: [String] = []
        let stages = Self.stages { calls.append($0) }
        let fill = try #require(stages.stages.first as? NSCustomMigrationStage)
        let handler = try #require(fill.didMigrateHandler)
        fill.didMigrateHandler = { _, _ in throw Stop() }
        for _ in 0..<2 {
            // The last version of all drops what the handler would read: it must not come to that.
            #expect(throws: Stop.self) { try store.with(Self.version(3), Self.options(stages)) { _ in } }
        }
        fill.didMigrateHandler = handler
        for _ in 0..<2 {
            try store.with(Self.version(3), Self.options(stages)) { context throws in
                #expect(try context.all("Person", "first != nil").count == 20)
            }
        }
        #expect(calls == ["will 1", "did split"])
    }

    /// The stage leads to the coordinator's own model, which nobody would migrate any more.
    @Test func anInterruptedHandlerOfTheLastStageIsCalledAgain() throws {
        struct Stop: Error {}
        let store = try Self.filled()
        let fill = try #require(Self.stages().stages.first as? NSCustomMigrationStage)
        let handler = try #require(fill.didMigrateHandler)
        let manager = NSStagedMigrationManager([fill])
        fill.didMigrateHandler = { _, _ in throw Stop() }
        #expect(throws: Stop.self) { try store.with(Self.version(2), Self.options(manager)) { _ in } }
        fill.didMigrateHandler = handler
        try store.with(Self.version(2), Self.options(manager)) { context throws in
            #expect(try context.all("Person", "first != nil").count == 20)
        }
    }
}
