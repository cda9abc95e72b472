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
        #expect(ValueTransformer(forName: NSValueTransformerName("NSSecureUnarchiveFromDataTransformer")) != nil)
    }

    /// Foundation's archiver and unarchiver stop the program at these.
    @Test func otherClassesAreNeitherArchivedNorRead() throws {
        let transformer = try #require(ValueTransformer(forName: .secureUnarchiveFromDataTransformerName))
        let own = OwnClassTransformer()
        let color = ArchivedColor(3)
        let ordered = NSOrderedSet(array: [color])
        let held: [Any] = [color, [color], ["a": color], Set([color]), [["a": [1, color] as [Any]]], ordered]
        for value in held {
            #expect(transformer.reverseTransformedValue(value) == nil)
            let data = try #require(own.reverseTransformedValue(value) as? Data)
            #expect(transformer.transformedValue(data) == nil)
            #expect(own.transformedValue(data) != nil)
        }
        #expect(transformer.reverseTransformedValue(NSAttributedString(string: "x")) == nil)
        let attribute = ZooModel.attribute("a", .transformable)
        let error = #expect(throws: ModelError.self) { try attribute.transformedData(from: [color]) }
        #expect(error?.message.contains("allowedTopLevelClasses") == true)
    }

    /// Linux's Foundation bridges all numbers but this one.
    @Test func floatingPointOfGraphicsIsArchivedAsANumber() throws {
        let attribute = ZooModel.attribute("a", .transformable)
        func back(_ value: Any) throws -> Any {
            try attribute.value(fromTransformedData: try #require(try attribute.transformedData(from: value)))
        }
        #expect(try back(CGFloat(1.5)) as? Double == 1.5)
        #expect(try back([CGFloat(1.5), 2]) as? [Double] == [1.5, 2])
        #expect(try back(["w": CGFloat(2)]) as? [String: Double] == ["w": 2])
        #expect(try back(Set([CGFloat(2)])) as? Set<Double> == [2])
        #expect(try back(NSArray(array: [CGFloat(2)])) as? [Double] == [2])
        #expect((try back(NSOrderedSet(array: [CGFloat(2)])) as? NSOrderedSet)?.array as? [Double] == [2])
        #expect(try back(NSArray(array: [NSArray(array: [CGFloat(2)])])) as? [[Double]] == [[2]])
        #expect(try back(["a": ["b": [CGFloat(2)]]]) as? [String: [String: [Double]]] == ["a": ["b": [2]]])
    }

    /// A list of classes need not name what property lists consist of.
    @Test func plainValuesMayAlwaysBeArchived() throws {
        let transformer = ColorsTransformer()
        let held: [String: Any] = [
            "color": ArchivedColor(3), "text": "t", "number": 1.5, "flag": true, "list": ["a", 2] as [Any],
            "date": Date(timeIntervalSinceReferenceDate: 5), "data": Data([1]),
        ]
        let data = try #require(transformer.reverseTransformedValue(held) as? Data)
        let back = try #require(transformer.transformedValue(data) as? [String: Any])
        #expect((back["color"] as? ArchivedColor)?.red == 3 && back["text"] as? String == "t")
        #expect(back["number"] as? Double == 1.5 && back["flag"] as? Bool == true)
        #expect((back["list"] as? [Any])?.count == 2 && back["data"] as? Data == Data([1]))
        #expect(back["date"] as? Date == Date(timeIntervalSinceReferenceDate: 5))
        #expect(transformer.reverseTransformedValue(NSUUID()) == nil)
        let mutable = NSMutableArray(array: ["a"])
        mutable.add(NSMutableDictionary(dictionary: ["k": NSMutableSet(array: [1])]))
        let standard = NSSecureUnarchiveFromDataTransformer()
        let written = try #require(standard.reverseTransformedValue(mutable) as? Data)
        #expect(standard.transformedValue(written) as? NSArray == mutable)
    }

    /// Linux's Foundation never comes back from these.
    @Test func whatFoundationCannotArchiveIsRefused() throws {
        let transformer = NSSecureUnarchiveFromDataTransformer()
        #expect(transformer.reverseTransformedValue(NSDecimalNumber(value: 2)) == nil)
        #expect(transformer.reverseTransformedValue(["a": Decimal(2)]) == nil)
        var deep: [Any] = []
        for _ in 0..<12 { deep = [deep] }
        let data = try #require(transformer.reverseTransformedValue(deep) as? Data)
        #expect(transformer.transformedValue(data) != nil)
        for _ in 0..<60 { deep = [deep] }
        #expect(transformer.reverseTransformedValue(deep) == nil)
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

private final class ColorsTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
    override class var allowedTopLevelClasses: [AnyClass] { [ArchivedColor.self] }
}

private final class OwnClassTransformer: NSSecureUnarchiveFromDataTransformer, @unchecked Sendable {
    override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [ArchivedColor.self] }
}

final class ArchivedColor: NSObject, NSSecureCoding {
    static let supportsSecureCoding = true
    let red: Int

    init(_ red: Int) { self.red = red }

    init?(coder: NSCoder) { red = coder.decodeInteger(forKey: "red") }

    func encode(with coder: NSCoder) { coder.encode(red, forKey: "red") }
}

private final class Upper: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String)?.uppercased() }
}
