import CoreData
import Foundation
import Testing

/// Says how old somebody will be.
final class BirthdayPolicy: NSEntityMigrationPolicy {
    override func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any? {
        switch (name, arguments.first) {
        case ("next:", let age as NSNumber): "\(age.intValue + 1)"
        case ("next:", _): "unknown"
        default: super.performPredicateFunction(name, arguments: arguments)
        }
    }
}

/// Expressions of mapping models, as Xcode writes them, at work in a migration.
@Suite struct MappingExpressionTests {
    private typealias G = GraphModel

    private static func model() -> NSManagedObjectModel {
        let person = G.entity("Person")
        let friends = G.relationship("friends", to: person, toMany: true)
        let friendOf = G.relationship("friendOf", to: person, toMany: true)
        G.link(friends, friendOf)
        person.properties = [
            G.attribute("name", .stringAttributeType), G.attribute("age", .integer16AttributeType),
            G.attribute("text", .stringAttributeType), friends, friendOf,
        ]
        return makeModel([person])
    }

    private static func property(_ name: String, _ format: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = NSExpression(format: format)
        return mapping
    }

    /// Of people of ages 0 to 29, each a friend of the next.
    private static func migrate(
        source: String? = nil, policy: String? = nil, text: String? = nil, friends: String? = nil,
        _ check: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        let store = try MigratedStore()
        try store.with(model()) { context throws in
            let all = (0..<30).map { (index: Int) in context.insert("Person", ["name": "n\(index)", "age": index]) }
            for (person, next) in zip(all, all.dropFirst()) { person.setValue(NSSet(object: next), forKey: "friends") }
            try context.save()
        }
        let mapping = NSEntityMapping()
        mapping.name = "People"
        mapping.sourceEntityName = "Person"
        mapping.destinationEntityName = "Person"
        mapping.sourceExpression = source.map { NSExpression(format: $0) }
        mapping.entityMigrationPolicyClassName = policy
        mapping.attributeMappings = [property("name", "$source.name"), property("age", "$source.age")]
        if let text { mapping.attributeMappings?.append(property("text", text)) }
        if let friends { mapping.relationshipMappings = [property("friends", friends)] }
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        let manager = NSMigrationManager(sourceModel: Self.model(), destinationModel: Self.model())
        manager.userInfo = ["suffix": "!"]
        let url = store.directory.appendingPathComponent("new")
        try manager.migrateStore(
            from: store.url, sourceType: NSSQLiteStoreType, with: model, toDestinationURL: url,
            destinationType: NSSQLiteStoreType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let new = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try check(context) }
        context.performAndWait { context.reset() }
        try coordinator.remove(new)
    }

    private static func request(_ predicate: String) -> String {
        "FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Person\", \"\(predicate)\")"
    }

    @Test func aFetchChoosesTheSourceObjects() throws {
        let source = "FETCH(\(Self.request("age >= 20")), $manager.sourceContext, NO)"
        try Self.migrate(source: source) { context throws in
            #expect(try context.all("Person").count == 10)
            #expect(try context.all("Person", "age < 20").isEmpty)
        }
    }

    @Test func valuesComeFromPoliciesAndFetches() throws {
        let next = "FUNCTION($entityPolicy, \"next:\", $source.age)"
        try Self.migrate(policy: "BirthdayPolicy", text: next) { context throws in
            #expect(try context.all("Person", "name == 'n7'").first?.text("text") == "8")
        }
        let count = "FETCH(\(Self.request("age < 12")), $manager.sourceContext, YES)"
        try Self.migrate(text: "CAST(\(count), \"NSString\")") { context throws in
            #expect(try context.all("Person").first?.text("text") == "12")
        }
        try Self.migrate(text: "$entityMapping.name") { context throws in
            #expect(try context.all("Person").first?.text("text") == "People")
        }
        try Self.migrate(text: "$manager.userInfo.suffix") { context throws in
            #expect(try context.all("Person").first?.text("text") == "!")
        }
    }

    @Test(arguments: [
        "\"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"People\"",
        "\"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"friends\"",
    ])
    func relationshipsLeadToWhatWasMadeOfTheirObjects(_ call: String) throws {
        try Self.migrate(friends: "FUNCTION($manager, \(call), $source.friends)") { context throws in
            let person = try #require(context.all("Person", "name == 'n3'").first)
            let friends = person.value(forKey: "friends") as? Set<NSManagedObject>
            #expect(friends?.compactMap { $0.text("name") } == ["n4"])
        }
    }

    @Test(arguments: [
        ("FUNCTION($entityPolicy, \"nope:\", $source.name)", 134_170, "nope:"),
        ("FUNCTION($manager, \"nope:x:\", \"a\", $source)", 134_110, "nope:x:"),
        ("FUNCTION($manager, \"nope\")", 134_110, "nope"),
        (
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"Others\", $source)",
            134_110, "no mapping Others"
        ),
        ("FETCH(\(request("age ==")), $manager.sourceContext, YES)", 134_110, "'age =='"),
    ])
    func whatAnExpressionCannotHaveEndsTheMigration(_ text: String, _ code: Int, _ what: String) throws {
        let error = #expect(throws: (any Error).self) {
            try Self.migrate(policy: "BirthdayPolicy", text: text)
        }
        let described = try #require(error) as NSError
        #expect(described.code == code)
        #expect(described.localizedDescription.contains(what), "\(described.localizedDescription)")
        #expect(described.localizedDescription.contains("People.text"))
    }

    @Test func aFilterThatIsNoPredicateMigratesNothing() throws {
        let error = #expect(throws: (any Error).self) {
            try Self.migrate(source: "FETCH(\(Self.request("age >")), $manager.sourceContext, NO)")
        }
        #expect((error as? NSError)?.localizedDescription.contains("People") == true)
    }
}
