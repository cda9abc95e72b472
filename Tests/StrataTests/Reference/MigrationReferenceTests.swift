import CoreData
import Foundation
import Testing

/// Notes its steps, and does what each is documented to be for.
final class StepPolicy: NSEntityMigrationPolicy {
    nonisolated(unsafe) static var steps: [String] = []
    nonisolated(unsafe) static var failsIn = ""
    nonisolated(unsafe) static var leavesStrangers = false
    /// The name of an object that is deleted as soon as all have been made.
    nonisolated(unsafe) static var dropped = ""

    private func step(_ name: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) throws {
        let text = "\(name) \(mapping.name ?? "")"
        if Self.steps.last != text { Self.steps.append(text) }
        #expect(manager.currentEntityMapping === mapping)
        if Self.failsIn == text { throw CocoaError(.userCancelled) }
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        try step("begin", mapping, manager)
        #expect(manager.sourceEntity(for: mapping)?.name == mapping.sourceEntityName)
        #expect(manager.destinationEntity(for: mapping)?.name == mapping.destinationEntityName)
    }
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try step("create", mapping, manager)
        #expect(source.managedObjectContext === manager.sourceContext && type(of: source) == NSManagedObject.self)
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
        #expect(made.count == 1 && type(of: made[0]) == NSManagedObject.self)
        #expect(made.first?.managedObjectContext === manager.destinationContext)
        if Self.leavesStrangers, let entity = manager.destinationEntity(for: mapping) {
            Self.leavesStrangers = false
            _ = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
        }
    }
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try step("endCreate", mapping, manager)
        guard mapping.name == "Members" else { return }
        let context = manager.destinationContext
        for object in try context.all("Member", "name == '\(Self.dropped)'") { context.delete(object) }
    }
    override func createRelationships(
        forDestination destination: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try step("relate", mapping, manager)
        #expect(!destination.isDeleted)
        try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
    }
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try step("endRelate", mapping, manager)
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try step("validate", mapping, manager)
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        try step("end", mapping, manager)
    }
}

/// What Core Data's reference says of migrations by mapping models, where no other suite says it.
@Suite(.serialized) struct MigrationReferenceTests {
    private typealias G = GraphModel

    /// Departments of people, and boxes that the new model does not have.
    private static func source() -> NSManagedObjectModel {
        let (team, member, box) = (G.entity("Team"), G.entity("Member"), G.entity("Box"))
        let members = G.relationship("members", to: member, toMany: true)
        let teamOf = G.relationship("team", to: team)
        G.link(members, teamOf)
        team.properties = [G.attribute("name", .stringAttributeType), members]
        member.properties = [
            G.attribute("name", .stringAttributeType), G.attribute("age", .integer16AttributeType), teamOf,
        ]
        box.properties = [G.attribute("name", .stringAttributeType)]
        return makeModel([team, member, box])
    }

    /// Members must have a team, which they have only after the second stage.
    private static func destination() -> NSManagedObjectModel {
        ManagedObjectClasses.register(Department.self)
        let (team, member, note) = (G.entity("Team", Department.self), G.entity("Member"), G.entity("Note"))
        let members = G.relationship("members", to: member, toMany: true)
        let teamOf = G.relationship("team", to: team, optional: false)
        G.link(members, teamOf)
        team.properties = [G.attribute("title", .stringAttributeType), members]
        member.properties = [G.attribute("name", .stringAttributeType, optional: false), teamOf]
        note.properties = [G.attribute("text", .stringAttributeType)]
        return makeModel([team, member, note])
    }

    private static func property(_ name: String, _ format: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = NSExpression(format: format)
        return mapping
    }

    private static func mapping(
        _ name: String, _ type: NSEntityMappingType, _ from: String?, _ to: String?
    )
        -> NSEntityMapping
    {
        let mapping = NSEntityMapping()
        mapping.name = name
        mapping.mappingType = type
        mapping.sourceEntityName = from
        mapping.destinationEntityName = to
        return mapping
    }

    private static func mappings() -> NSMappingModel {
        NSEntityMigrationPolicy.register(StepPolicy.self)
        let members = mapping("Members", .customEntityMappingType, "Member", "Member")
        members.entityMigrationPolicyClassName = "StepPolicy"
        members.sourceExpression = NSExpression(
            format: "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Member', "
                + "'age > 20'), $manager.sourceContext, NO)")
        members.attributeMappings = [property("name", "$source.name")]
        members.relationshipMappings = [
            property(
                "team",
                "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'Teams', $source.team)"
            )
        ]
        let teams = mapping("Teams", .customEntityMappingType, "Team", "Team")
        teams.entityMigrationPolicyClassName = "StepPolicy"
        teams.attributeMappings = [property("title", "uppercase:($source.name)")]
        let model = NSMappingModel()
        model.entityMappings = [
            members, teams, mapping("Boxes", .removeEntityMappingType, "Box", nil),
            mapping("Notes", .addEntityMappingType, nil, "Note"),
        ]
        return model
    }

    private func filled() throws -> MigratedStore {
        let store = try MigratedStore()
        try store.with(Self.source()) { context throws in
            for index in 0..<6 {
                let team = context.insert("Team", ["name": "t\(index)"])
                context.insert("Member", ["name": "m\(index)", "age": 18 + index]).setValue(team, forKey: "team")
                _ = context.insert("Box", ["name": "b\(index)"])
            }
            try context.save()
        }
        StepPolicy.steps = []
        StepPolicy.failsIn = ""
        StepPolicy.leavesStrangers = false
        StepPolicy.dropped = ""
        return store
    }

    private func migrate(_ store: MigratedStore, _ manager: NSMigrationManager) throws -> URL {
        let url = store.directory.appendingPathComponent("new")
        try manager.migrateStore(
            from: store.url, sourceType: NSSQLiteStoreType, with: Self.mappings(), toDestinationURL: url,
            destinationType: NSSQLiteStoreType)
        return url
    }

    private func manager() -> NSMigrationManager {
        NSMigrationManager(sourceModel: Self.source(), destinationModel: Self.destination())
    }

    /// Three stages, each for all mappings in their order; models whose classes are NSManagedObject and whose
    /// validation waits for the end.
    @Test func stagesGoThroughAllMappings() throws {
        let store = try filled()
        let url = try migrate(store, manager())
        #expect(
            StepPolicy.steps == [
                "begin Members", "create Members", "endCreate Members", "begin Teams", "create Teams",
                "endCreate Teams", "relate Members", "endRelate Members", "relate Teams", "endRelate Teams",
                "validate Members", "end Members", "validate Teams", "end Teams",
            ])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.destination())
        let new = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.check { () throws in
            let members = try context.all("Member", sortedBy: "name")
            #expect(members.map { $0.text("name") } == ["m3", "m4", "m5"])
            #expect(
                members.map { ($0.value(forKey: "team") as? NSManagedObject)?.text("title") } == ["T3", "T4", "T5"])
            #expect(try context.all("Team").count == 6 && context.all("Note").isEmpty)
            #expect(try context.all("Team").allSatisfy { $0 is Department })
        }
        try coordinator.remove(new)
    }

    /// "If an error occurs", whatever the step, the migration ends with it, and there is no destination.
    @Test(arguments: [
        "begin Members", "create Teams", "endCreate Members", "relate Members", "endRelate Teams", "validate Members",
        "end Teams",
    ])
    func anErrorOfAnyStepEndsTheMigration(_ step: String) throws {
        let store = try filled()
        StepPolicy.failsIn = step
        let error = #expect(throws: CocoaError.self) { try migrate(store, manager()) }
        #expect(error?.code == .userCancelled && StepPolicy.steps.last == step)
        #expect(!FileManager.default.fileExists(atPath: store.directory.appendingPathComponent("new").path))
        StepPolicy.failsIn = ""
        StepPolicy.steps = []
        _ = try migrate(store, manager())
    }

    /// What the destination's rules forbid is refused at the end, whoever made it.
    @Test func objectsThatNobodyAssociatedAreValidatedToo() throws {
        let store = try filled()
        StepPolicy.leavesStrangers = true
        #expect(throws: CocoaError.self) { try migrate(store, manager()) }
        #expect(!FileManager.default.fileExists(atPath: store.directory.appendingPathComponent("new").path))
    }

    /// What a policy has deleted is related to nothing and breaks no rule.
    @Test func objectsThatAPolicyDeletesAreGone() throws {
        let store = try filled()
        StepPolicy.dropped = "m4"
        let url = try migrate(store, manager())
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.destination())
        let new = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.check { () throws in
            #expect(try context.all("Member", sortedBy: "name").map { $0.text("name") } == ["m3", "m5"])
        }
        try coordinator.remove(new)
    }
}
