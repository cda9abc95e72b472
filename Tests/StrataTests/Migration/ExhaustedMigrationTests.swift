import CoreData
import Foundation
import StrataLog
import Testing

@testable import Strata

/// Leaves a key of one entity in the new store.
final class ExhaustingPolicy: NSEntityMigrationPolicy {
    nonisolated(unsafe) static var entity = ""

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        try super.begin(mapping, with: manager)
        let store = try #require(manager.destinationContext.persistentStoreCoordinator?.persistentStores.first)
        let log = try #require(store.handle?.log)
        let number = try #require(log.schema.entities.first { $0.name == Self.entity }?.rootID)
        log.reserveKeys(root: number, through: ObjectRef.maximumKey - 2)
    }
}

/// A new store in which a migration finds no more keys for its objects.
@Suite(.serialized) struct ExhaustedMigrationTests {
    private typealias G = GraphModel

    private static func model(_ attribute: String) -> NSManagedObjectModel {
        makeModel(
            ["Car", "Bus"].map { name in
                let entity = G.entity(name)
                entity.properties = [G.attribute(attribute, .stringAttributeType)]
                return entity
            })
    }

    /// Cars are made object by object, by the policy; of buses rows are copied.
    private static func mapping() -> NSMappingModel {
        NSEntityMigrationPolicy.register(ExhaustingPolicy.self)
        let model = NSMappingModel()
        model.entityMappings = ["Car", "Bus"].map { name in
            let mapping = NSEntityMapping()
            mapping.name = name
            mapping.mappingType = .customEntityMappingType
            (mapping.sourceEntityName, mapping.destinationEntityName) = (name, name)
            if name == "Car" { mapping.entityMigrationPolicyClassName = "ExhaustingPolicy" }
            let property = NSPropertyMapping()
            property.name = "title"
            property.valueExpression = NSExpression(format: "$source.name")
            mapping.attributeMappings = [property]
            return mapping
        }
        return model
    }

    @Test(arguments: ["Car", "Bus"]) func theMigrationSaysSoAndLeavesNothing(_ entity: String) throws {
        ExhaustingPolicy.entity = entity
        let store = try MigratedStore()
        try store.with(Self.model("name")) { context throws in
            for index in 0..<10 { _ = context.insert(index % 2 == 0 ? "Car" : "Bus", ["name": "n\(index)"]) }
            try context.save()
        }
        let files = FileManager.default
        let before = try files.contentsOfDirectory(atPath: store.directory.path).sorted()
        let manager = NSMigrationManager(sourceModel: Self.model("name"), destinationModel: Self.model("title"))
        let error = #expect(throws: CocoaError.self) {
            try manager.migrateStore(
                from: store.url, sourceType: store.type, options: nil, with: Self.mapping(),
                toDestinationURL: store.directory.appendingPathComponent("new"), destinationType: store.type,
                destinationOptions: nil)
        }
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("No new object of \(entity) can be numbered"), "\(text)")
        #expect(text.contains("primary keys left"), "\(text)")
        #expect(try files.contentsOfDirectory(atPath: store.directory.path).sorted() == before)
        try store.with(Self.model("name")) { context throws in
            #expect(try context.all("Car").count == 5 && context.all("Bus").count == 5)
        }
    }
}
