import CoreData
import Foundation
import StrataIO
import StrataLog
import SystemPackage
import Testing

/// Stores of earlier builds, whose version hashes say nothing of uniqueness constraints.
@Suite struct EarlierHashTests {
    private typealias G = GraphModel

    private static func people(_ constraints: [[String]]) -> NSManagedObjectModel {
        let person = G.entity("Person")
        let pilot = G.entity("Pilot")
        person.properties = [G.attribute("name", .stringAttributeType), G.attribute("age", .integer16AttributeType)]
        pilot.properties = [G.attribute("licence", .stringAttributeType)]
        person.subentities = [pilot]
        person.uniquenessConstraints = constraints
        return makeModel([person, pilot])
    }

    /// Makes what a store keeps of its model what an earlier build would have written.
    private static func aged(_ model: [UInt8]) throws -> [UInt8] {
        var stored = try #require(try JSONSerialization.jsonObject(with: Data(model)) as? [String: Any])
        let plain = people([]).entityVersionHashesByName
        stored["hashForm"] = nil
        stored["entities"] = (stored["entities"] as? [[String: Any]] ?? []).map { entity in
            var entity = entity
            let name = entity["name"] as? String ?? ""
            if entity["versionHash"] != nil { entity["versionHash"] = plain[name]?.base64EncodedString() }
            return entity
        }
        return Array(try JSONSerialization.data(withJSONObject: stored, options: .sortedKeys))
    }

    private static func age(_ store: MigratedStore) throws {
        guard store.type == NSSQLiteStoreType else {
            let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: store.url), format: nil)
            var file = try #require(list as? [String: Any])
            var metadata = try #require(file["metadata"] as? [String: Any])
            metadata[NSStoreModelVersionHashesKey] = people([]).entityVersionHashesByName
            file["metadata"] = metadata
            file["model"] = nil
            let format: PropertyListSerialization.PropertyListFormat =
                store.type == NSXMLStoreType ? .xml : .binary
            try PropertyListSerialization.data(fromPropertyList: file, format: format, options: 0).write(to: store.url)
            return
        }
        let log = try LogStore.open(FilePath(store.url.path), in: PosixFileSystem(), schema: nil)
        var schema = log.schema
        schema.model = try aged(schema.model)
        schema.isMigration = false
        try log.register(schema)
        try log.close()
    }

    /// Forty people, two of each age.
    ///
    /// - Parameter isMigrated: whether there is one more, of before people had an age.
    private static func filled(
        _ constraints: [[String]], type: String = NSSQLiteStoreType, isMigrated: Bool = false
    ) throws -> (store: MigratedStore, uris: Set<String>) {
        let store = try MigratedStore(type)
        if isMigrated {
            let first = people(constraints)
            first.entitiesByName["Person"]?.properties.removeAll { $0.name == "age" }
            try store.with(first) { context throws in
                _ = context.insert("Pilot", ["name": "older", "licence": "A"])
                try context.save()
            }
        }
        let uris = try store.with(people(constraints)) { context throws in
            for index in 0..<40 {
                _ = context.insert(index % 4 == 0 ? "Pilot" : "Person", ["name": "n\(index)", "age": index / 2])
            }
            try context.save()
            return try Set(context.all("Person").map { $0.uri() })
        }
        try age(store)
        return (store, uris)
    }

    private static func expectUnique(_ context: NSManagedObjectContext, _ uris: Set<String>) throws {
        #expect(try Set(context.all("Person").map { $0.uri() }) == uris)
        _ = context.insert("Pilot", ["name": "n3"])
        #expect(throws: (any Error).self) { try context.save() }
        context.rollback()
    }

    @Test func aStoreOfTheSameModelOpens() throws {
        let (store, uris) = try Self.filled([["name"]])
        let model = Self.people([["name"]])
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: store.url)
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        try store.with(model, [NSReadOnlyPersistentStoreOption: true]) { context throws in
            #expect(try context.all("Person").count == 40)
        }
        for _ in 0..<2 { try store.with(model, [:]) { try Self.expectUnique($0, uris) } }
        // Its hashes say nothing of constraints, so a model without them opens it, too. From then on they say so.
        try store.with(Self.people([]), [:]) { context throws in
            #expect(try Set(context.all("Person").map { $0.uri() }) == uris)
            _ = context.insert("Pilot", ["name": "n3"])
            try context.save()
        }
        #expect(store.failure(model, [:])?.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(store.failure(model)?.code == NSMigrationConstraintViolationError)
    }

    /// It would go on writing without the constraint.
    @Test func aStoreThatAnotherCoordinatorUsesWithoutTheConstraintStaysAsItIs() throws {
        let (store, _) = try Self.filled([])
        let model = Self.people([["name"]])
        try store.with(Self.people([]), [:]) { context throws in
            #expect(store.failure(model, [:])?.code == NSPersistentStoreIncompatibleVersionHashError)
            _ = context.insert("Pilot", ["name": "n40"])
            try context.save()
        }
        try store.with(model, [:]) { context throws in #expect(try context.all("Person").count == 41) }
    }

    /// Earlier builds took a new constraint without looking at what was there.
    @Test(arguments: [false, true])
    func aConstraintThatTheStoreDoesNotKnowIsCheckedInPlace(isMigrated: Bool) throws {
        let (store, uris) = try Self.filled([], isMigrated: isMigrated)
        try store.with(Self.people([["name"]]), [NSReadOnlyPersistentStoreOption: true]) { context throws in
            #expect(try context.all("Person").count == (isMigrated ? 41 : 40))
        }
        for _ in 0..<2 { try store.with(Self.people([["name"]]), [:]) { try Self.expectUnique($0, uris) } }
        let models = try NSManagedObjectModel.models(storedAt: store.url)
        #expect(models.last?.versionChecksum == Self.people([["name"]]).versionChecksum)
        try store.with(Self.people([["name"]]), [:]) { context throws in
            #expect(try context.all("Pilot", "name == 'older'").map { $0.text("licence") } == (isMigrated ? ["A"] : []))
        }
        // From now on its hashes say what is unique.
        #expect(store.failure(Self.people([]), [:])?.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test(arguments: [false, true])
    func objectsThatBreakTheConstraintAreAnErrorAndTheStoreStays(mayMigrate: Bool) throws {
        let (store, uris) = try Self.filled([])
        let failure = try #require(store.failure(Self.people([["age"]]), mayMigrate ? MigratedStore.automatic : [:]))
        #expect(failure.code == NSMigrationConstraintViolationError)
        #expect(failure.text.contains("Person is unique by age"))
        try store.with(Self.people([]), [:]) { context throws in
            #expect(try Set(context.all("Person").map { $0.uri() }) == uris)
        }
    }

    @Test func otherDifferencesAreStillAnotherModel() throws {
        let (store, uris) = try Self.filled([["name"]])
        let newer = Self.people([["name"]])
        newer.entitiesByName["Person"]?.properties.append(G.attribute("code", .stringAttributeType))
        #expect(store.failure(newer, [:])?.code == NSPersistentStoreIncompatibleVersionHashError)
        try store.with(newer) { try Self.expectUnique($0, uris) }
    }

    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType]) func storesInOneFileOpen(type: String) throws {
        let (store, _) = try Self.filled([["name"]], type: type)
        let model = Self.people([["name"]])
        try store.with(model, [:]) { context throws in
            #expect(try context.all("Person").count == 40)
            _ = context.insert("Person", ["name": "new"])
            try context.save()
        }
        try store.with(model, [:]) { context throws in #expect(try context.all("Person").count == 41) }
        #expect(store.failure(Self.people([]), [:])?.code == NSPersistentStoreIncompatibleVersionHashError)
    }
}
