import CoreData
import Foundation
import Testing

/// Points of before a light migration, read with the model of then.
@Suite struct PastModelTests {
    private typealias G = GraphModel

    /// Persons of teams, with notes; a stage of the model's life.
    private static func model(_ stage: Int) -> NSManagedObjectModel {
        let person = G.entity("Person")
        let team = G.entity(stage == 0 ? "Team" : "Group")
        let name = G.attribute(stage == 0 ? "name" : "title", .stringAttributeType)
        let age = G.attribute("age", .integer16AttributeType)
        switch stage {
        case 0:
            let members = G.relationship("members", to: person, toMany: true)
            let teamOf = G.relationship("team", to: team)
            G.link(members, teamOf)
            let friends = G.relationship("friends", to: person, toMany: true)
            let friendOf = G.relationship("friendOf", to: person, toMany: true)
            G.link(friends, friendOf)
            let note = G.entity("Note")
            note.properties = [G.attribute("text", .stringAttributeType)]
            person.properties = [name, age, teamOf, friends, friendOf]
            team.properties = [G.attribute("title", .stringAttributeType), members]
            return makeModel([person, team, note])
        default:
            // Renamed: the team, the person's name. Gone: age, both relationships, notes. New: a level.
            team.renamingIdentifier = "Team"
            team.properties = [G.attribute("title", .stringAttributeType)]
            person.properties = [name.renamed(from: "name"), G.attribute("level", .integer16AttributeType, default: 7)]
            return makeModel([person, team])
        }
    }

    /// Two saves in the first model, one in the second; what objects were in the end of the first.
    private static func filled(_ store: MigratedStore) throws -> [String] {
        let uris = try store.with(model(0), options) { context throws in
            let team = context.insert("Team", ["title": "red"])
            let people = (0..<40).map { (index: Int) in context.insert("Person", ["name": "n\(index)", "age": index]) }
            for (index, person) in people.enumerated() {
                if index % 2 == 0 { person.setValue(team, forKey: "team") }
                person.setValue(NSSet(array: [people[(index + 1) % 40]]), forKey: "friends")
            }
            _ = context.insert("Note", ["text": "remember"])
            try context.save()
            people[0].setValue("zero", forKey: "name")
            people[2].setValue(nil, forKey: "team")
            try context.save()
            return people.map { $0.uri() }
        }
        try store.with(model(1), options) { context throws in
            let person = try #require(context.all("Person", "title == 'n4'").first)
            person.setValue("four", forKey: "title")
            context.delete(try #require(context.all("Person", "title == 'n6'").first))
            try context.save()
        }
        return uris
    }

    private static var options: [AnyHashable: Any] {
        MigratedStore.automatic.merging([NSPersistentHistoryTrackingKey: true]) { $1 }
    }

    /// Hands out a context of the past.
    private static func look<R>(
        _ store: MigratedStore, _ model: NSManagedObjectModel? = nil, at number: Int64,
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        try store.with(model ?? Self.model(1), options) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let past = try coordinator.past(coordinator.queryGeneration(atTransaction: number))
            let shown = NSManagedObjectContext(.privateQueue)
            shown.persistentStoreCoordinator = past
            return try shown.performAndWait { try body(shown) }
        }
    }

    @Test func aPointOfBeforeAMigrationIsReadWithTheModelOfThen() throws {
        let store = try MigratedStore()
        let uris = try Self.filled(store)
        for (number, first, members) in [(1, "n0", 20), (2, "zero", 19)] as [(Int64, String, Int)] {
            try Self.look(store, at: number) { context throws in
                let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
                #expect(model.versionChecksum == Self.model(0).versionChecksum)
                let people = try context.all("Person", sortedBy: "age")
                #expect(people.map { $0.uri() } == uris)
                #expect(people.first?.text("name") == first)
                #expect(people.map { $0.value(forKey: "age") as? Int16 } == (0..<40).map { Int16($0) })
                #expect(try context.all("Person", "age > 30 AND team.title == 'red'").count == 4)
                let team = try #require(context.all("Team").first)
                #expect(team.targets("members").count == members)
                for (index, person) in people.enumerated() {
                    #expect(person.targets("friends") == [uris[(index + 1) % 40]])
                    #expect(person.targets("friendOf") == [uris[(index + 39) % 40]])
                }
                #expect(try context.all("Note").map { $0.text("text") } == ["remember"])
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1)
                people[0].setValue("new", forKey: "name")
                #expect(throws: CocoaError.self) { try context.save() }
            }
        }
    }

    @Test func aPointOfAfterwardsIsReadWithTheLaterModel() throws {
        let store = try MigratedStore()
        _ = try Self.filled(store)
        try Self.look(store, at: 3) { context throws in
            let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
            #expect(model.versionChecksum == Self.model(1).versionChecksum)
            #expect(try context.all("Person", "level == 7").count == 39)
            #expect(try context.all("Person", "title == 'four'").count == 1)
        }
        // A context that is pinned there by today's coordinator goes on by today's model.
        try store.with(Self.model(1), Self.options) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let pinned = NSManagedObjectContext(.privateQueue)
            pinned.persistentStoreCoordinator = coordinator
            try pinned.setQueryGenerationFrom(coordinator.queryGeneration(atTransaction: 1))
            try pinned.performAndWait { () throws in
                #expect(try pinned.all("Person", "title == 'n0' AND level == 7").count == 1)
                #expect(try pinned.all("Person").count == 40)
            }
        }
    }

    /// Seen from the third model, through a migration that has an entity and an attribute of the old names again.
    @Test func whatComesBackLaterIsSomethingElse() throws {
        let store = try MigratedStore()
        let uris = try Self.filled(store)
        try store.with(Self.model(0), Self.options) { context throws in
            #expect(try context.all("Note").isEmpty)
            _ = context.insert("Note", ["text": "another"])
            try context.save()
        }
        try Self.look(store, Self.model(0), at: 2) { context throws in
            let people = try context.all("Person", sortedBy: "age")
            #expect(people.map { $0.uri() } == uris)
            #expect(try context.all("Note").map { $0.text("text") } == ["remember"])
            #expect(try context.all("Team").map { $0.targets("members").count } == [19])
        }
    }

    /// Such an entity goes without its hierarchy: nothing of it is left in the newest state.
    @Test func objectsOfASubentityThatWasEmptyWhenItWentAreThere() throws {
        func model(withPilots: Bool) -> NSManagedObjectModel {
            let (person, pilot) = (G.entity("Person"), G.entity("Pilot"))
            person.properties = [G.attribute("name", .stringAttributeType)]
            pilot.properties = [G.attribute("licence", .stringAttributeType)]
            if withPilots { person.subentities = [pilot] }
            return makeModel(withPilots ? [person, pilot] : [person])
        }
        let store = try MigratedStore()
        try store.with(model(withPilots: true), Self.options) { context throws in
            let pilot = context.insert("Pilot", ["name": "p", "licence": "A"])
            _ = context.insert("Person", ["name": "q"])
            try context.save()
            context.delete(pilot)
            try context.save()
        }
        try store.with(model(withPilots: false), Self.options) { context throws in
            _ = context.insert("Person", ["name": "r"])
            try context.save()
        }
        for (number, names, licences) in [(1, ["p", "q"], ["A"]), (2, ["q"], [])] as [(Int64, [String], [String])] {
            try Self.look(store, model(withPilots: false), at: number) { context throws in
                #expect(try context.all("Person", sortedBy: "name").map { $0.text("name") } == names)
                #expect(try context.all("Pilot").map { $0.text("licence") } == licences)
            }
        }
    }

    /// History of then, by the names of then; and by today's in today's coordinator.
    @Test func historyGoesUpToThePoint() throws {
        let store = try MigratedStore()
        _ = try Self.filled(store)
        func updates(_ context: NSManagedObjectContext) throws -> [[String]] {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction] ?? []).map { transaction in
                let changes = transaction.changes?.filter { $0.changeType == .update } ?? []
                return Set(changes.flatMap { $0.updatedProperties?.map(\.name) ?? [] }).sorted()
            }
        }
        try Self.look(store, at: 2) { context throws in
            #expect(try updates(context) == [[], ["name", "team"]])
        }
        try store.with(Self.model(1), Self.options) { context throws in
            #expect(try updates(context) == [[], ["title"], ["title"]])
        }
    }

    /// The past stays what it is while the store is written and after it was closed.
    @Test func thePastGoesOnAfterTheStoreWasClosed() throws {
        let store = try MigratedStore()
        let uris = try Self.filled(store)
        let past = try store.with(Self.model(1), Self.options) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let past = try coordinator.past(coordinator.queryGeneration(atTransaction: 2))
            for person in try context.all("Person") { context.delete(person) }
            try context.save()
            try coordinator.compact(try #require(coordinator.persistentStores.first))
            return past
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = past
        try context.performAndWait { () throws in
            #expect(try context.all("Person", sortedBy: "age").map { $0.uri() } == uris)
            #expect(try context.all("Person").allSatisfy { $0.value(forKey: "age") != nil })
        }
        try past.remove(try #require(past.persistentStores.first))
    }

    /// Compaction writes objects as today's model has them: what that lacks is gone, which is said.
    @Test func whatCompactionHasTakenIsAnError() throws {
        let store = try MigratedStore()
        _ = try Self.filled(store)
        try store.with(Self.model(1), Self.options) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            try coordinator.compact(try #require(coordinator.persistentStores.first))
            #expect {
                let past = try coordinator.past(coordinator.queryGeneration(atTransaction: 2))
                let shown = NSManagedObjectContext(.privateQueue)
                shown.persistentStoreCoordinator = past
                _ = try shown.performAndWait { try shown.all("Person", "age > 3").count }
            } throws: {
                ($0 as? CocoaError)?.code == .persistentStoreOperation
            }
        }
    }

    @Test func aGenerationOfOtherStoresIsRefused() throws {
        let (store, other) = (try MigratedStore(), try MigratedStore())
        _ = try Self.filled(store)
        let token = try store.with(Self.model(1), Self.options) { context throws in
            try #require(context.persistentStoreCoordinator).queryGeneration(atTransaction: 1)
        }
        try other.with(Self.model(1), Self.options) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let error = #expect(throws: CocoaError.self) { _ = try coordinator.past(token) }
            #expect(error?.code == .persistentStoreOperation)
            #expect(try coordinator.past(.current).managedObjectModel.entities.count == 2)
        }
    }
}
