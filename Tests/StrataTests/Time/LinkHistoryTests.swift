import CoreData
import Foundation
import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import Strata
@testable import StrataLog

/// A compaction removed the rows of links that were gone, and with them what the history said of relationships that are
/// to-many at both ends or have no inverse. Who merged a history by its properties kept members that had left.
@Suite struct LinkHistoryTests {
    private typealias Request = NSPersistentHistoryChangeRequest

    /// What each transaction says, and of which objects.
    private static func told(_ context: NSManagedObjectContext) throws -> [[String]] {
        let request = Request.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
        return try #require(result.result as? [NSPersistentHistoryTransaction]).map { transaction in
            (transaction.changes ?? []).map { change in
                let properties = (change.updatedProperties ?? []).map(\.name).sorted().joined(separator: ",")
                let id = change.changedObjectID
                return "\(change.changeType.rawValue) \(id.uriRepresentation().path) \(properties)"
            }.sorted()
        }
    }

    /// The relationships that transactions name.
    private static func names(_ told: some Sequence<[String]>) -> Set<String> {
        let lists = told.joined().compactMap { $0.split(separator: " ").dropFirst(2).first }
        return Set(lists.flatMap { $0.split(separator: ",") }.map(String.init))
    }

    private static func compact(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws {
        let coordinator = try #require(context.persistentStoreCoordinator)
        // So that there is something to be compacted.
        let entity = try #require(model.entities.first { $0.attributesByName["age"] != nil }?.name)
        let object = context.insert(entity, [:])
        for age in 1...3 {
            object.setValue(age, forKey: "age")
            try context.save()
        }
        for store in coordinator.persistentStores { try coordinator.compact(store) }
    }

    /// Links that left, that came and went, and that went with an object.
    @Test(arguments: StoreKind.allCases) func whatLinksHaveLeftIsNamedAfterACompaction(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let ann = context.insert("Employee", ["name": "Ann"])
            let project = context.insert("Project", [:])
            let (badge, friend) = (context.insert("Badge", ["number": 1]), context.insert("Employee", ["name": "Bob"]))
            try context.save()
            ann.mutableSetValue(forKey: "projects").add(project)
            ann.mutableSetValue(forKey: "friends").add(friend)
            project.mutableSetValue(forKey: "tags").add(badge)
            try context.save()
            ann.mutableSetValue(forKey: "projects").remove(project)
            ann.mutableSetValue(forKey: "friends").remove(friend)
            project.mutableSetValue(forKey: "tags").remove(badge)
            try context.save()
            ann.mutableSetValue(forKey: "projects").add(project)
            try context.save()
            context.delete(project)
            try context.save()
            let before = try Self.told(context)
            #expect(Self.names(before[1...1]) == ["projects", "staff", "friends", "tags"])
            #expect(Self.names(before[2...2]) == ["projects", "staff", "friends", "tags"])
            #expect(Self.names(before[4...4]) == ["projects"])
            try Self.compact(context, store.model)
            #expect(try Self.told(context).prefix(before.count) == before[...])
            try Self.compact(context, store.model)
            #expect(try Self.told(context).prefix(before.count) == before[...])
        }
    }

    /// Whatever becomes of links, objects and files: the history says what it said before.
    @Test(arguments: RandomRuns.seeds(from: 40, count: 6), StoreKind.allCases)
    func aCompactionChangesNothingThatIsTold(_ seed: UInt64, _ kind: StoreKind) throws {
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind)
        for round in 0..<3 {
            let context = store.shortLivedContext()
            try context.performAndWait { () throws in
                for _ in 0..<12 {
                    try Self.change(context, using: &random)
                    try context.save()
                }
                let before = try Self.told(context)
                try Self.compact(context, store.model)
                #expect(try Self.told(context).prefix(before.count) == before[...], "seed \(seed), round \(round)")
                context.reset()
            }
            try store.reopen()
        }
    }

    private static func change(_ context: NSManagedObjectContext, using random: inout SeededGenerator) throws {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let employees = try context.all("Employee", sortedBy: "name")
            let projects = try context.all("Project", sortedBy: "code")
            let badges = try context.all("Badge", sortedBy: "number")
            let number = Int.random(in: 0..<1_000_000, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: _ = context.insert("Employee", ["name": "e\(number)"])
            case 1: _ = context.insert("Project", ["code": "p\(number)"])
            case 2: _ = context.insert("Badge", ["number": number])
            case 3:
                if let doomed = (employees + projects + badges).randomElement(using: &random) { context.delete(doomed) }
            default:
                guard let employee = employees.randomElement(using: &random),
                    let project = projects.randomElement(using: &random)
                else { continue }
                let (owner, key, other) =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: (employee, "projects", project)
                    case 1: (employee, "friends", employees.randomElement(using: &random) ?? employee)
                    default: (project, "tags", badges.randomElement(using: &random) ?? project)
                    }
                guard key != "tags" || other !== project else { continue }
                let members = owner.mutableSetValue(forKey: key)
                if members.contains(other) { members.remove(other) } else { members.add(other) }
            }
        }
    }

    // MARK: Other models

    /// Parts and their users; in the second version everything has another name, and links have changed sides.
    private static func parts(_ version: Int) -> NSManagedObjectModel {
        typealias G = GraphModel
        let (first, second) = (G.entity(version == 1 ? "Bolt" : "Screw"), G.entity("Engine"))
        first.renamingIdentifier = "Bolt"
        let users = G.relationship(version == 1 ? "users" : "machines", to: second, toMany: true)
        users.renamingIdentifier = "users"
        let parts = G.relationship(version == 1 ? "parts" : "screws", to: first, toMany: true, ordered: true)
        parts.renamingIdentifier = "parts"
        G.link(users, parts)
        first.properties = [G.attribute("age", .integer64AttributeType), users]
        second.properties = [G.attribute("name", .stringAttributeType), parts]
        let model = NSManagedObjectModel()
        model.entities = [first, second]
        return model
    }

    @Test func linksOfAnEarlierModelAreNamedAsTodaysNamesThem() throws {
        let store = try MigratedStore()
        try store.with(Self.parts(1)) { context throws in
            let (bolt, engine) = (context.insert("Bolt", [:]), context.insert("Engine", ["name": "e"]))
            try context.save()
            engine.mutableOrderedSetValue(forKey: "parts").add(bolt)
            try context.save()
            engine.mutableOrderedSetValue(forKey: "parts").remove(bolt)
            try context.save()
        }
        let before = try store.with(Self.parts(2)) { context throws in
            let before = try Self.told(context)
            #expect(Self.names(before[1...1]) == ["machines", "screws"])
            #expect(Self.names(before[2...2]) == ["machines", "screws"])
            try Self.compact(context, Self.parts(2))
            #expect(try Self.told(context).prefix(before.count) == before[...])
            return before
        }
        try store.with(Self.parts(2)) { context throws in
            #expect(try Self.told(context).prefix(before.count) == before[...])
        }
    }

    // MARK: Stores of before

    /// A store as it was made before the history kept the ends of links.
    private static func makeEarlierStore(_ store: MigratedStore, _ model: NSManagedObjectModel) throws -> LogStore {
        let shapes = ModelShapes.of(model)
        var schema = try StoredModel(shapes, holding: Set(shapes.byName.keys), previous: nil).schema(shapes)
        for entity in schema.entities.indices where schema.entities[entity].name.hasPrefix("link ") {
            for side in 0...1 { schema.entities[entity].slots[side].preservedInHistory = false }
        }
        let (path, disk) = (FilePath(store.url.path), PosixFileSystem())
        return try SharedLogs.open(path, in: disk, isWriter: true) {
            var options = LogOptions()
            options.durability = .os
            return try LogStore.open(path, in: disk, options: options, schema: schema)
        }
    }

    @Test func aStoreOfBeforeKeepsEndsFromThenOn() throws {
        let (store, model) = (try MigratedStore(), Self.parts(1))
        let earlier = try Self.makeEarlierStore(store, model)
        // Others have it open: it stays as it is. What is deleted now is told as long as the rows are there.
        let before = try store.with(model) { context throws in
            let (bolt, engine) = (context.insert("Bolt", [:]), context.insert("Engine", ["name": "e"]))
            engine.mutableOrderedSetValue(forKey: "parts").add(bolt)
            try context.save()
            engine.mutableOrderedSetValue(forKey: "parts").remove(bolt)
            try context.save()
            let told = try Self.told(context)
            #expect(Self.names(told[1...1]) == ["parts", "users"])
            return told
        }
        let (versions, bytes) = (earlier.schemas.count, earlier.schema.model)
        try SharedLogs.close(earlier)
        try store.with(model, [NSReadOnlyPersistentStoreOption: true]) { context throws in
            #expect(try Self.told(context) == before)
        }
        for _ in 0..<2 {
            try store.with(model, [:]) { context throws in
                let log = try #require((context.persistentStoreCoordinator?.persistentStores.first)?.handle?.log)
                #expect(log.schemas.count == versions + 1 && log.schema.model == bytes)
                #expect(try Self.told(context).prefix(before.count) == before[...])
                let (bolt, engine) = (context.insert("Bolt", [:]), context.insert("Engine", ["name": "f"]))
                engine.mutableOrderedSetValue(forKey: "parts").add(bolt)
                try context.save()
                engine.mutableOrderedSetValue(forKey: "parts").remove(bolt)
                try context.save()
            }
        }
        try store.with(model, [:]) { context throws in
            let before = try Self.told(context)
            try Self.compact(context, model)
            // The rest has lost the rows of its first link.
            #expect(try Self.told(context)[2..<before.count] == before[2...])
        }
    }
}
