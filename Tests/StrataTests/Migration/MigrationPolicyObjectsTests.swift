import CoreData
import Foundation
import Testing

/// Makes one maker for each name, whichever mapping needs it first.
final class MakerPolicy: NSEntityMigrationPolicy {
    /// Objects of the source that are made before it looks.
    nonisolated(unsafe) static var looksFrom = 0
    nonisolated(unsafe) static var calls = 0
    nonisolated(unsafe) static var mostRegistered = 0

    static func reset(lookingFrom first: Int) { (looksFrom, calls, mostRegistered) = (first, 0, 0) }

    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])[0]
        let context = try #require(car.managedObjectContext)
        Self.calls += 1
        guard Self.calls > Self.looksFrom else { return }
        let name = source.value(forKey: "maker") as? String
        let registered = context.registeredObjects
        Self.mostRegistered = max(Self.mostRegistered, registered.count)
        let known = registered.first {
            !$0.isFault && $0.entity.name == "Maker" && $0.value(forKey: "name") as? String == name
        }
        let maker = known ?? NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
        if known == nil { maker.setValue(name, forKey: "name") }
        car.setValue(maker, forKey: "createdBy")
    }
}

/// Has a function of its own.
final class ShoutingManager: NSMigrationManager, @unchecked Sendable {
    override func performPredicateFunction(_ name: String, arguments: [Any?]) -> Any? {
        switch name {
        case "shouted:": (arguments.first as? String)?.uppercased()
        default: super.performPredicateFunction(name, arguments: arguments)
        }
    }
}

/// What the policies and managers of a migration see of it.
@Suite(.serialized) struct MigrationPolicyObjectsTests {
    private typealias G = GraphModel

    private static func source() -> NSManagedObjectModel {
        makeModel(
            ["Car", "Bus"].map { name in
                let entity = G.entity(name)
                entity.properties = [G.attribute("maker", .stringAttributeType)]
                return entity
            })
    }

    private static func destination() -> NSManagedObjectModel {
        let maker = G.entity("Maker")
        maker.uniquenessConstraints = [["name"]]
        maker.properties = [G.attribute("name", .stringAttributeType)]
        let vehicles = ["Car", "Bus"].map { name in
            let entity = G.entity(name)
            let (toOne, toMany) = (
                G.relationship("createdBy", to: maker), G.relationship("all\(name)", to: entity, toMany: true)
            )
            G.link(toOne, toMany)
            entity.properties = [toOne, G.attribute("maker", .stringAttributeType)]
            maker.properties.append(toMany)
            return entity
        }
        return makeModel([maker] + vehicles)
    }

    private static func mapping(_ attribute: String? = nil) -> NSMappingModel {
        NSEntityMigrationPolicy.register(MakerPolicy.self)
        let model = NSMappingModel()
        model.entityMappings = ["Car", "Bus"].map { name in
            let mapping = NSEntityMapping()
            mapping.name = name
            mapping.mappingType = .customEntityMappingType
            mapping.sourceEntityName = name
            mapping.destinationEntityName = name
            mapping.entityMigrationPolicyClassName = "MakerPolicy"
            if let attribute {
                let property = NSPropertyMapping()
                property.name = "maker"
                property.valueExpression = NSExpression(format: attribute)
                mapping.attributeMappings = [property]
            }
            return mapping
        }
        return model
    }

    private static func filled(_ type: String, _ count: Int) throws -> MigratedStore {
        let store = try MigratedStore(type)
        try store.with(source()) { context throws in
            for index in 0..<count {
                _ = context.insert(index % 2 == 0 ? "Car" : "Bus", ["maker": "m\(index / 2 % 3)"])
            }
            try context.save()
        }
        return store
    }

    private static func migrate(_ store: MigratedStore, _ manager: NSMigrationManager, _ mapping: NSMappingModel) throws
    {
        let new = store.directory.appendingPathComponent("new")
        try manager.migrateStore(
            from: store.url, sourceType: store.type, options: nil, with: mapping, toDestinationURL: new,
            destinationType: store.type, destinationOptions: nil)
        try FileManager.default.removeItem(at: store.url)
        try FileManager.default.moveItem(at: new, to: store.url)
    }

    @Test(arguments: [NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType])
    func policiesFindWhatEarlierMappingsMade(_ type: String) throws {
        MakerPolicy.reset(lookingFrom: 0)
        let store = try Self.filled(type, 10)
        let manager = NSMigrationManager(sourceModel: Self.source(), destinationModel: Self.destination())
        try Self.migrate(store, manager, Self.mapping())
        #expect(MakerPolicy.mostRegistered >= 10)
        try store.with(Self.destination()) { context throws in
            #expect(try context.all("Car").count == 5 && context.all("Bus").count == 5)
            let makers = try context.all("Maker", sortedBy: "name")
            #expect(makers.map { $0.value(forKey: "name") as? String } == ["m0", "m1", "m2"])
            #expect(makers.map { $0.targets("allCar").count } == [2, 2, 1])
            #expect(makers.map { $0.targets("allBus").count } == [2, 2, 1])
        }
    }

    /// What was saved and let go in windows before comes back.
    @Test func policiesThatLookLateFindAll() throws {
        MakerPolicy.reset(lookingFrom: 4_190)
        let store = try Self.filled(NSSQLiteStoreType, 4_200)
        let manager = NSMigrationManager(sourceModel: Self.source(), destinationModel: Self.destination())
        try Self.migrate(store, manager, Self.mapping())
        #expect(MakerPolicy.mostRegistered >= 4_190)
        try store.with(Self.destination()) { context throws in
            #expect(try context.all("Maker").count == 3)
            #expect(try context.all("Bus", "createdBy != nil").count == 10)
        }
    }

    @Test func subclassesOfManagersHaveFunctionsOfTheirOwn() throws {
        let store = try Self.filled(NSSQLiteStoreType, 6)
        let manager = ShoutingManager(sourceModel: Self.source(), destinationModel: Self.destination())
        try Self.migrate(store, manager, Self.mapping("FUNCTION($manager, \"shouted:\", $source.maker)"))
        try store.with(Self.destination()) { context throws in
            #expect(Set(try context.all("Car").map { $0.value(forKey: "maker") as? String }) == ["M0", "M1", "M2"])
        }
    }

    @Test func functionsThatNobodyHasEndTheMigration() throws {
        let store = try Self.filled(NSSQLiteStoreType, 6)
        let manager = ShoutingManager(sourceModel: Self.source(), destinationModel: Self.destination())
        let mapping = Self.mapping("FUNCTION($manager, \"whispered:\", $source.maker)")
        #expect { try Self.migrate(store, manager, mapping) } throws: { error in
            (error as NSError).code == 134110 && error.localizedDescription.contains("whispered:")
        }
    }
}
