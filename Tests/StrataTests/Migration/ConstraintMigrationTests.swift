import CoreData
import Foundation
import Testing

/// Stores that are opened with other uniqueness constraints. They are part of the version hash, as in Core Data.
@Suite struct ConstraintMigrationTests {
    private typealias G = GraphModel

    private static func people(
        _ constraints: [[String]], name: String = "name", with extra: [NSPropertyDescription] = []
    ) -> NSManagedObjectModel {
        let person = G.entity("Person")
        let pilot = G.entity("Pilot")
        let title = G.attribute(name, .stringAttributeType)
        person.properties = [
            name == "name" ? title : title.renamed(from: "name"), G.attribute("age", .integer16AttributeType),
        ]
        person.properties += extra
        person.subentities = [pilot]
        pilot.properties = [G.attribute("licence", .stringAttributeType)]
        person.uniquenessConstraints = constraints
        return makeModel([person, pilot])
    }

    /// Twins by age, all of them with a name of their own but for those without.
    private static func filled(_ extra: [(entity: String, name: String?)] = []) throws -> MigratedStore {
        let store = try MigratedStore()
        try store.with(people([])) { context throws in
            for index in 0..<40 {
                _ = context.insert(index % 4 == 0 ? "Pilot" : "Person", ["name": "n\(index)", "age": index / 2])
            }
            for (entity, name) in extra { _ = context.insert(entity, ["name": name, "age": nil]) }
            try context.save()
        }
        return store
    }

    private static var tracking: [AnyHashable: Any] {
        MigratedStore.automatic.merging([NSPersistentHistoryTrackingKey: true]) { $1 }
    }

    @Test func aConstraintThatHoldsIsAddedWithoutCopyingAnObject() throws {
        let store = try Self.filled([("Person", nil), ("Pilot", nil)])
        let before = try store.with(Self.people([])) { try Set($0.all("Person").map { $0.uri() }) }
        try store.with(Self.people([["name"]]), Self.tracking) { context throws in
            #expect(try Set(context.all("Person").map { $0.uri() }) == before)
            _ = context.insert("Pilot", ["name": "n3"])
            #expect(throws: (any Error).self) { try context.save() }
            context.rollback()
            _ = context.insert("Pilot", ["name": "new"])
            try context.save()
        }
        #expect(try NSManagedObjectModel.models(storedAt: store.url).count == 2)
    }

    @Test(arguments: ["Person", "Pilot"])
    func aConstraintThatObjectsBreakIsAnErrorAndTheStoreStays(entity: String) throws {
        let store = try Self.filled([(entity, "n7")])
        let failure = try #require(store.failure(Self.people([["name"]])))
        #expect(failure.code == NSMigrationConstraintViolationError)
        #expect(failure.text.contains("Person is unique by name"))
        #expect(failure.text.contains("p8"))
        try store.with(Self.people([]), [:]) { context throws in
            let twins = try context.all("Person", "name == 'n7'")
            #expect(twins.count == 2)
            context.delete(try #require(twins.first))
            try context.save()
        }
        try store.with(Self.people([["name"]])) { context throws in #expect(try context.all("Person").count == 40) }
    }

    @Test func theValuesOfAConstraintCountTogether() throws {
        let store = try Self.filled([("Person", "n8"), ("Person", "n8")])
        // Those two have no age: a row with a null is like no other.
        try store.with(Self.people([["name", "age"]])) { context throws in
            #expect(try context.all("Person").count == 42)
        }
        #expect(store.failure(Self.people([["age"], ["name", "age"]]))?.code == NSMigrationConstraintViolationError)
    }

    @Test func aStoreThatMayNotBeMigratedSaysWhichConstraintIsNew() throws {
        let store = try Self.filled()
        let failure = try #require(store.failure(Self.people([["name"]]), [:]))
        #expect(failure.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(failure.text.contains("Person is unique by name"))
        try store.with(Self.people([["name"]])) { _ in }
        let back = try #require(store.failure(Self.people([]), [:]))
        #expect(back.text.contains("Person is no longer unique by name"))
    }

    @Test func aConstraintThatGoesBindsNobody() throws {
        let store = try Self.filled()
        try store.with(Self.people([["name"]])) { _ in }
        let before = try store.with(Self.people([["name"]])) { try Set($0.all("Person").map { $0.uri() }) }
        try store.with(Self.people([])) { context throws in
            #expect(try Set(context.all("Person").map { $0.uri() }) == before)
            _ = context.insert("Person", ["name": "n3"])
            try context.save()
        }
    }

    @Test func aConstraintGoesAlongWithAnotherName() throws {
        let store = try Self.filled()
        try store.with(Self.people([["name"]])) { _ in }
        try store.with(Self.people([["title"]], name: "title")) { context throws in
            _ = context.insert("Person", ["title": "n3"])
            #expect(throws: (any Error).self) { try context.save() }
        }
    }

    @Test func aNewAttributeCanBeUniqueIfItIsNull() throws {
        let store = try Self.filled()
        let code = { G.attribute("code", .stringAttributeType) }
        try store.with(Self.people([["code"]], with: [code()])) { context throws in
            #expect(try context.all("Person").count == 40)
        }
        let equal = G.attribute("kind", .stringAttributeType, default: "all the same")
        let failure = store.failure(Self.people([["code"], ["kind"]], with: [code(), equal]))
        #expect(failure?.code == NSMigrationConstraintViolationError)
    }

    @Test(arguments: [NSBinaryStoreType, NSXMLStoreType])
    func storesInOneFileTakeTheNewModel(type: String) throws {
        let store = try MigratedStore(type)
        try store.with(Self.people([])) { context throws in
            _ = context.insert("Person", ["name": "a"])
            try context.save()
        }
        #expect(store.failure(Self.people([["name"]]), [:])?.code == NSPersistentStoreIncompatibleVersionHashError)
        try store.with(Self.people([["name"]])) { context throws in #expect(try context.all("Person").count == 1) }
        try store.with(Self.people([["name"]]), [:]) { context throws in #expect(try context.all("Person").count == 1) }
    }
}
