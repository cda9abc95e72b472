import CoreData
import Foundation
import StrataIO
import StrataLog
import StrataTestKit
import SystemPackage
import Testing

@testable import Strata

/// What is read across a light migration: the past, the history, and a store that somebody reads with the older model.
@Suite struct MigrationTimeTests {
    private typealias G = GraphModel

    /// The second version calls the name a title, has no age, and an attribute more.
    private static func version(_ number: Int) -> NSManagedObjectModel {
        LightMigrationTests.people { person in
            guard number == 2 else { return }
            person.properties = [
                G.attribute("title", .stringAttributeType).renamed(from: "name"),
                G.attribute("score", .doubleAttributeType),
                G.attribute("code", .stringAttributeType, default: "c"),
            ]
        }
    }

    private static var tracking: [AnyHashable: Any] {
        MigratedStore.automatic.merging([NSPersistentHistoryTrackingKey: true]) { $1 }
    }

    /// Two persons inserted, one renamed, one deleted: three transactions.
    private static func filled() throws -> (store: MigratedStore, tokens: [NSPersistentHistoryToken], uris: [URL]) {
        let store = try MigratedStore()
        var tokens: [NSPersistentHistoryToken] = []
        var uris: [URL] = []
        try store.with(version(1), tracking) { context throws in
            func save() throws {
                try context.save()
                let coordinator = try #require(context.persistentStoreCoordinator)
                tokens.append(
                    try #require(coordinator.currentPersistentHistoryToken(fromStores: coordinator.persistentStores)))
            }
            let people = (0..<2).map { context.insert("Person", ["name": "n\($0)", "age": $0, "score": Double($0)]) }
            try save()
            uris = people.map { $0.objectID.uriRepresentation() }
            people[0].setValue("other", forKey: "name")
            try save()
            context.delete(people[1])
            try save()
        }
        return (store, tokens, uris)
    }

    @Test func aPointBeforeTheMigrationIsReadByTodaysNames() throws {
        let (store, tokens, uris) = try Self.filled()
        try store.with(Self.version(2), Self.tracking) { context throws in
            let coordinator = try #require(context.persistentStoreCoordinator)
            _ = context.insert("Person", ["title": "new", "code": "x"])
            try context.save()
            let expected = [["n0", "n1"], ["n1", "other"], ["other"]]
            for (token, titles) in zip(tokens, expected) {
                context.reset()
                try context.setQueryGenerationFrom(coordinator.queryGeneration(at: token))
                let people = try context.all("Person", sortedBy: "title")
                #expect(people.map { $0.text("title") } == titles)
                #expect(people.allSatisfy { $0.text("code") == "c" })
                #expect(try context.all("Person", "title == 'n1'").count == (titles.contains("n1") ? 1 : 0))
            }
            try context.setQueryGenerationFrom(coordinator.queryGeneration(at: tokens[0]))
            let second = try #require(coordinator.managedObjectID(forURIRepresentation: uris[1]))
            #expect(try context.existingObject(with: second).text("title") == "n1")
            try context.setQueryGenerationFrom(nil)
            context.reset()
            #expect(throws: CocoaError.self) { try context.existingObject(with: second) }
            #expect(try context.all("Person", sortedBy: "title").map { $0.text("title") } == ["new", "other"])
        }
    }

    @Test func anArchivedGenerationOfBeforeTheMigrationIsReadAfterIt() throws {
        let (store, _, _) = try Self.filled()
        let archive = try store.with(Self.version(1), Self.tracking) { context throws in
            try context.setQueryGenerationFrom(.current)
            _ = try context.all("Person")
            let token = try #require(context.queryGenerationToken)
            return try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        }
        try store.with(Self.version(2), Self.tracking) { context throws in
            for person in try context.all("Person") { person.setValue("changed", forKey: "title") }
            try context.save()
            let token = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: archive)
            #expect(token != nil)
            context.reset()
            try context.setQueryGenerationFrom(token)
            #expect(try context.all("Person").map { $0.text("title") } == ["other"])
        }
    }

    @Test func aConsumerGoesOnInTheHistoryWhereItWasBeforeTheMigration() throws {
        let (store, tokens, uris) = try Self.filled()
        try store.with(Self.version(2), Self.tracking) { context throws in
            _ = context.insert("Person", ["title": "new"])
            try context.save()
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: tokens[0])
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let changes = (result?.result as? [NSPersistentHistoryTransaction] ?? []).flatMap { $0.changes ?? [] }
            #expect(changes.map(\.changeType) == [.update, .delete, .insert])
            #expect(changes.prefix(2).map { $0.changedObjectID.uriRepresentation() } == uris)
            #expect(changes.first?.updatedProperties?.map(\.name) == ["title"])
        }
    }

    @Test func whatTwoPointsDifferInIsToldAcrossTheMigration() async throws {
        let (store, tokens, _) = try Self.filled()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.version(2))
        let opened = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store.url, options: Self.tracking)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for person in try context.all("Person") { person.setValue("last", forKey: "title") }
            try context.save()
        }
        let now = try #require(coordinator.currentPersistentHistoryToken(fromStores: coordinator.persistentStores))
        var told: [String] = []
        for try await difference in try coordinator.diff(
            from: coordinator.queryGeneration(at: tokens[0]), to: coordinator.queryGeneration(at: now))
        {
            let values = difference.values.map { "\($0.property) \($0.before ?? "-") \($0.after ?? "-")" }
            told.append("\(difference.kind.rawValue) \(values.filter { $0.hasPrefix("title") })")
        }
        #expect(told.sorted() == ["1 [\"title n0 last\"]", "2 [\"title n1 -\"]"])
        try coordinator.remove(opened)
    }

    // MARK: Somebody with the older model

    /// A reader of another process, which goes on following.
    private struct Follower {
        let context: NSManagedObjectContext
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore

        init(_ migrated: MigratedStore, _ model: NSManagedObjectModel) throws {
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let options: [AnyHashable: Any] = [
                NSReadOnlyPersistentStoreOption: true,
                StoreHost.option: StoreHost(fileSystem: OtherProcessFileSystem(PosixFileSystem())),
            ]
            store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: migrated.url, options: options)
            context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
        }

        func names() throws -> [String] {
            try context.performAndWait {
                try context.all("Person", sortedBy: "name").compactMap { $0.text("name") }
            }
        }
    }

    @Test func aFollowerWithTheOlderModelGetsAnErrorAndKeepsWhatItHasRead() throws {
        let (store, _, _) = try Self.filled()
        let follower = try Follower(store, Self.version(1))
        #expect(try follower.names() == ["other"])
        try follower.context.performAndWait { try follower.context.setQueryGenerationFrom(.current) }
        #expect(try follower.names() == ["other"])
        let first = try follower.context.performAndWait { try follower.context.all("Person").first }
        let held = try #require(first)
        try store.with(Self.version(2), Self.tracking) { context throws in
            for person in try context.all("Person") { person.setValue("changed", forKey: "title") }
            try context.save()
        }
        // Pinned, it reads on: the generation has the model that it was written with.
        #expect(try follower.names() == ["other"])
        follower.context.performAndWait {
            follower.context.refresh(held, mergeChanges: false)
            #expect(held.text("name") == "other")
            #expect(held.value(forKey: "age") as? Int16 == 0)
        }
        try follower.context.performAndWait { try follower.context.setQueryGenerationFrom(nil) }
        var failure: NSError?
        do { _ = try follower.names() } catch { failure = error as NSError }
        #expect(failure?.code == NSPersistentStoreOperationError)
        let text = try #require(failure?.userInfo[NSLocalizedDescriptionKey] as? String)
        #expect(text.contains("has been migrated to another model since it was opened"))
        try follower.coordinator.remove(follower.store)
        #expect(throws: CocoaError.self) { try Follower(store, Self.version(1)) }
        let again = try Follower(store, Self.version(2))
        let titles = try again.context.performAndWait { try again.context.all("Person").map { $0.text("title") } }
        #expect(titles == ["changed"])
    }

    @Test func aStoreThatIsExportedAfterALightMigrationHasTodaysNames() throws {
        let (store, _, _) = try Self.filled()
        try store.with(Self.version(2), Self.tracking) { _ in }
        let reader = try StoreReader(store.url)
        let rows = try #require(reader.layouts.rows(named: "Person"))
        #expect(rows.slots.map(\.name).sorted() == ["code", "score", "title"])
        var found: [[String: String]] = []
        try reader.forEachRow(root: rows.root) { row in
            var values: [String: String] = [:]
            for (slot, info) in rows.slots.enumerated() where info.kind == .string {
                values[info.name] = try row.string(slot)
            }
            found.append(values)
        }
        #expect(found == [["title": "other", "code": "c"]])
    }
}
