import Foundation
import Testing

@testable import Strata

/// What a store in a property list has of values: nothing is changed when it is read.
@Suite struct PropertyListValueTests {
    private static func attribute(_ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = "value"
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    /// `1,5` was 1, 0x10 was 0, 70,000 was 4,464 in 16 bits, 1.5 was 1, and the next save wrote it.
    @Test(
        arguments: [
            (.decimalAttributeType, ["1,5", "1.5abc", "0x10", "1.2.3", "--1", " 1", "", "nan", "inf", "1e-129"]),
            (.decimalAttributeType, ["123456789012345678901234567890123456789012.5"]),
            (.doubleAttributeType, ["1,5", "0x10", "1e400", "1e-400", "", "1.5 ", "0x1p2000"]),
            (.floatAttributeType, ["1e39", "1e-60", "0x1p3"]), (.dateAttributeType, ["1e400", "0x10", "2026-01-01"]),
            (.URIAttributeType, ["http://a b", ""]),
            (.UUIDAttributeType, ["C4637490-BD7F-4428-B093-63A1720E17D", "C4637490-BD7F-4428-B093-63A1720E17D0 x"]),
        ] as [(NSAttributeType, [String])])
    func aTextThatIsNoValueIsNone(_ type: NSAttributeType, _ texts: [String]) {
        for text in texts { #expect(PropertyListValue.decode(text, Self.attribute(type)) == nil, "'\(text)'") }
    }

    @Test func aNumberThatIsNoValueIsNone() {
        let numbers: [(NSAttributeType, [NSNumber])] = [
            (.booleanAttributeType, [2, -1, 0.5]), (.integer16AttributeType, [32768, -32769, 1.5, 1e300]),
            (.integer32AttributeType, [2_147_483_648, -2_147_483_649, 4_294_967_297]),
            (
                .integer64AttributeType,
                [
                    NSNumber(value: UInt64.max), NSNumber(value: UInt64(1) << 63), 1.5, 1e300, 9.3e18,
                    NSNumber(value: Double.nan),
                ]
            ),
        ]
        for (type, values) in numbers {
            for value in values {
                #expect(PropertyListValue.decode(value, Self.attribute(type)) == nil, "\(value) \(type)")
            }
        }
        #expect(PropertyListValue.decode(Data([0xFF]), Self.attribute(.stringAttributeType)) == nil)
    }

    @Test func whatIsWrittenIsRead() throws {
        let reals: [Double] = [
            0, -0.0, 1.5, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.infinity, .infinity, 1e22,
        ]
        let floats: [Float] = [0, -0.0, 1.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity]
        let decimals = [
            "0", "-1.50", "340282366920938463463374607431768211455", "1e127", "1e-128",
            "-12345678901234567890.123456789",
        ]
        let values: [(NSAttributeType, [Any])] = [
            (.doubleAttributeType, reals), (.dateAttributeType, reals.map { Date(timeIntervalSinceReferenceDate: $0) }),
            (.floatAttributeType, floats),
            (.decimalAttributeType, decimals.map { NSDecimalNumber(string: $0) } + [.notANumber]),
            (.booleanAttributeType, [NSNumber(value: true), NSNumber(value: false)]),
            (.integer16AttributeType, [Int16.min, Int16.max]),
            (.integer32AttributeType, [Int32.min, Int32.max]),
            (.integer64AttributeType, [Int64.min, Int64.max, 0, 9_007_199_254_740_993]),
            (.URIAttributeType, [URL(string: "http://host/%41?b#c")].compactMap { $0 }),
            (.stringAttributeType, ["", "text", "\u{1}", "\u{FEFF}mark"]),
        ]
        for (type, list) in values {
            for value in list {
                let attribute = Self.attribute(type)
                let stored = try PropertyListValue.encode(value, attribute)
                for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
                    let data = try PropertyListSerialization.data(
                        fromPropertyList: ["a": try #require(stored)], format: format, options: 0)
                    let list = try #require(
                        try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
                    let read = PropertyListValue.decode(try #require(list["a"]), attribute)
                    #expect(read as? AnyHashable == value as? AnyHashable, "\(value) \(stored ?? "")")
                }
            }
        }
        for text in ["nan", "-nan"] {
            #expect((PropertyListValue.decode(text, Self.attribute(.doubleAttributeType)) as? Double)?.isNaN == true)
        }
    }

    /// Of two objects with one number the first was not there any more, and of two at a to-one relationship the second.
    @Test(arguments: ["number", "target"]) func aFileThatSaysOneThingTwiceIsDamaged(_ kind: String) throws {
        let node = NSEntityDescription()
        node.name = "Node"
        let (next, previous) = (NSRelationshipDescription(), NSRelationshipDescription())
        (next.name, previous.name) = ("next", "previous")
        for relationship in [next, previous] {
            relationship.destinationEntity = node
            relationship.maxCount = 1
            relationship.isOptional = true
        }
        (next.inverseRelationship, previous.inverseRelationship) = (previous, next)
        node.properties = [next, previous]
        let model = NSManagedObjectModel()
        model.entities = [node]
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("twice-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let objects = (0..<3).map { _ in NSManagedObject(entity: node, insertInto: context) }
            objects[0].setValue(objects[1], forKey: "next")
            try context.save()
        }
        try coordinator.remove(store)
        var list = try #require(
            try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as? [String: Any])
        var all = try #require(list["objects"] as? [String: [[String: Any]]])
        var nodes = try #require(all["Node"])
        if kind == "number" {
            nodes.append(nodes[2])
        } else {
            let index = try #require(nodes.firstIndex { ($0["links"] as? [String: Any])?["next"] != nil })
            nodes[index]["links"] = ["next": ["Node/1", "Node/2", "Node/3"]]
        }
        all["Node"] = nodes
        list["objects"] = all
        try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0).write(to: url)
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: url)
        }
        #expect(error?.code == .fileReadCorruptFile)
    }
}
