import CoreData
import Foundation
import Testing

/// Stores that are opened with a newer model, and migrated without a row being written.
@Suite struct LightMigrationTests {
    private typealias G = GraphModel

    static func people(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
        let person = G.entity("Person")
        person.properties = [
            G.attribute("name", .stringAttributeType), G.attribute("age", .integer16AttributeType),
            G.attribute("score", .doubleAttributeType),
        ]
        change(person)
        return makeModel([person])
    }

    static func filled(_ count: Int = 200) throws -> MigratedStore {
        let store = try MigratedStore()
        try store.with(people()) { context throws in
            for index in 0..<count {
                _ = context.insert(
                    "Person", ["name": "n\(index)", "age": index % 7 == 0 ? nil : index, "score": Double(index) / 2])
            }
            try context.save()
        }
        return store
    }

    @Test func attributesComeGoAndGetOtherNames() throws {
        let store = try Self.filled()
        let before = try store.with(Self.people()) { try $0.all("Person", sortedBy: "score").map { $0.uri() } }
        let newer = Self.people { person in
            person.properties = [
                G.attribute("title", .stringAttributeType).renamed(from: "name"),
                G.attribute("age", .integer16AttributeType),
                G.attribute("alias", .stringAttributeType, default: "none"),
                G.attribute("born", .dateAttributeType),
                G.attribute("level", .integer32AttributeType, optional: false, default: 3),
            ]
        }
        try store.with(newer) { context throws in
            let all = try context.all("Person")
            #expect(Set(all.map { $0.uri() }) == Set(before))
            for object in all {
                let index = try #require(Int(object.text("title")?.dropFirst() ?? ""))
                #expect(object.value(forKey: "age") as? Int16 == (index % 7 == 0 ? nil : Int16(index)))
                #expect(object.text("alias") == "none")
                #expect(object.value(forKey: "born") == nil)
                #expect(object.value(forKey: "level") as? Int32 == 3)
            }
            #expect(try context.all("Person", "alias == 'none' AND level == 3").count == 200)
            #expect(try context.all("Person", "alias == nil").isEmpty)
            #expect(try context.all("Person", "born != nil").isEmpty)
            #expect(try context.all("Person", "title BEGINSWITH 'n19' AND age > 190").count == 8)
            try #require(context.all("Person", "title == 'n5'").first).setValue("five", forKey: "alias")
            _ = context.insert("Person", ["title": "late"])
            try context.save()
        }
        try store.with(newer) { context throws in
            #expect(try context.all("Person", "alias == 'five'").map { $0.text("title") } == ["n5"])
            #expect(try context.all("Person").count == 201)
        }
    }

    @Test func olderModelsAreInTheStore() throws {
        let store = try Self.filled(3)
        let newer = Self.people { $0.properties.append(G.attribute("extra", .booleanAttributeType, default: true)) }
        try store.with(newer) { _ in }
        let models = try NSManagedObjectModel.models(storedAt: store.url)
        #expect(models.map(\.versionChecksum) == [Self.people().versionChecksum, newer.versionChecksum])
    }

    @Test func nullsOfAMandatoryAttributeBecomeItsDefault() throws {
        let store = try Self.filled()
        let newer = Self.people { person in
            person.properties[1] = G.attribute("age", .integer16AttributeType, optional: false, default: 99)
        }
        try store.with(newer) { context throws in
            #expect(try context.all("Person", "age == 99").count == 30)
            #expect(try context.all("Person", "age == nil").isEmpty)
        }
    }

    @Test func aMandatoryAttributeWithoutValuesIsRefusedAndTheStoreStays() throws {
        let store = try Self.filled(20)
        let missing = Self.people { $0.properties.append(G.attribute("code", .stringAttributeType, optional: false)) }
        #expect(store.failure(missing)?.code == NSMigrationError)
        let nulls = Self.people { $0.properties[1] = G.attribute("age", .integer16AttributeType, optional: false) }
        #expect(store.failure(nulls)?.code == NSMigrationError)
        let whole = Self.people { $0.properties[0] = G.attribute("name", .stringAttributeType, optional: false) }
        #expect(store.failure(whole) == nil)
        let back = try #require(store.failure(Self.people(), [:]))
        #expect(back.code == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test func whatMayNotOrCannotBeMigratedSaysWhy() throws {
        let store = try Self.filled(5)
        let added = Self.people { $0.properties.append(G.attribute("code", .stringAttributeType)) }
        let refused = try #require(store.failure(added, [:]))
        #expect(refused.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(refused.text.contains("Person.code is new"))
        let readOnly = MigratedStore.automatic.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        #expect(store.failure(added, readOnly)?.code == NSPersistentStoreIncompatibleVersionHashError)
        let withoutMapping = store.failure(added, [NSMigratePersistentStoresAutomaticallyOption: true])
        #expect(withoutMapping?.code == NSMigrationMissingMappingModelError)
        let other = Self.people { $0.properties[1] = G.attribute("age", .stringAttributeType) }
        let inferred = try #require(store.failure(other))
        #expect(inferred.code == NSMigrationMissingMappingModelError)
        #expect(inferred.text.contains("Person.age has another type (Integer 16 before, String now)"))
        #expect(store.failure(Self.people(), [:]) == nil)
    }

    @Test(arguments: [
        (NSAttributeType.integer64AttributeType, 18), (.integer32AttributeType, 18), (.doubleAttributeType, 18),
        (.floatAttributeType, 18), (.decimalAttributeType, 18), (.booleanAttributeType, 1),
    ])
    func aNumberMayBecomeOneOfAnotherType(_ type: NSAttributeType, _ expected: Int) throws {
        let store = try MigratedStore()
        try store.with(Self.people()) { context throws in
            _ = context.insert("Person", ["name": "a", "age": 18])
            _ = context.insert("Person", ["name": "b", "age": nil])
            try context.save()
        }
        try store.with(Self.people { $0.properties[1] = G.attribute("age", type) }) { context throws in
            let people = try context.all("Person", sortedBy: "name")
            #expect((people[0].value(forKey: "age") as? NSNumber)?.intValue == expected)
            #expect(people[1].value(forKey: "age") == nil)
        }
    }

    @Test func aNumberThatTheNewTypeHasNoRoomForIsRefusedAndTheStoreStays() throws {
        let wide = Self.people { $0.properties[1] = G.attribute("age", .integer64AttributeType) }
        let store = try MigratedStore()
        try store.with(wide) { context throws in
            _ = context.insert("Person", ["age": 70_000])
            try context.save()
        }
        #expect(store.failure(Self.people())?.code == NSValidationNumberTooLargeError)
        try store.with(wide) { context throws in
            #expect(try context.all("Person").first?.value(forKey: "age") as? Int == 70_000)
        }
    }

    @Test func anotherCoordinatorsModelIsNotTakenAwayFromIt() throws {
        let store = try Self.filled(5)
        let newer = Self.people { $0.properties.append(G.attribute("code", .stringAttributeType)) }
        try store.with(Self.people()) { _ in
            #expect(store.failure(newer)?.code == NSPersistentStoreIncompatibleVersionHashError)
        }
        #expect(store.failure(newer) == nil)
    }

    @Test func entitiesComeAndGo() throws {
        let store = try MigratedStore()
        let first = makeModel([G.entity("A"), G.entity("B")])
        for entity in first.entities { entity.properties = [G.attribute("name", .stringAttributeType)] }
        try store.with(first) { context throws in
            for index in 0..<50 { _ = context.insert(index % 2 == 0 ? "A" : "B", ["name": "\(index)"]) }
            try context.save()
        }
        let second = makeModel([G.entity("A"), G.entity("C")])
        for entity in second.entities { entity.properties = [G.attribute("name", .stringAttributeType)] }
        try store.with(second) { context throws in
            #expect(try context.all("A").count == 25)
            #expect(try context.all("C").isEmpty)
            _ = context.insert("C", ["name": "c"])
            try context.save()
        }
        // What comes back is new, whatever its name.
        try store.with(makeModel(first.entities.map { $0.copy() as! NSEntityDescription })) { context throws in
            #expect(try context.all("B").isEmpty)
            #expect(try context.all("A").count == 25)
            _ = context.insert("B", ["name": "b"])
            try context.save()
            #expect(try context.all("B").count == 1)
        }
    }

    @Test func newDerivedAttributesHaveTheirValues() throws {
        let store = try Self.filled(30)
        let newer = Self.people { person in
            let derived = NSDerivedAttributeDescription()
            derived.name = "loud"
            derived.attributeType = .stringAttributeType
            derived.derivationExpression = NSExpression(format: "uppercase:(name)")
            person.properties.append(derived)
        }
        try store.with(newer) { context throws in
            #expect(try Set(context.all("Person").compactMap { $0.text("loud") }) == Set((0..<30).map { "N\($0)" }))
        }
    }

    @Test func aNewParentTakesPropertiesOver() throws {
        let store = try Self.filled(60)
        let uris = try store.with(Self.people()) { Set(try $0.all("Person").map { $0.uri() }) }
        func hierarchy() -> NSManagedObjectModel {
            let being = G.entity("Being")
            being.properties = [G.attribute("name", .stringAttributeType)]
            let person = G.entity("Person")
            person.properties = [
                G.attribute("age", .integer16AttributeType), G.attribute("score", .doubleAttributeType),
            ]
            let animal = G.entity("Animal")
            animal.properties = [G.attribute("legs", .integer16AttributeType, default: 4)]
            being.subentities = [person, animal]
            return makeModel([being, person, animal])
        }
        try store.with(hierarchy()) { context throws in
            #expect(Set(try context.all("Being").map { $0.uri() }) == uris)
            _ = context.insert("Animal", ["name": "dog"])
            _ = context.insert("Person", ["name": "late", "age": 1])
            try context.save()
            #expect(try context.all("Being").count == 62)
            #expect(try context.all("Being", "name == 'dog'").map(\.entity.name) == ["Animal"])
            #expect(try context.all("Person", "name == 'n7'").count == 1)
        }
        try store.with(hierarchy()) { context throws in #expect(try context.all("Being").count == 62) }
    }

    @Test func historyAndTombstonesGoByTodaysNames() throws {
        func model(_ name: String, extra: Bool) -> NSManagedObjectModel {
            Self.people { person in
                let attribute = G.attribute(name, .stringAttributeType).renamed(from: "name")
                attribute.preservesValueInHistoryOnDeletion = true
                person.properties = [attribute, G.attribute("zeal", .integer16AttributeType)]
                if extra { person.properties.append(G.attribute("aaa", .stringAttributeType, default: "x")) }
            }
        }
        let store = try MigratedStore()
        let options = MigratedStore.automatic.merging([NSPersistentHistoryTrackingKey: true]) { $1 }
        try store.with(model("name", extra: false), options) { context throws in
            let (first, second) = (context.insert("Person", ["name": "a"]), context.insert("Person", ["name": "b"]))
            try context.save()
            first.setValue(5, forKey: "zeal")
            try context.save()
            context.delete(second)
            try context.save()
        }
        try store.with(model("title", extra: true), options) { context throws in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let changes = (result?.result as? [NSPersistentHistoryTransaction] ?? []).flatMap { $0.changes ?? [] }
            #expect(changes.map(\.changeType) == [.insert, .insert, .update, .delete])
            #expect(changes.dropFirst(2).first?.updatedProperties?.map(\.name) == ["zeal"])
            #expect(changes.last?.tombstone?["title"] as? String == "b")
        }
    }
}
