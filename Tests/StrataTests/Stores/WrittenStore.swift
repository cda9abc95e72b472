import CoreData
import Foundation
import StrataIO
import StrataTestKit
import SystemPackage

@testable import Strata
@testable import StrataLog

/// A store with everything that a program can keep in one, the same in every run but for the times of the directory and
/// the program's name; its files as each version of the format wrote them lie in `Written`.
///
/// What is written here must stay as it is: the kept files hold it. A new version of the format gets a new step at the
/// end of ``write(_:)``, or the same steps.
enum WrittenStore {
    private typealias G = GraphModel

    /// The versions of the format that today's program writes: 1 until there is a migration, then 2.
    static let versions = [1, 2]
    static let path: FilePath = "/d/store"
    static let uuid = "01234567-89AB-4DEF-8EDC-BA9876543210"
    /// The time of every transaction.
    static let timeSeconds = 1_700_000_000.0

    // MARK: Models

    /// The model that a version's store has in the end. The second has other names, an attribute more and one less, and
    /// an entity less.
    static func model(_ version: Int) -> NSManagedObjectModel {
        let (thing, person, pilot) = (G.entity("Thing"), G.entity("Person"), G.entity("Pilot"))
        let (team, task, project) = (G.entity("Team"), G.entity("Task"), G.entity("Project"))
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.elements = [
            G.attribute("street", .stringAttributeType), G.attribute("number", .integer32AttributeType),
        ]
        thing.properties = attributes.compactMap { name, type in
            if version > 1, name == "float" { return nil }
            let attribute = G.attribute(name, type)
            attribute.preservesValueInHistoryOnDeletion = name == "string"
            return attribute
        }
        thing.properties.append(place)

        let members = G.relationship("members", to: person, toMany: true)
        let teamOf = G.relationship("team", to: team)
        G.link(members, teamOf)
        let tasks = G.relationship("tasks", to: task, toMany: true, rule: .cascadeDeleteRule, ordered: true)
        let owner = G.relationship("person", to: person)
        G.link(tasks, owner)
        let friends = G.relationship("friends", to: person, toMany: true)
        let friendOf = G.relationship("friendOf", to: person, toMany: true)
        G.link(friends, friendOf)
        let projects = G.relationship("projects", to: project, toMany: true, ordered: true)
        let teams = G.relationship("teams", to: team, toMany: true)
        G.link(projects, teams)

        let name = G.attribute(version == 1 ? "name" : "fullName", .stringAttributeType)
        name.preservesValueInHistoryOnDeletion = true
        if version > 1 { name.renamingIdentifier = "name" }
        let age = G.attribute("age", .integer16AttributeType)
        person.properties = [name, G.attribute("code", .stringAttributeType), age, teamOf, tasks, friends, friendOf]
        if version > 1 { person.properties.append(G.attribute("level", .integer16AttributeType, default: 7)) }
        person.uniquenessConstraints = [["code"]]
        person.indexes = [
            NSFetchIndexDescription(
                name: "byAge", elements: [NSFetchIndexElementDescription(property: age, collationType: .binary)])
        ]
        pilot.properties = [G.attribute("licence", .stringAttributeType)]
        person.subentities = [pilot]
        team.properties = [G.attribute("title", .stringAttributeType), members, projects]
        task.properties = [G.attribute("text", .stringAttributeType), owner]
        project.properties = [G.attribute("code", .stringAttributeType), teams]
        guard version == 1 else { return makeModel([thing, person, pilot, team, task, project]) }
        let note = G.entity("Note")
        note.properties = [G.attribute("text", .stringAttributeType)]
        return makeModel([thing, person, pilot, team, task, project, note])
    }

    private static let attributes: [(String, NSAttributeType)] = [
        ("bool", .booleanAttributeType), ("int16", .integer16AttributeType), ("int32", .integer32AttributeType),
        ("int64", .integer64AttributeType), ("float", .floatAttributeType), ("double", .doubleAttributeType),
        ("decimal", .decimalAttributeType), ("string", .stringAttributeType), ("data", .binaryDataAttributeType),
        ("date", .dateAttributeType), ("uuid", .UUIDAttributeType), ("uri", .URIAttributeType),
        ("list", .transformableAttributeType),
    ]

    // MARK: Values

    /// Of the things: ordinary, greatest, least, and none.
    static var things: [[String: Any]] {
        [
            [
                "bool": NSNumber(value: true), "int16": Int16(-3), "int32": Int32(70_000), "int64": Int64(1) << 40,
                "float": Float(1.25), "double": 0.1,
                "decimal": NSDecimalNumber(string: "-12345678901234567890.123456789"),
                "string": "äöü 🙂", "data": Data([0, 1, 2]), "date": Date(timeIntervalSince1970: -1_000.5),
                "uuid": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID(),
                "uri": URL(string: "https://example.org/a?b=c#d") ?? URL(fileURLWithPath: "/"),
                "list": ["a", "b"] as NSArray, "place": ["street": "Main", "number": Int32(12)] as [String: Any],
            ],
            [
                "bool": NSNumber(value: false), "int16": Int16.max, "int32": Int32.max, "int64": Int64.max,
                "float": Float.greatestFiniteMagnitude, "double": Double.infinity, "decimal": NSDecimalNumber.maximum,
                "string": String(repeating: "größer ", count: 1_000), "data": Data(repeating: 0x2A, count: 70_000),
                "date": Date.distantFuture, "uuid": UUID(uuidString: "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF") ?? UUID(),
            ],
            [
                "int16": Int16.min, "int32": Int32.min, "int64": Int64.min, "float": -Float.leastNonzeroMagnitude,
                "double": -Double.leastNonzeroMagnitude, "decimal": NSDecimalNumber.minimum, "string": "",
                "data": Data(),
                "date": Date.distantPast, "place": ["number": Int32(-1)] as [String: Any],
            ],
            [:],
        ]
    }

    static func name(_ index: Int) -> String { "person \(index)" }
    static func age(_ index: Int) -> Int16? { index == 11 ? nil : Int16(20 + index % 5) }
    static func team(_ index: Int) -> String? { ["red", "blue", nil][index % 3] }

    // MARK: Writing

    static func options(_ fileSystem: any FileSystem) -> [AnyHashable: Any] {
        let host = StoreHost(fileSystem: fileSystem) { options in adjust(&options) }
        return [StoreHost.option: host].merging(MigratedStore.automatic) { $1 }
    }

    private static func adjust(_ options: inout LogOptions) {
        options.preallocationMinimumBytes = 4_096
        options.checkpointsInBackground = false
        options.compaction.isAutomatic = false
        options.newStoreUUID = StoreUUID(high: 0x0123_4567_89AB_4DEF, low: 0x8EDC_BA98_7654_3210)
        options.clock = { Int64(timeSeconds) * 1_000_000_000 }
    }

    /// Writes the store as far as a version of the format goes, and closes it.
    static func write(_ version: Int) throws -> SimulatedFileSystem {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory("/d")
        try with(1, fileSystem) { context throws in try writeFirst(context) }
        try leaveSegment(fileSystem)
        try with(1, fileSystem) { context throws in
            try save(context, "segments") {
                context.delete(try only(context, "name == 'person 4'"))
                _ = context.insert("Person", ["name": "late", "code": "late", "age": Int16(60)])
            }
        }
        guard version > 1 else { return fileSystem }
        try with(2, fileSystem) { context throws in
            try save(context, "migrated") {
                let five = try only(context, "fullName == 'person 5'")
                five.setValue("five", forKey: "fullName")
                five.setValue(Int16(9), forKey: "level")
                _ = context.insert("Thing", ["string": "new"])
            }
        }
        try leaveSegment(fileSystem)
        try with(2, fileSystem) { context throws in
            try save(context, "last", named: "end") {
                context.delete(try only(context, "fullName == 'person 6'"))
                _ = context.insert("Person", ["fullName": "last", "code": "last"])
            }
        }
        return fileSystem
    }

    private static func with(
        _ version: Int, _ fileSystem: SimulatedFileSystem, _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(version))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil,
            at: URL(fileURLWithPath: path.string, isDirectory: true), options: options(fileSystem))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try body(context)
            context.reset()
        }
        try coordinator.remove(store)
    }

    /// As a log that is full goes on in a new segment.
    private static func leaveSegment(_ fileSystem: SimulatedFileSystem) throws {
        var options = LogOptions()
        adjust(&options)
        let log = try LogStore.open(path, in: fileSystem, options: options, schema: nil)
        try log.leaveSegment { _ in true }
        try log.close()
    }

    private static func save(
        _ context: NSManagedObjectContext, _ author: String?, named name: String? = nil, _ change: () throws -> Void
    ) throws {
        context.transactionAuthor = author
        context.name = name
        try change()
        try context.save()
    }

    private static func only(_ context: NSManagedObjectContext, _ format: String) throws -> NSManagedObject {
        let found = try context.all("Person", format)
        guard found.count == 1 else { throw CocoaError(.coreData) }
        return found[0]
    }

    /// Inserts, updates, deletes, compacts, and writes again.
    private static func writeFirst(_ context: NSManagedObjectContext) throws {
        var people: [NSManagedObject] = []
        var notes: [NSManagedObject] = []
        var tasks: [NSManagedObject] = []
        var stored: [NSManagedObject] = []
        try save(context, "importer", named: "first") {
            stored = things.map { context.insert("Thing", $0) }
            let teams = ["red", "blue"].map { context.insert("Team", ["title": $0]) }
            for index in 0..<20 {
                let person = context.insert("Person", ["name": name(index), "code": "c\(index)", "age": age(index)])
                if index % 3 < 2 { person.setValue(teams[index % 3], forKey: "team") }
                people.append(person)
            }
            for index in 0..<2 {
                _ = context.insert(
                    "Pilot", ["name": "pilot \(index)", "code": "p\(index)", "licence": "L\(index)", "team": teams[1]])
            }
            for index in stride(from: 0, to: 20, by: 2) {
                people[index].setValue(NSSet(object: people[index + 1]), forKey: "friends")
            }
            tasks = ["a", "b", "c", "d"].map { context.insert("Task", ["text": $0]) }
            people[0].setValue(NSOrderedSet(array: Array(tasks.prefix(3))), forKey: "tasks")
            let projects = ["one", "two"].map { context.insert("Project", ["code": $0]) }
            teams[0].setValue(NSOrderedSet(array: [projects[1], projects[0]]), forKey: "projects")
            teams[1].setValue(NSOrderedSet(array: [projects[0]]), forKey: "projects")
            notes = (0..<30).map { context.insert("Note", ["text": "note \($0)"]) }
        }
        try save(context, "editor") {
            people[0].setValue("zero", forKey: "name")
            people[0].setValue(NSOrderedSet(array: [tasks[2], tasks[3], tasks[0], tasks[1]]), forKey: "tasks")
            people[1].setValue(people[0].value(forKey: "team"), forKey: "team")
            stored[0].setValue(Int32(71_000), forKey: "int32")
        }
        try save(context, nil) {
            context.delete(people[2])
            for note in notes.dropFirst() { context.delete(note) }
        }
        guard let coordinator = context.persistentStoreCoordinator, let store = coordinator.persistentStores.first
        else { throw CocoaError(.coreData) }
        try coordinator.compact(store)
        store.metadata["purpose"] = "kept"
        store.metadata["list"] = [1, 2]
        try save(context, "after") { people[3].setValue(Int16(50), forKey: "age") }
    }
}
