import Foundation
import Testing

@testable import Strata

@Suite struct ModelEncodingTests {
    @Test(arguments: UInt64(1)...150)
    func randomModelsSurviveTheRoundTrip(seed: UInt64) throws {
        var generator = ModelGenerator(seed: seed)
        let model = generator.model()
        try #require(model.problems().isEmpty, "seed \(seed)")
        let bytes = try model.encoded()
        let read = try NSManagedObjectModel(encoded: bytes)
        #expect(read == model, "seed \(seed)")
        #expect(try read.encoded() == bytes, "seed \(seed)")
        #expect(read.entityVersionHashesByName == model.entityVersionHashesByName, "seed \(seed)")
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy == model, "seed \(seed)")
    }

    @Test(arguments: ModelShapeFixtures.all.indices)
    func modelsFromTheWildSurviveTheRoundTrip(index: Int) throws {
        let model = ModelShapeParser.model(ModelShapeFixtures.all[index])
        #expect(model.problems().isEmpty)
        let bytes = try model.encoded()
        let read = try NSManagedObjectModel(encoded: bytes)
        #expect(read == model)
        #expect(try read.encoded() == bytes)
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy == model)
        read.freeze()
        #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
    }

    @Test func orderDoesNotChangeTheBytes() throws {
        let one = ZooModel()
        let other = ZooModel()
        other.model.entities.reverse()
        other.animal.properties.reverse()
        other.animal.subentities.reverse()
        #expect(try one.model.encoded() == other.model.encoded())
        #expect(one.model == other.model)
    }

    @Test func valuesKeepTheirTypes() throws {
        let zoo = ZooModel()
        let info: [AnyHashable: Any] = [
            "bool": true, "int": -5, "big": UInt64.max, "double": 0.1, "float": Float(0.1),
            "decimal": NSDecimalNumber(string: "-12345678901234567890.123456789"), "text": "Größe",
            "date": Date(timeIntervalSinceReferenceDate: -1.5), "data": Data([0, 255]), "null": NSNull(),
            "uuid": UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") as Any,
            "url": URL(string: "https://example.org/a?b=c") as Any, "list": [1, ["two": 2]] as [Any],
            "not a number": NSDecimalNumber.notANumber,
        ]
        zoo.person.userInfo = info
        let read = try NSManagedObjectModel(encoded: try zoo.model.encoded())
        let back = try #require(read.entitiesByName["Person"]?.userInfo)
        #expect(back["bool"] as? Bool == true)
        #expect(back["int"] as? Int == -5)
        #expect(back["big"] as? UInt64 == UInt64.max)
        #expect(back["double"] as? Double == 0.1)
        #expect(back["float"] as? Float == Float(0.1))
        #expect(back["decimal"] as? NSDecimalNumber == NSDecimalNumber(string: "-12345678901234567890.123456789"))
        #expect((back["not a number"] as? NSDecimalNumber)?.decimalValue.isNaN == true)
        #expect(NSDictionary(dictionary: back) == NSDictionary(dictionary: info))
    }

    @Test func defaultsOfTransformableAttributesGoThroughTheTransformer() throws {
        let zoo = ZooModel()
        let attribute = ZooModel.attribute("colour", .transformable)
        attribute.valueTransformerName = "ModelEncodingTests.colour"
        attribute.defaultValue = Colour(red: 7)
        zoo.person.properties.append(attribute)
        #expect(throws: ModelError.self) { try zoo.model.encoded() }
        ValueTransformer.setValueTransformer(
            ColourTransformer(), forName: NSValueTransformerName("ModelEncodingTests.colour"))
        let read = try NSManagedObjectModel(encoded: try zoo.model.encoded())
        let back = read.entitiesByName["Person"]?.attributesByName["colour"]?.defaultValue
        #expect((back as? Colour)?.red == 7)
    }

    @Test func whatHasNoEncodingIsRefused() {
        let block = ZooModel()
        block.name.setValidationPredicates([NSPredicate(block: { _, _ in true })], withValidationWarnings: nil)
        #expect(throws: ModelError.self) { try block.model.encoded() }
        let object = ZooModel()
        object.person.userInfo = ["a": Colour(red: 1)]
        #expect(throws: ModelError.self) { try object.model.encoded() }
        #expect(object.model == object.model.copy() as? NSManagedObjectModel)
        let key = ZooModel()
        key.person.userInfo = [[1, 2]: "a list as a key"]
        #expect(throws: ModelError.self) { try key.model.encoded() }
        let expression = ZooModel()
        let derived = NSDerivedAttributeDescription()
        derived.name = "sum"
        derived.type = .integer64
        derived.derivationExpression = NSExpression(block: { _, _, _ in 1 }, arguments: nil)
        expression.person.properties.append(derived)
        #expect(throws: ModelError.self) { try expression.model.encoded() }
    }

    @Test(arguments: [0, 1])
    func valuesNestToALimit(extra: Int) throws {
        let zoo = ZooModel()
        var value: Any = 1
        // One level is the user info itself.
        for _ in 0..<ModelEncoding.maximumValueDepth - 1 + extra { value = [value] }
        zoo.person.userInfo = ["a": value]
        if extra == 0 {
            #expect(try NSManagedObjectModel(encoded: try zoo.model.encoded()) == zoo.model)
        } else {
            #expect(throws: ModelError.self) { try zoo.model.encoded() }
        }
    }

    @Test func predicatesKeepTheirConstants() throws {
        let constants: [Any] = [
            true, 5, -2.5, "it's \"quoted\"", Decimal(string: "1.1") as Any, Data([1, 2]), UUID(),
            Date(timeIntervalSinceReferenceDate: 5.25), URL(string: "https://example.org") as Any, [1, 2], NSNull(),
        ]
        let zoo = ZooModel()
        zoo.name.setValidationPredicates(
            constants.map { NSPredicate(format: "SELF == %@", $0) }
                + [NSPredicate(value: true), NSPredicate(value: false)]
                + [
                    NSPredicate(
                        format: "ANY pets.name LIKE[c] 'a*' AND NOT (SUBQUERY(pets, $p, $p.age > 3).@count == 2)"),
                    NSCompoundPredicate(
                        orPredicateWithSubpredicates: [NSPredicate(format: "a < b"), NSPredicate(format: "c = 1")]),
                ],
            withValidationWarnings: nil)
        let read = try NSManagedObjectModel(encoded: try zoo.model.encoded())
        #expect(read == zoo.model)
        let back = read.entitiesByName["Animal"]?.attributesByName["name"]?.validationPredicates
        #expect(back?.first?.evaluate(with: true) == true)
        #expect(back?[6].formatString == zoo.name.validationPredicates[6].formatString)
    }

    @Test func archivesHoldModels() throws {
        let zoo = ZooModel()
        let data = try NSKeyedArchiver.archivedData(withRootObject: zoo.model, requiringSecureCoding: false)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        let read = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        #expect(read as? NSManagedObjectModel == zoo.model)
    }
}

private final class Colour: NSObject {
    let red: UInt8

    init(red: UInt8) { self.red = red }
}

private final class ColourTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? { (value as? Colour).map { Data([$0.red]) } }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data)?.first.map { Colour(red: $0) }
    }
}
