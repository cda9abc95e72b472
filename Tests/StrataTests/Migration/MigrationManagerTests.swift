import CoreData
import Foundation
import Testing

/// Splits a name, and counts its steps.
final class SplittingPolicy: NSEntityMigrationPolicy {
    nonisolated(unsafe) static var steps: [String] = []

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        Self.steps.append("begin")
        manager.userInfo = ["suffix": "!"]
    }
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        if Self.steps.last != "create" { Self.steps.append("create") }
        let parts = (source.text("name") ?? "").split(separator: " ").map(String.init)
        for part in parts {
            let entity = try #require(manager.destinationEntity(for: mapping))
            let object = NSManagedObject(entity: entity, insertInto: manager.destinationContext)
            object.setValue(part + (manager.userInfo?["suffix"] as? String ?? ""), forKey: "text")
            manager.associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
        }
    }
    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        Self.steps.append("endInstances")
    }
    override func createRelationships(
        forDestination destination: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        if Self.steps.last != "relate" { Self.steps.append("relate") }
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [destination])
        let source = try #require(sources.first)
        let owner = source.value(forKey: "owner") as? NSManagedObject
        let owners = manager.destinationInstances(
            forEntityMappingName: "Owners", sourceInstances: owner.map { [$0] } ?? [])
        destination.setValue(owners.first, forKey: "owner")
    }
    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        Self.steps.append("endRelationships")
    }
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        Self.steps.append("validate")
    }
    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { Self.steps.append("end") }
}

@Suite(.serialized) struct MigrationManagerTests {
    private typealias G = GraphModel

    private static func source() -> NSManagedObjectModel {
        let owner = G.entity("Owner")
        let item = G.entity("Item")
        let items = G.relationship("items", to: item, toMany: true)
        let ownerOf = G.relationship("owner", to: owner)
        G.link(items, ownerOf)
        owner.properties = [
            G.attribute("name", .stringAttributeType), G.attribute("age", .integer16AttributeType), items,
        ]
        item.properties = [G.attribute("name", .stringAttributeType), ownerOf]
        return makeModel([owner, item])
    }

    private static func destination() -> NSManagedObjectModel {
        let owner = G.entity("Person")
        let word = G.entity("Word")
        let words = G.relationship("words", to: word, toMany: true)
        let ownerOf = G.relationship("owner", to: owner, optional: false)
        G.link(words, ownerOf)
        owner.properties = [
            G.attribute("label", .stringAttributeType), G.attribute("years", .stringAttributeType),
            G.attribute("kind", .stringAttributeType, default: "person"), words,
        ]
        word.properties = [G.attribute("text", .stringAttributeType, optional: false), ownerOf]
        return makeModel([owner, word])
    }

    private static func property(_ name: String, _ format: String) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = NSExpression(format: format)
        return mapping
    }

    private static func mapping() -> NSMappingModel {
        NSEntityMigrationPolicy.register(SplittingPolicy.self)
        let owners = NSEntityMapping()
        owners.name = "Owners"
        owners.mappingType = .transformEntityMappingType
        owners.sourceEntityName = "Owner"
        owners.destinationEntityName = "Person"
        owners.attributeMappings = [
            property("label", "$source.name"), property("years", "CAST($source.age, 'NSString')"),
        ]
        let items = NSEntityMapping()
        items.name = "Items"
        items.mappingType = .customEntityMappingType
        items.sourceEntityName = "Item"
        items.destinationEntityName = "Word"
        items.entityMigrationPolicyClassName = "SplittingPolicy"
        let model = NSMappingModel()
        model.entityMappings = [owners, items]
        return model
    }

    private static func filled(_ count: Int) throws -> MigratedStore {
        let store = try MigratedStore()
        try store.with(source()) { context throws in
            var owner: NSManagedObject?
            for index in 0..<count {
                if index % 10 == 0 { owner = context.insert("Owner", ["name": "o\(index)", "age": index % 90]) }
                context.insert("Item", ["name": "w\(index) v\(index)"]).setValue(owner, forKey: "owner")
            }
            try context.save()
        }
        return store
    }

    @Test func policiesExpressionsAndAssociationsMakeTheDestination() throws {
        let store = try Self.filled(5_000)
        let url = store.directory.appendingPathComponent("new")
        SplittingPolicy.steps = []
        let manager = NSMigrationManager(sourceModel: Self.source(), destinationModel: Self.destination())
        try manager.migrateStore(
            from: store.url, sourceType: NSSQLiteStoreType, with: Self.mapping(), toDestinationURL: url,
            destinationType: NSSQLiteStoreType)
        #expect(manager.migrationProgress == 1)
        let expected = [
            "begin", "create", "endInstances", "relate", "endRelationships", "validate", "end",
        ]
        #expect(SplittingPolicy.steps == expected)
        let beside = try FileManager.default.contentsOfDirectory(atPath: store.directory.path)
        #expect(Set(beside).isSuperset(of: ["new", "new-wal", "new-shm"]))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.destination())
        let new = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            #expect(try context.all("Person").count == 500)
            #expect(try context.all("Word").count == 10_000)
            let person = try #require(context.all("Person", "label == 'o120'").first)
            #expect(person.text("years") == "30")
            #expect(person.text("kind") == "person")
            let words = Set(
                (person.value(forKey: "words") as? Set<NSManagedObject> ?? []).compactMap { $0.text("text") })
            #expect(words == Set((120..<130).flatMap { ["w\($0)!", "v\($0)!"] }))
            #expect(try context.all("Word", "owner == nil").isEmpty)
        }
        try coordinator.remove(new)
    }

    /// Objects were checked as faults, of which nothing is known: what the new model forbids came into its store.
    @Test(arguments: [NSSQLiteStoreType, NSBinaryStoreType])
    func whatTheNewModelForbidsEndsTheMigration(_ type: String) throws {
        let store = try Self.filled(20)
        let mapping = Self.mapping()
        mapping.entityMappings[1].entityMigrationPolicyClassName = nil
        let url = store.directory.appendingPathComponent("new")
        let manager = NSMigrationManager(sourceModel: Self.source(), destinationModel: Self.destination())
        // Words have neither text nor owner.
        let error = #expect(throws: CocoaError.self) {
            try manager.migrateStore(
                from: store.url, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: url,
                destinationType: type)
        }
        #expect(error?.code.rawValue == NSValidationMultipleErrorsError)
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func aMappingModelSurvivesItsFile() throws {
        let store = try MigratedStore()
        let url = store.directory.appendingPathComponent("map.cdm")
        let inferred = try NSMappingModel.inferredMappingModel(
            forSourceModel: LightMigrationTests.people(),
            destinationModel: LightMigrationTests.people { $0.properties.removeLast() })
        try inferred.write(to: url)
        let read = try #require(NSMappingModel(contentsOf: url))
        #expect(read.entityMappings.map(\.name) == ["IEM_Transform_Person"])
        let attributes = try #require(read.entityMappings[0].attributeMappings)
        #expect(attributes.map(\.name) == ["age", "name"])
        #expect(attributes.map { $0.valueExpression?.description } == ["$source.age", "$source.name"])
        #expect(NSMappingModel(contentsOf: store.directory.appendingPathComponent("none")) == nil)
        #expect(read.entityMappings[0].userInfo?["mappedProperties"] as? [String] == ["age", "name"])
    }

    @Test func anInferredMappingNamesWhatIsCopiedNewAndGone() throws {
        let newer = LightMigrationTests.people { person in
            person.properties[0].name = "label"
            person.properties[0].renamingIdentifier = "name"
            person.properties[2] = GraphModel.attribute("rank", .integer32AttributeType)
        }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: LightMigrationTests.people(), destinationModel: newer)
        let info = try #require(mapping.entityMappings.first?.userInfo)
        #expect(info["mappedProperties"] as? Set<String> == ["label", "age"])
        #expect(info["addedProperties"] as? Set<String> == ["rank"])
        #expect(info["removedProperties"] as? Set<String> == ["score"])
    }

    /// How programs show a migration's progress.
    private final class Following: NSMigrationManager, @unchecked Sendable {
        // Unchecked: used by the migration's thread.
        let progress = Progress(totalUnitCount: 100)
        var seen: [Float] = []
        var mappings: [String] = []

        override func didChangeValue(forKey key: String) {
            super.didChangeValue(forKey: key)
            if key == "migrationProgress" { seen.append(migrationProgress) }
            if key == "currentEntityMapping" { mappings.append(currentEntityMapping.name) }
        }
    }

    @Test func aSubclassFollowsTheProgress() throws {
        let store = try Self.filled(100)
        let manager = Following(sourceModel: Self.source(), destinationModel: Self.destination())
        try manager.migrateStore(
            from: store.url, sourceType: NSSQLiteStoreType, with: Self.mapping(),
            toDestinationURL: store.directory.appendingPathComponent("new"), destinationType: NSSQLiteStoreType)
        #expect(manager.seen.count > 2 && manager.seen == manager.seen.sorted() && manager.seen.last == 1)
        #expect(Set(manager.mappings) == Set(Self.mapping().entityMappings.compactMap(\.name)))
    }

    @Test func aCancelledMigrationLeavesNoDestination() throws {
        struct Stop: Error {}
        let store = try Self.filled(100)
        let url = store.directory.appendingPathComponent("new")
        let manager = NSMigrationManager(sourceModel: Self.source(), destinationModel: Self.destination())
        manager.cancelMigrationWithError(Stop())
        #expect(throws: Stop.self) {
            try manager.migrateStore(
                from: store.url, sourceType: NSSQLiteStoreType, with: Self.mapping(), toDestinationURL: url,
                destinationType: NSSQLiteStoreType)
        }
        #expect(!FileManager.default.fileExists(atPath: url.path))
        manager.reset()
        manager.overallProgress.cancel()
        #expect {
            try manager.migrateStore(
                from: store.url, sourceType: NSSQLiteStoreType, with: Self.mapping(), toDestinationURL: url,
                destinationType: NSSQLiteStoreType)
        } throws: { ($0 as NSError).code == NSMigrationCancelledError }
    }

    @Test func whatCannotBeginSaysWhy() throws {
        let store = try Self.filled(10)
        let manager = NSMigrationManager(sourceModel: Self.destination(), destinationModel: Self.source())
        let url = store.directory.appendingPathComponent("new")
        func code(_ mapping: NSMappingModel, to url: URL) -> Int? {
            do {
                try manager.migrateStore(
                    from: store.url, sourceType: NSSQLiteStoreType, with: mapping, toDestinationURL: url,
                    destinationType: NSSQLiteStoreType)
                return nil
            } catch { return (error as NSError).code }
        }
        #expect(code(NSMappingModel(), to: url) == NSMigrationManagerSourceStoreError)
        let unknown = Self.mapping()
        unknown.entityMappings[0].entityMigrationPolicyClassName = "NoSuchPolicy"
        let right = NSMigrationManager(sourceModel: Self.source(), destinationModel: Self.destination())
        #expect {
            try right.migrateStore(
                from: store.url, sourceType: NSSQLiteStoreType, with: unknown, toDestinationURL: url,
                destinationType: NSSQLiteStoreType)
        } throws: { ($0 as NSError).code == NSEntityMigrationPolicyError }
        #expect {
            try right.migrateStore(
                from: store.url, sourceType: NSSQLiteStoreType, with: Self.mapping(), toDestinationURL: store.url,
                destinationType: NSSQLiteStoreType)
        } throws: { ($0 as NSError).code == NSMigrationManagerDestinationStoreError }
    }
}
