import Foundation
import Testing

@testable import Strata

@Suite struct ModelImmutabilityTests {
    private func used() -> ZooModel {
        let zoo = ZooModel()
        zoo.model.freeze()
        return zoo
    }

    @Test func aUsedModelCantGetEntities() async {
        await #expect(processExitsWith: .failure) {
            let zoo = ZooModel()
            zoo.model.freeze()
            zoo.model.entities = []
        }
    }

    @Test func aUsedEntityCantBeRenamed() async {
        await #expect(processExitsWith: .failure) {
            let zoo = ZooModel()
            zoo.model.freeze()
            zoo.person.name = "Human"
        }
    }

    @Test func aUsedPropertyCantChange() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let zoo = ZooModel()
            zoo.model.freeze()
            zoo.name.isOptional = false
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Can't modify an immutable model"))
        #expect(text.contains("'name'"))
    }

    @Test func aUsedIndexCantChange() async {
        await #expect(processExitsWith: .failure) {
            let zoo = ZooModel()
            let element = NSFetchIndexElementDescription(property: zoo.name, collationType: .binary)
            zoo.animal.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
            zoo.model.freeze()
            element.isAscending = false
        }
    }

    @Test func elementsOfAUsedCompositeCantChange() async {
        await #expect(processExitsWith: .failure) {
            let zoo = ZooModel()
            let (outer, inner) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
            let street = ZooModel.attribute("street", .string)
            (outer.name, inner.name) = ("home", "address")
            inner.elements = [street]
            outer.elements = [inner]
            zoo.person.properties.append(outer)
            zoo.model.freeze()
            street.name = "road"
        }
    }

    @Test func aContradictoryModelCantBeUsed() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let zoo = ZooModel()
            zoo.pets.inverseRelationship = nil
            zoo.model.freeze()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("the inverse of relationship 'Animal.owner' has another inverse"))
    }

    @Test func aPropertyBelongsToOneEntity() async {
        await #expect(processExitsWith: .failure) {
            let zoo = ZooModel()
            zoo.person.properties.append(zoo.name)
        }
    }

    @Test func anEntityCantInheritFromItself() async {
        await #expect(processExitsWith: .failure) {
            let zoo = ZooModel()
            zoo.dog.subentities = [zoo.animal]
        }
    }

    @Test func userInfoIsEmptyAndMayChangeInUse() throws {
        let zoo = used()
        let hash = zoo.person.versionHash
        #expect(zoo.person.userInfo?.isEmpty == true)
        #expect(zoo.person.properties.allSatisfy { $0.userInfo?.isEmpty == true })
        let index = NSFetchIndexDescription(name: "index", elements: nil)
        #expect(NSEntityDescription().userInfo?.isEmpty == true && index.entity == nil)
        zoo.person.userInfo = ["a": 1]
        zoo.name.userInfo = ["b": 2]
        zoo.pets.userInfo?["c"] = 3
        #expect(zoo.person.userInfo?["a"] as? Int == 1 && zoo.name.userInfo?["b"] as? Int == 2)
        #expect(zoo.pets.userInfo?["c"] as? Int == 3 && zoo.person.versionHash == hash)
    }

    @Test func aCopyCanChange() throws {
        let zoo = used()
        let copy = try #require(zoo.model.copy() as? NSManagedObjectModel)
        let dog = try #require(copy.entitiesByName["Dog"])
        #expect(dog !== zoo.dog)
        #expect(dog.superentity === copy.entitiesByName["Animal"])
        let owner = try #require(dog.relationshipsByName["owner"])
        #expect(owner.destinationEntity === copy.entitiesByName["Person"])
        #expect(owner.inverseRelationship === copy.entitiesByName["Person"]?.relationshipsByName["pets"])
        dog.name = "Wolf"
        #expect(copy != zoo.model)
        #expect(zoo.dog.name == "Dog")
        #expect(copy.problems().isEmpty)
    }

    @Test func usingAModelTwiceIsFine() {
        let zoo = used()
        let hash = zoo.dog.versionHash
        zoo.model.freeze()
        #expect(zoo.dog.versionHash == hash)
    }
}
