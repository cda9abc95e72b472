import CoreData
import Foundation
import Testing

/// Mappings are equal by what they say, as in Core Data, so that programs can compare those they expect and have.
@Suite struct MappingEqualityTests {
    private func property(_ name: String, _ path: String?) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = path.map { NSExpression(format: "$source.\($0)") }
        return mapping
    }

    private func entity() -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.mappingType = .transformEntityMappingType
        mapping.sourceEntityName = "Person"
        mapping.sourceEntityVersionHash = Data([1])
        mapping.destinationEntityName = "Human"
        mapping.destinationEntityVersionHash = Data([2])
        mapping.attributeMappings = [property("name", "name"), property("age", "years")]
        mapping.relationshipMappings = [property("pets", nil)]
        mapping.userInfo = ["since": 3]
        return mapping
    }

    @Test func mappingsThatSayTheSameAreEqual() {
        let (one, other) = (NSMappingModel(), NSMappingModel())
        one.entityMappings = [entity()]
        other.entityMappings = [entity()]
        #expect(one == other && one.hash == other.hash)
        #expect(one.entityMappings == other.entityMappings && Set(one.entityMappings + other.entityMappings).count == 1)
        #expect(NSMappingModel() == NSMappingModel() && one != NSMappingModel())
        #expect(NSEntityMapping() == NSEntityMapping() && NSPropertyMapping() == NSPropertyMapping())
    }

    @Test func mappingsThatSayOtherThingsAreNot() {
        let changes: [(NSEntityMapping) -> Void] = [
            { $0.name = "Other" }, { $0.mappingType = .copyEntityMappingType }, { $0.sourceEntityName = "Nobody" },
            { $0.sourceEntityVersionHash = nil }, { $0.destinationEntityName = nil },
            { $0.destinationEntityVersionHash = Data() }, { $0.attributeMappings?.reverse() },
            { $0.attributeMappings?[0].name = "title" }, { $0.attributeMappings?[1].valueExpression = nil },
            { $0.relationshipMappings = nil }, { $0.sourceExpression = NSExpression(forConstantValue: 1) },
            { $0.userInfo = ["since": 4] }, { $0.relationshipMappings?[0].userInfo = ["x": "y"] },
            { $0.entityMigrationPolicyClassName = "Policy" },
        ]
        for (index, change) in changes.enumerated() {
            let changed = entity()
            change(changed)
            #expect(changed != entity() && entity() == entity(), "change \(index)")
        }
    }

    @Test func aMappingWithoutANameIsCalledByItsEntities() {
        #expect(entity().name == "Person->Human")
    }
}
