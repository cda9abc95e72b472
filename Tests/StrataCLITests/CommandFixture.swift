import CoreData
import Foundation
import Testing

/// What a run of the command gave.
struct CommandResult {
    let code: Int32
    let output: String
    let messages: String

    var json: Any? { try? JSONSerialization.jsonObject(with: Data(output.utf8)) }
    var records: [[String: Any]] { json as? [[String: Any]] ?? [] }
    /// A record; an empty one where there is none.
    func record(_ index: Int) -> [String: Any] { index < records.count ? records[index] : [:] }
    var lines: [String] { output.split(whereSeparator: \.isNewline).map(String.init) }
}

/// A store on disk with a small history, and the command to look at it.
final class CommandFixture {
    let directory: URL
    var store: URL { directory.appendingPathComponent("store") }
    private(set) var coordinator: NSPersistentStoreCoordinator?
    let model: NSManagedObjectModel

    /// - Parameter model: that of the store; people in teams if there is none.
    init(model: NSManagedObjectModel? = nil) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("strata-cli-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        self.model = model ?? Self.makeModel()
        try open()
    }

    deinit {
        close()
        try? FileManager.default.removeItem(at: directory)
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func makeModel() -> NSManagedObjectModel {
        let (team, person, boss) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (team.name, person.name, boss.name) = ("Team", "Person", "Boss")
        // A class that the command does not have.
        person.managedObjectClassName = "Elsewhere.Person"
        let (members, teamOf) = (NSRelationshipDescription(), NSRelationshipDescription())
        members.name = "members"
        members.destinationEntity = person
        members.maxCount = 0
        teamOf.name = "team"
        teamOf.destinationEntity = team
        teamOf.maxCount = 1
        (members.inverseRelationship, teamOf.inverseRelationship) = (teamOf, members)
        let name = attribute("name", .stringAttributeType)
        name.preservesValueInHistoryOnDeletion = true
        person.properties = [
            name, attribute("age", .integer16AttributeType), attribute("born", .dateAttributeType),
            attribute("photo", .binaryDataAttributeType), attribute("active", .booleanAttributeType), teamOf,
        ]
        team.properties = [attribute("title", .stringAttributeType), members]
        person.subentities = [boss]
        let model = NSManagedObjectModel()
        model.entities = [team, person, boss]
        return model
    }

    func open() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: nil)
        self.coordinator = coordinator
    }

    func close() {
        for store in coordinator?.persistentStores ?? [] { try? coordinator?.remove(store) }
        coordinator = nil
    }

    /// Saves what a closure changes.
    func save(author: String? = nil, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = author
        try context.performAndWait {
            try body(context)
            try context.save()
        }
    }

    @discardableResult
    func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func find(_ name: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    /// Three transactions: a team of two; Ann older; Bob gone and a boss there.
    func fill() throws {
        try save(author: "setup") { context in
            let team = insert("Team", ["title": "Red"], context)
            insert(
                "Person",
                [
                    "name": "Ann", "age": 30, "born": Date(timeIntervalSince1970: 0), "photo": Data([1, 2, 3]),
                    "active": true, "team": team,
                ], context)
            insert("Person", ["name": "Bob, \"the\" builder", "age": 40, "team": team], context)
        }
        try save(author: "edit") { context in try find("Ann", context).setValue(31, forKey: "age") }
        try save { context in
            context.delete(try find("Bob, \"the\" builder", context))
            insert("Boss", ["name": "Cleo", "age": 50], context)
        }
    }

    // MARK: The command

    /// The command lies beside the tests.
    static var command: URL {
        let tests =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("strata")
    }

    /// Tests that run in a shell's background ignore interrupts, which the command would inherit, and heed: those that
    /// wait for it to end by one would wait for ever.
    private static let heedsInterrupts: Void = {
        for number in [SIGINT, SIGHUP] { signal(number, SIG_DFL) }
    }()

    static func start(
        _ arguments: [String], output: URL, messages: URL, environment: [String: String] = [:]
    ) throws -> Process {
        _ = heedsInterrupts
        let process = Process()
        process.executableURL = command
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        for url in [output, messages] { _ = FileManager.default.createFile(atPath: url.path, contents: nil) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: messages)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Runs a verb on the store.
    func run(_ verb: String, _ arguments: String..., on store: URL? = nil) throws -> CommandResult {
        try run(verb, arguments, on: store)
    }

    /// As ``run(_:_:on:)-(_,String...,_)``.
    func run(
        _ verb: String, _ arguments: [String], on store: URL? = nil, environment: [String: String] = [:]
    ) throws -> CommandResult {
        let output = directory.appendingPathComponent("output-\(UUID().uuidString)")
        let messages = directory.appendingPathComponent("messages-\(UUID().uuidString)")
        let process = try Self.start(
            [verb, (store ?? self.store).path] + arguments, output: output, messages: messages,
            environment: environment)
        process.waitUntilExit()
        return CommandResult(
            code: process.terminationStatus, output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            messages: String(decoding: try Data(contentsOf: messages), as: UTF8.self))
    }
}
