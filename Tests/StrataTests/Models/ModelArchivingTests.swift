import Foundation
import Testing

@testable import Strata

@Suite struct ModelArchivingTests {
    private func archived<T: NSObject & NSSecureCoding>(_ value: T) throws -> T? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: T.self, from: data)
    }

    @Test func modelsSurviveArchiving() throws {
        let zoo = ZooModel()
        let model = try #require(try archived(zoo.model))
        #expect(model == zoo.model && model !== zoo.model)
        #expect(model.entitiesByName["Dog"]?.superentity?.name == "Animal")
    }

    @Test func attributesSurviveArchiving() throws {
        let attribute = ZooModel.attribute("age", .integer16)
        attribute.defaultValue = 7
        attribute.userInfo = ["key": "value"]
        attribute.isOptional = false
        attribute.setValidationPredicates([NSPredicate(format: "SELF > 3")], withValidationWarnings: ["too small"])
        let read = try #require(try archived(attribute))
        #expect(read == attribute && read !== attribute)
        #expect(read.defaultValue as? Int == 7 && read.validationWarnings as? [String] == ["too small"])
    }

    @Test func otherPropertiesSurviveArchiving() throws {
        let derived = NSDerivedAttributeDescription()
        (derived.name, derived.type) = ("total", .double)
        derived.derivationExpression = NSExpression(forKeyPath: "items.@count")
        #expect(try archived(derived) == derived)
        let composite = NSCompositeAttributeDescription()
        composite.name = "address"
        composite.elements = [ZooModel.attribute("street", .string), ZooModel.attribute("number", .integer32)]
        #expect(try archived(composite) == composite)
        let expression = NSExpressionDescription()
        (expression.name, expression.resultType) = ("sum", .integer64)
        expression.expression = NSExpression(forKeyPath: "age")
        #expect(try archived(expression) == expression)
        let relationship = NSRelationshipDescription()
        (relationship.name, relationship.maxCount, relationship.deleteRule) = ("owner", 1, .denyDeleteRule)
        #expect(try archived(relationship) == relationship)
    }

    @Test func aRelationshipLosesItsDestination() throws {
        let zoo = ZooModel()
        let read = try #require(try archived(zoo.pets))
        #expect(read.destinationEntity == nil && read.inverseRelationship == nil && read.name == "pets")
    }

    @Test func entitiesAndIndexesSurviveArchiving() throws {
        let entity = NSEntityDescription()
        (entity.name, entity.managedObjectClassName, entity.isAbstract) = ("Thing", "Module.Thing", true)
        let name = ZooModel.attribute("name", .string)
        entity.properties = [name, ZooModel.attribute("age", .integer16)]
        entity.uniquenessConstraints = [["name"]]
        let element = NSFetchIndexElementDescription(property: name, collationType: .rTree)
        element.isAscending = false
        let index = NSFetchIndexDescription(name: "byName", elements: [element])
        index.partialIndexPredicate = NSPredicate(format: "age > 3")
        entity.indexes = [index]
        let read = try #require(try archived(entity))
        #expect(read == entity && read.managedObjectClassName == "Module.Thing")
        #expect(read.indexes.first?.elements.first?.property === read.propertiesByName["name"])
        #expect(try archived(index) == index)
        let readElement = try #require(try archived(element))
        #expect(readElement == element && readElement.propertyName == "name")
    }

    @Test func whatHasNoEncodingFails() async {
        await #expect(processExitsWith: .failure) {
            let attribute = ZooModel.attribute("age", .integer16)
            attribute.setValidationPredicates([NSPredicate { _, _ in true }], withValidationWarnings: nil)
            _ = try NSKeyedArchiver.archivedData(withRootObject: attribute, requiringSecureCoding: true)
        }
    }

    @Test func damagedDescriptionsAreRefused() throws {
        let zoo = ZooModel()
        var writer = ModelWriter(mode: .storing)
        try writer.write(entity: zoo.person)
        let bytes = writer.payload
        for index in bytes.indices {
            for change: UInt8 in [0x01, 0x55, 0xff] {
                var damaged = bytes
                damaged[index] ^= change
                var reader = ModelReader(damaged)
                // Whatever comes of it, it does not trap.
                _ = try? reader.readAlone { try $0.readLoneEntity() }
            }
            var reader = ModelReader(Array(bytes[..<index]))
            #expect(throws: ModelError.self) { try reader.readAlone { try $0.readLoneEntity() } }
        }
    }

    @Test func modelsAndEntitiesCanBeGoneThrough() {
        let zoo = ZooModel()
        #expect(Set(zoo.model.map { $0.name ?? "" }) == ["Animal", "Dog", "Cat", "Person"])
        #expect(zoo.dog.map(\.name) == ["name", "owner", "tricks"])
    }
}
