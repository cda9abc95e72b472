import Foundation
import Testing

@testable import Strata
@testable import StrataSchema

/// A small model: Animal (abstract) with Dog and Cat, and Person who owns animals.
struct ZooModel {
    let model = NSManagedObjectModel()
    let animal = NSEntityDescription()
    let dog = NSEntityDescription()
    let cat = NSEntityDescription()
    let person = NSEntityDescription()
    let owner = NSRelationshipDescription()
    let pets = NSRelationshipDescription()
    let name = NSAttributeDescription()

    init() {
        animal.name = "Animal"
        animal.isAbstract = true
        dog.name = "Dog"
        cat.name = "Cat"
        person.name = "Person"
        name.name = "name"
        name.type = .string
        owner.name = "owner"
        owner.destinationEntity = person
        owner.maxCount = 1
        pets.name = "pets"
        pets.destinationEntity = animal
        pets.inverseRelationship = owner
        owner.inverseRelationship = pets
        animal.subentities = [dog, cat]
        animal.properties = [name, owner]
        dog.properties = [Self.attribute("tricks", .integer16)]
        person.properties = [Self.attribute("born", .date), pets]
        model.entities = [animal, dog, cat, person]
    }

    static func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.type = type
        return attribute
    }
}

@Suite struct ModelEntityTests {
    @Test(arguments: [false, true])
    func subentitiesInheritProperties(inUse: Bool) {
        let zoo = ZooModel()
        if inUse { zoo.model.freeze() }
        #expect(zoo.dog.properties.map(\.name) == ["name", "owner", "tricks"])
        #expect(Set(zoo.cat.propertiesByName.keys) == ["name", "owner"])
        #expect(zoo.dog.attributesByName["name"] === zoo.name)
        #expect(zoo.dog.relationshipsByName["owner"] === zoo.owner)
        #expect(zoo.dog.attributesByName["owner"] == nil)
        #expect(zoo.name.entity === zoo.animal)
        #expect(zoo.dog.superentity === zoo.animal)
        #expect(zoo.animal.subentitiesByName["Cat"] === zoo.cat)
        #expect(zoo.person.relationships(forDestination: zoo.animal) == [zoo.pets])
        #expect(zoo.cat.relationships(forDestination: zoo.person) == [zoo.owner])
    }

    @Test(arguments: [false, true])
    func kindFollowsInheritance(inUse: Bool) {
        let zoo = ZooModel()
        if inUse { zoo.model.freeze() }
        #expect(zoo.dog.isKindOf(entity: zoo.animal))
        #expect(zoo.dog.isKindOf(entity: zoo.dog))
        #expect(!zoo.animal.isKindOf(entity: zoo.dog))
        #expect(!zoo.dog.isKindOf(entity: zoo.cat))
        #expect(!zoo.dog.isKindOf(entity: ZooModel().animal))
    }

    @Test func settingSubentitiesMovesThem() {
        let zoo = ZooModel()
        zoo.person.subentities = [zoo.cat]
        #expect(zoo.cat.superentity === zoo.person)
        #expect(zoo.animal.subentities == [zoo.dog])
        zoo.person.subentities = []
        #expect(zoo.cat.superentity == nil)
    }

    @Test func inheritedPropertiesAmongNewOnesStayInherited() {
        let zoo = ZooModel()
        zoo.dog.properties += [ZooModel.attribute("weight", .double)]
        #expect(zoo.dog.properties.map(\.name) == ["name", "owner", "tricks", "weight"])
        #expect(zoo.name.entity === zoo.animal)
    }

    @Test func aSubentityOverridesAPropertyOfTheSameType() {
        let zoo = ZooModel()
        let narrower = ZooModel.attribute("name", .string)
        narrower.isOptional = false
        zoo.dog.properties.append(narrower)
        #expect(zoo.dog.attributesByName["name"] === narrower)
        #expect(zoo.dog.properties.count == 3)
        #expect(zoo.model.problems().isEmpty)
        narrower.type = .date
        #expect(zoo.model.problems() == ["property 'name' of entity 'Dog' differs from the inherited one"])
    }

    @Test func settingAnInverseDoesNotSetTheOther() {
        let forth = NSRelationshipDescription()
        let back = NSRelationshipDescription()
        forth.inverseRelationship = back
        #expect(back.inverseRelationship == nil)
    }

    @Test func defaultsAreCoreDatas() {
        let entity = NSEntityDescription()
        #expect(entity.managedObjectClassName == "NSManagedObject")
        entity.name = "A"
        #expect(entity.renamingIdentifier == "A")
        entity.renamingIdentifier = "B"
        #expect(entity.renamingIdentifier == "B")
        entity.renamingIdentifier = nil
        #expect(entity.renamingIdentifier == "A")
        let attribute = NSAttributeDescription()
        #expect(attribute.isOptional && !attribute.isTransient)
        #expect(attribute.attributeValueClassName == nil)
        attribute.type = .decimal
        #expect(attribute.attributeType == .decimalAttributeType)
        #expect(attribute.attributeValueClassName == "NSDecimalNumber")
        let relationship = NSRelationshipDescription()
        #expect(relationship.isToMany)
        #expect(relationship.deleteRule == .nullifyDeleteRule)
        relationship.maxCount = 1
        #expect(!relationship.isToMany)
    }

    @Test func defaultValuesCastToEveryNumberType() {
        let attribute = ZooModel.attribute("count", .integer16)
        attribute.defaultValue = 5
        #expect(attribute.defaultValue as? Int16 == 5)
        #expect(attribute.defaultValue as? Int == 5)
        #expect(attribute.defaultValue as? NSNumber == 5)
        attribute.defaultValue = true
        #expect(attribute.defaultValue as? Bool == true)
        attribute.defaultValue = Decimal(string: "1.25")
        #expect(attribute.defaultValue as? NSDecimalNumber == NSDecimalNumber(string: "1.25"))
        attribute.defaultValue = "text"
        #expect(attribute.defaultValue as? String == "text")
        attribute.defaultValue = nil
        #expect(attribute.defaultValue == nil)
    }

    @Test func configurationsListTheirEntities() {
        let zoo = ZooModel()
        zoo.model.setEntities([zoo.person], forConfigurationName: "People")
        #expect(zoo.model.configurations == ["PF_DEFAULT_CONFIGURATION_NAME", "People"])
        #expect(zoo.model.entities(forConfigurationName: "People") == [zoo.person])
        #expect(zoo.model.entities(forConfigurationName: nil)?.count == 4)
        #expect(zoo.model.entities(forConfigurationName: "Other") == nil)
        zoo.model.entities = [zoo.animal, zoo.dog, zoo.cat]
        #expect(zoo.model.entities(forConfigurationName: "People") == [])
    }

    /// Clients ask the model for the entities of a store by the store's configuration. They got nil when it was the
    /// default one, and took the store to hold nothing.
    @Test func theDefaultConfigurationHasAllEntities() throws {
        let zoo = ZooModel()
        let name = "PF_DEFAULT_CONFIGURATION_NAME"
        #expect(NSManagedObjectModel().configurations.isEmpty)
        #expect(zoo.model.configurations == [name])
        #expect(zoo.model.entities(forConfigurationName: name) == zoo.model.entities)
        let copy = try #require(zoo.model.copy() as? NSManagedObjectModel)
        copy.entities.removeLast()
        #expect(copy.configurations == [name])
        #expect(copy.entities(forConfigurationName: name) == copy.entities)
        #expect(NSManagedObjectModel(byMerging: [zoo.model])?.entities(forConfigurationName: name)?.count == 4)
    }

    @Test func contradictionsAreFound() {
        let zoo = ZooModel()
        #expect(zoo.model.problems().isEmpty)
        zoo.owner.inverseRelationship = nil
        #expect(zoo.model.problems() == ["the inverse of relationship 'Person.pets' has another inverse"])
        zoo.pets.inverseRelationship = nil
        zoo.pets.destinationEntity = nil
        #expect(zoo.model.problems() == ["relationship 'Person.pets' has no destination"])
        zoo.person.properties = [NSAttributeDescription(), ZooModel.attribute("a", .undefined)]
        zoo.person.uniquenessConstraints = [["missing"]]
        zoo.cat.name = "Dog"
        #expect(zoo.model.problems().count == 5)
    }

    @Test func aModelIsReleasedWithItsEntities() {
        weak var model: NSManagedObjectModel?
        weak var entity: NSEntityDescription?
        weak var property: NSPropertyDescription?
        do {
            let zoo = ZooModel()
            zoo.model.freeze()
            (model, entity, property) = (zoo.model, zoo.dog, zoo.owner)
        }
        #expect(model == nil)
        #expect(entity == nil)
        #expect(property == nil)
    }

    @Test func manyThreadsMayStartToUseAModelAtOnce() async {
        let zoo = ZooModel()
        let model = zoo.model
        let hashes = await withTaskGroup(of: [String: Data].self) { group in
            for _ in 0..<16 {
                group.addTask {
                    model.freeze()
                    return model.entityVersionHashesByName
                }
            }
            return await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(hashes.count == 1)
    }
}
