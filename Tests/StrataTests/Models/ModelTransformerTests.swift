import Foundation
import Testing

@testable import Strata

@Suite struct ModelTransformerTests {
    @Test func transformersAreFoundByName() {
        let name = NSValueTransformerName("ModelTransformerTests.upper")
        #expect(ValueTransformer(forName: name) == nil)
        let upper = Upper()
        ValueTransformer.setValueTransformer(upper, forName: name)
        #expect(ValueTransformer(forName: name) === upper)
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        #expect(ValueTransformer(forName: name)?.transformedValue("ab") as? String == "AB")
        ValueTransformer.setValueTransformer(nil, forName: name)
        #expect(ValueTransformer(forName: name) == nil)
    }

    @Test func theBuiltInOnesWork() throws {
        let negate = try #require(ValueTransformer(forName: .negateBooleanTransformerName))
        #expect(negate.transformedValue(true) as? Bool == false)
        #expect(negate.reverseTransformedValue(false) as? Bool == true)
        let isNil = try #require(ValueTransformer(forName: .isNilTransformerName))
        #expect(isNil.transformedValue(nil) as? Bool == true)
        let isNotNil = try #require(ValueTransformer(forName: .isNotNilTransformerName))
        #expect(isNotNil.transformedValue(nil) as? Bool == false)
        #expect(!type(of: isNotNil).allowsReverseTransformation())
    }

    @Test func archivesOfKnownClassesAreReadSecurely() throws {
        let transformer = try #require(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName))
        let value: [String: Any] = ["list": [Int64(1), 2], "date": Date(timeIntervalSinceReferenceDate: 5)]
        let data = try #require(transformer.reverseTransformedValue(value) as? Data)
        let back = try #require(transformer.transformedValue(data) as? [String: Any])
        #expect(back["list"] as? [Int64] == [1, 2])
        #expect(back["date"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
        #expect(transformer.transformedValue(Data([1, 2, 3])) == nil)
        #expect(transformer.transformedValue("text") == nil)
        #expect(transformer.reverseTransformedValue(NSObject()) == nil)
        #expect(transformer.reverseTransformedValue([NSObject()]) == nil)
        #expect(transformer.reverseTransformedValue(nil) == nil)
    }

    @Test func attributesUseTheirTransformerInTheRightDirection() throws {
        let attribute = ZooModel.attribute("a", .transformable)
        let data = try #require(try attribute.transformedData(from: [1, 2]))
        #expect(try attribute.value(fromTransformedData: data) as? [Int] == [1, 2])
        #expect(throws: ModelError.self) { try attribute.value(fromTransformedData: Data([1])) }
        attribute.valueTransformerName = "ModelTransformerTests.missing"
        #expect(throws: ModelError.self) { try attribute.transformedData(from: 1) }
    }
}

private final class Upper: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String)?.uppercased() }
}
