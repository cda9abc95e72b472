import CoreData
import Foundation
import StrataTestKit
import Testing

/// Accessors of one number's type over attributes of another: each does what key-value coding does with the value, by
/// way of which the accessors of all other types go.
@Suite struct ConvertedNumberTests {
    private static let types: [(String, NSAttributeType)] = [
        ("flag", .booleanAttributeType), ("small", .integer16AttributeType), ("middle", .integer32AttributeType),
        ("large", .integer64AttributeType), ("single", .floatAttributeType), ("double", .doubleAttributeType),
        ("date", .dateAttributeType), ("preset", .integer32AttributeType),
    ]
    private static let names = types.map(\.0)

    private static func model() -> NSManagedObjectModel {
        let entity = GraphModel.entity("Reading")
        entity.properties = types.map { name, type in
            GraphModel.attribute(name, type, default: name == "preset" ? 7 : nil)
        }
        let part = GraphModel.entity("Detail")
        entity.subentities = [part]
        let model = NSManagedObjectModel()
        model.entities = [entity, part]
        return model
    }

    /// The accessors of one type, over all attributes: those for it, and those for any type.
    private struct Accessors<Value: AttributeValue & Equatable> {
        let typed = ManagedSlots("flag", "small", "middle", "large", "single", "double", "date", "preset")
        let other = ManagedSlots("flag", "small", "middle", "large", "single", "double", "date", "preset")
        let values: [Value]

        /// Other types cannot be read from a date, by either.
        private var positions: [Int] { names.indices.filter { names[$0] != "date" || Value.self == Double.self } }

        func compareReading(_ object: NSManagedObject, _ comment: Comment) {
            for position in positions {
                for _ in 0..<2 {
                    let found: Value? = object._optional(typed, position)
                    let wanted = object._propertyOrNil(other, position, as: Value?.self)
                    let isSame =
                        found == wanted || (found as? Double)?.isNaN == true && (wanted as? Double)?.isNaN == true
                    #expect(
                        isSame || (found as? Float)?.isNaN == true && (wanted as? Float)?.isNaN == true,
                        "\(Value.self) of \(names[position]): \(comment)")
                }
            }
        }

        func compareSetting(
            _ one: NSManagedObject, _ another: NSManagedObject, _ random: inout SeededGenerator, _ comment: Comment
        ) {
            for position in positions.shuffled(using: &random) {
                let value = values.randomElement(using: &random)
                if Bool.random(using: &random), let value {
                    one._setAttribute(value, typed, position)
                    another._setPropertyOrNil(value as Value?, other, position)
                } else if !Bool.random(using: &random) {
                    one._setOptional(value, typed, position)
                    another._setPropertyOrNil(value, other, position)
                }
            }
            for name in names {
                #expect(
                    NSDictionary(object: one.value(forKey: name) ?? "null", forKey: "value" as NSString)
                        == NSDictionary(object: another.value(forKey: name) ?? "null", forKey: "value" as NSString),
                    "\(name) set as \(Value.self): \(comment)")
            }
            #expect(Set(one.changedValues().keys) == Set(another.changedValues().keys), comment)
        }
    }

    private static let integers: [Int64] = [
        0, 1, -1, 2, 255, 32_767, 32_768, -32_768, -32_769, 70_000, 2_147_483_647, 2_147_483_648, -2_147_483_649,
        9_007_199_254_740_993, .max, .min,
    ]
    private static let fractions: [Double] = [0, -0.0, 1, 0.5, -3.75, 0.1, 16_777_217, 1e10, -1e10]

    @Test(arguments: StoreKind.allCases) func eachTypeReadsAndSetsWhatKeyValueCodingDoes(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model())
        let wholes = (
            Accessors<Bool>(values: [false, true]),
            Accessors<Int16>(values: Self.integers.compactMap(Int16.init(exactly:))),
            Accessors<Int32>(values: Self.integers.compactMap(Int32.init(exactly:))),
            Accessors<Int64>(values: Self.integers),
            Accessors<Int>(values: Self.integers.map { Int($0) })
        )
        let parts = (
            Accessors<Float>(values: Self.fractions.map { Float($0) }), Accessors<Double>(values: Self.fractions)
        )
        func compareReading(_ object: NSManagedObject, _ comment: Comment) {
            wholes.0.compareReading(object, comment)
            wholes.1.compareReading(object, comment)
            wholes.2.compareReading(object, comment)
            wholes.3.compareReading(object, comment)
            wholes.4.compareReading(object, comment)
            parts.0.compareReading(object, comment)
            parts.1.compareReading(object, comment)
        }
        for seed in 20_261_300..<20_261_330 {
            let comment: Comment = "seed \(seed)"
            var random = SeededGenerator(seed: UInt64(seed))
            let context = store.context()
            try context.performAndWait {
                func make() -> NSManagedObject {
                    NSEntityDescription.insertNewObject(
                        forEntityName: seed.isMultiple(of: 2) ? "Reading" : "Detail", into: context)
                }
                // Read as they are, from unsaved values, and from rows.
                let object = make()
                compareReading(object, "a new object")
                for name in Self.names where Bool.random(using: &random) {
                    switch name {
                    case "flag": object.setValue(Bool.random(using: &random), forKey: name)
                    case "date":
                        let seconds = Self.fractions.randomElement(using: &random) ?? 0
                        object.setValue(Date(timeIntervalSinceReferenceDate: seconds), forKey: name)
                    case "single", "double":
                        object.setValue(Self.fractions.randomElement(using: &random) ?? 0, forKey: name)
                    default:
                        let number = Self.integers.randomElement(using: &random) ?? 0
                        object.setValue(
                            Int(name == "small" ? Int64(Int16(truncatingIfNeeded: number)) : number), forKey: name)
                    }
                }
                compareReading(object, comment)
                let (one, another) = (make(), make())
                for _ in 0..<3 {
                    wholes.0.compareSetting(one, another, &random, comment)
                    wholes.1.compareSetting(one, another, &random, comment)
                    wholes.2.compareSetting(one, another, &random, comment)
                    wholes.3.compareSetting(one, another, &random, comment)
                    wholes.4.compareSetting(one, another, &random, comment)
                    parts.0.compareSetting(one, another, &random, comment)
                    parts.1.compareSetting(one, another, &random, comment)
                    // Either can be saved, or neither.
                    let (first, second) = (Self.isValid(one), Self.isValid(another))
                    #expect(first == second, comment)
                    if !first { [one, another].forEach { $0.setValue(1, forKey: "small") } }
                    if !Self.isValid(one) { [one, another].forEach { $0.setValue(1, forKey: "middle") } }
                    if !Self.isValid(one) { [one, another].forEach { $0.setValue(1, forKey: "preset") } }
                    if !Self.isValid(object) {
                        for name in ["small", "middle", "preset"] { object.setValue(1, forKey: name) }
                    }
                    try context.save()
                    context.refreshAllObjects()
                    for saved in [object, one, another] { compareReading(saved, comment) }
                }
            }
        }
    }

    private static func isValid(_ object: NSManagedObject) -> Bool { (try? object.validateForInsert()) != nil }
}
