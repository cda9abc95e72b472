import CoreData
import Foundation

@testable import StrataTransfer

/// A directory that goes away with the object.
final class Scratch {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "strata-transfer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func url(_ name: String) -> URL { directory.appendingPathComponent(name) }
}

/// A model with everything that stores are made of, and its objects.
enum Company {
    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func relationship(
        _ name: String, _ destination: NSEntityDescription, maxCount: Int, isOrdered: Bool = false
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = maxCount
        relationship.isOrdered = isOrdered
        relationship.isOptional = true
        return relationship
    }

    /// Team has ordered members, who are persons: bosses and clerks, both with a level of their own. Persons have
    /// ordered projects and friends; notes are about any person.
    static func model() -> NSManagedObjectModel {
        let (team, person, boss, clerk) = (
            NSEntityDescription(), NSEntityDescription(), NSEntityDescription(), NSEntityDescription()
        )
        let (project, note) = (NSEntityDescription(), NSEntityDescription())
        for (entity, name) in zip(
            [team, person, boss, clerk, project, note], ["Team", "Person", "Boss", "Clerk", "Project", "Note"])
        {
            entity.name = name
        }
        person.isAbstract = true
        let (members, teamOf) = (
            relationship("members", person, maxCount: 0, isOrdered: true), relationship("team", team, maxCount: 1)
        )
        (members.inverseRelationship, teamOf.inverseRelationship) = (teamOf, members)
        let (projects, people) = (
            relationship("projects", project, maxCount: 0, isOrdered: true), relationship("people", person, maxCount: 0)
        )
        (projects.inverseRelationship, people.inverseRelationship) = (people, projects)
        let friends = relationship("friends", person, maxCount: 0)
        friends.inverseRelationship = friends
        let (notes, about) = (
            relationship("notes", note, maxCount: 0), relationship("about", person, maxCount: 1)
        )
        (notes.inverseRelationship, about.inverseRelationship) = (about, notes)
        let photo = attribute("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        team.properties = [attribute("title", .stringAttributeType), members]
        person.properties = [
            attribute("name", .stringAttributeType), attribute("age", .integer16AttributeType),
            attribute("steps", .integer32AttributeType), attribute("count", .integer64AttributeType),
            attribute("height", .floatAttributeType), attribute("weight", .doubleAttributeType),
            attribute("pay", .decimalAttributeType), attribute("born", .dateAttributeType),
            attribute("isActive", .booleanAttributeType), attribute("id", .UUIDAttributeType),
            attribute("page", .URIAttributeType), photo, attribute("tags", .transformableAttributeType),
            teamOf, projects, friends, notes,
        ]
        boss.properties = [attribute("level", .integer16AttributeType)]
        clerk.properties = [attribute("level", .stringAttributeType)]
        person.subentities = [boss, clerk]
        project.properties = [attribute("title", .stringAttributeType), people]
        note.properties = [attribute("text", .stringAttributeType), about]
        let model = NSManagedObjectModel()
        model.entities = [team, person, boss, clerk, project, note]
        return model
    }

    /// A store with objects of all kinds.
    static func makeStore(_ url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        store.metadata = (store.metadata ?? [:]).merging(["owner": "tests"]) { _, new in new }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try fill(context) }
        try coordinator.remove(store)
    }

    private static func fill(_ context: NSManagedObjectContext) throws {
        func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
        let team = insert("Team", ["title": "comma, \"quote\"\nline"])
        _ = insert("Team", ["title": ""])
        _ = insert("Team", [:])
        let boss = insert(
            "Boss",
            [
                "name": "Ünal", "age": Int16.min, "steps": Int32.max, "count": Int64.max, "height": Float(1.7),
                "weight": 0.1 + 0.2, "pay": NSDecimalNumber(string: "12345678901234.56"),
                "born": Date(timeIntervalSinceReferenceDate: 1234.56789012), "isActive": true,
                "id": UUID(uuidString: "C4637490-BD7F-4428-B093-63A1720E17D2") ?? UUID(),
                "page": URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/"),
                "photo": Data([1, 2, 0, 255]), "level": 7, "team": team,
            ])
        var clerks: [NSManagedObject] = []
        for index in 0..<5 {
            clerks.append(
                insert(
                    "Clerk",
                    [
                        "name": "clerk \(index)", "born": Date(timeIntervalSinceReferenceDate: Double(index)),
                        "level": "L\(index)", "photo": Data(repeating: UInt8(index), count: 70_000),
                    ]))
        }
        let ordered = NSMutableOrderedSet(array: [clerks[3], boss, clerks[0], clerks[4]])
        team.setValue(ordered, forKey: "members")
        let projects = (0..<3).map { insert("Project", ["title": "p\($0)"]) }
        boss.setValue(NSOrderedSet(array: [projects[2], projects[0]]), forKey: "projects")
        clerks[1].setValue(NSOrderedSet(array: [projects[0], projects[1], projects[2]]), forKey: "projects")
        boss.setValue(Set([clerks[0], clerks[2]]), forKey: "friends")
        clerks[2].mutableSetValue(forKey: "friends").add(clerks[3])
        _ = insert("Note", ["text": "about the boss", "about": boss])
        _ = insert("Note", ["text": "about a clerk", "about": clerks[4]])
        try context.save()
        // Keys that are not there any more.
        context.delete(clerks[1])
        try context.save()
    }
}

extension TextTransfer {
    /// Everything in a store, as text.
    static func text(of store: URL, in scratch: Scratch) throws -> String {
        let file = scratch.url("\(UUID().uuidString).jsonl")
        _ = try TextTransfer().writeJSONLines(store, to: file.path)
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// As above, without the first line and the last one.
    static func lines(of store: URL, in scratch: Scratch) throws -> [String] {
        try text(of: store, in: scratch).split(separator: "\n").dropFirst().dropLast().map(String.init)
    }
}

extension SQLiteStatement {
    /// What a row has in a column, as a text.
    func shown(_ column: Int) -> String {
        switch type(column) {
        case .integer: integer(column).map { "\($0)" } ?? ""
        case .real: double(column).map { "\($0)" } ?? ""
        case .text: string(column) ?? "broken text"
        case .blob: blob(column).map { String(decoding: $0, as: UTF8.self) } ?? ""
        case .null: "NULL"
        }
    }
}
