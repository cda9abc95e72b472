import CoreData
import Foundation
import StrataTestKit
import Testing

/// Random validation predicates on attributes of every kind: what a save refuses is what the predicates refuse when
/// they are evaluated one by one. Those that are limits are not evaluated by a save, but tested where the value lies.
@Suite struct ValueLimitsTests {
    private static let types: [NSAttributeType] = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .floatAttributeType,
        .doubleAttributeType, .dateAttributeType, .decimalAttributeType, .stringAttributeType, .booleanAttributeType,
    ]
    private static let rows = 24

    @Test(arguments: StoreKind.allCases, RandomRuns.seeds(from: 20_261_201, count: 40))
    func objectsAreRefusedByThePredicatesThatTheyViolate(_ kind: StoreKind, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind, Self.model(&random))
        let context = store.context()
        try context.performAndWait {
            // Rows that were never validated.
            let values = (0..<Self.rows).map { _ in Self.values(&random) }
            _ = try context.execute(NSBatchInsertRequest(entityName: "Limited", objects: values))
            let request = NSFetchRequest<NSManagedObject>(entityName: "Limited")
            var objects = try context.fetch(request)
            #expect(objects.count == Self.rows)
            // Some have values that no row has.
            for object in objects where random.chance(0.5) {
                for (key, value) in Self.values(&random).sorted(by: { $0.key < $1.key }) where random.chance(0.5) {
                    object.setValue(value, forKey: key)
                }
            }
            for _ in 0..<Self.rows / 2 {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Limited", into: context)
                for (key, value) in Self.values(&random) { object.setValue(value, forKey: key) }
                objects.append(object)
            }
            for object in objects {
                #expect(Self.refused(object) == Self.violated(object), "seed \(seed): \(object)")
            }
        }
    }

    /// Without it the test above could compare nothing with nothing.
    @Test func valuesOfEachKindLieOnBothSidesOfTheirLimits() throws {
        var random = SeededGenerator(seed: 1)
        var (held, violated): (Set<String>, Set<String>) = ([], [])
        for _ in 0..<20 {
            let context = try TestStore(.memory, Self.model(&random)).context()
            context.performAndWait {
                for _ in 0..<10 {
                    let object = NSEntityDescription.insertNewObject(forEntityName: "Limited", into: context)
                    for (key, value) in Self.values(&random) { object.setValue(value, forKey: key) }
                    let keys = Set(Self.violated(object).map { String($0.prefix(2)) })
                    violated.formUnion(keys)
                    held.formUnion(
                        object.entity.attributesByName.keys.filter { object.value(forKey: $0) != nil }
                            .filter { !keys.contains($0) })
                }
            }
        }
        #expect(held.count == Self.types.count && violated.count == Self.types.count, "\(held) \(violated)")
    }

    // MARK: Both answers

    /// What validation names: keys and predicates.
    private static func refused(_ object: NSManagedObject) -> [String] {
        do {
            if object.isInserted { try object.validateForInsert() } else { try object.validateForUpdate() }
            return []
        } catch {
            let info = (error as NSError).userInfo
            let all = info[NSDetailedErrorsKey] as? [NSError] ?? [error as NSError]
            return all.map { error in
                let info = error.userInfo
                return "\(info[NSValidationKeyErrorKey] ?? "?") \(info[NSValidationPredicateErrorKey] ?? "?")"
            }.sorted()
        }
    }

    private static func violated(_ object: NSManagedObject) -> [String] {
        object.entity.attributesByName.flatMap { name, attribute in
            let value = object.value(forKey: name)
            return attribute.validationPredicates.compactMap { predicate in
                value == nil || predicate.evaluate(with: value) ? nil : "\(name) \(predicate)"
            }
        }.sorted()
    }

    // MARK: Making

    private static func model(_ random: inout SeededGenerator) -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Limited"
        entity.properties = types.enumerated().map { index, type in
            let attribute = GraphModel.attribute("a\(index)", type)
            let predicates = (0...random.below(3)).map { _ in predicate(type, &random) }
            attribute.setValidationPredicates(predicates, withValidationWarnings: [])
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private static func predicate(_ type: NSAttributeType, _ random: inout SeededGenerator) -> NSPredicate {
        let first = comparison(type, &random)
        switch random.below(6) {
        case 0:
            return NSCompoundPredicate(andPredicateWithSubpredicates: [first, comparison(type, &random)])
        case 1:
            return NSCompoundPredicate(orPredicateWithSubpredicates: [first, comparison(type, &random)])
        case 2: return NSCompoundPredicate(notPredicateWithSubpredicate: first)
        default: return first
        }
    }

    private static func comparison(_ type: NSAttributeType, _ random: inout SeededGenerator) -> NSPredicate {
        let sign = ["<", "<=", ">", ">=", "==", "!="][random.below(6)]
        // Mostly on the side where most values lie.
        let isLow = sign.hasPrefix(">") != (random.below(4) == 0)
        switch type {
        case .stringAttributeType:
            let subject = ["length", "SELF.length", "SELF"][random.below(3)]
            if subject == "SELF" {
                return [
                    NSPredicate(format: "SELF MATCHES %@", "[a-z]*"), NSPredicate(format: "SELF BEGINSWITH %@", "a"),
                    NSPredicate(format: "SELF \(sign) %@", "b"), NSPredicate(format: "SELF \(sign)[cd] %@", "B"),
                ][random.below(4)]
            }
            return NSPredicate(format: "\(subject) \(sign) %@", argumentArray: [number(isLow ? 0 : 6, &random)])
        case .dateAttributeType:
            let seconds = Double(isLow ? -random.below(3) : random.below(3)) * 50
            return random.below(5) == 0
                ? NSPredicate(format: "SELF \(sign) %@", argumentArray: [seconds])
                : NSPredicate(format: "SELF \(sign) %@", argumentArray: [Date(timeIntervalSinceReferenceDate: seconds)])
        default:
            if random.below(6) == 0 {
                return NSPredicate(
                    format: "SELF BETWEEN %@", argumentArray: [[number(-9, &random), number(9, &random)]])
            }
            return NSPredicate(format: "SELF \(sign) %@", argumentArray: [number(isLow ? -9 : 9, &random)])
        }
    }

    /// A number near another one, of any type.
    private static func number(_ around: Int, _ random: inout SeededGenerator) -> Any {
        let value = around + random.below(9) - 4
        switch random.below(8) {
        case 0: return Double(value) + 0.5
        case 1: return Decimal(value)
        case 2: return NSDecimalNumber(string: "\(value).1")
        case 3: return Float(value) + 0.1
        case 4: return NSNumber(value: Int16(value))
        case 5: return [Double.infinity, -1e300, 9.3e18, Double(Int64.max)][random.below(4)]
        case 6: return [Int.max, Int.min, 32_767, -32_768][random.below(4)]
        default: return value
        }
    }

    private static func values(_ random: inout SeededGenerator) -> [String: Any] {
        var values: [String: Any] = [:]
        for (index, type) in types.enumerated() where random.below(5) > 0 {
            let small = random.below(27) - 13
            let isExtreme = random.below(8) == 0
            values["a\(index)"] =
                switch type {
                case .integer16AttributeType: isExtreme ? Int16.max : Int16(small)
                case .integer32AttributeType: isExtreme ? Int32.min : Int32(small)
                case .integer64AttributeType: isExtreme ? Int64.max : Int64(small)
                case .floatAttributeType: isExtreme ? Float.infinity : Float(small) / 2 + 0.1
                case .doubleAttributeType: isExtreme ? -Double.infinity : Double(small) / 2
                case .dateAttributeType: Date(timeIntervalSinceReferenceDate: Double(small) * 10)
                case .decimalAttributeType: NSDecimalNumber(string: isExtreme ? "1e40" : "\(small).1")
                case .stringAttributeType: text(small, isExtreme)
                default: small > 0
                }
        }
        return values
    }

    private static func text(_ number: Int, _ isLong: Bool) -> String {
        let piece = ["a", "Ä", "ß", "日", "👩‍👩‍👧", "b", ""][abs(number) % 7]
        return String(repeating: piece, count: isLong ? 9_000 : abs(number) / 2)
    }
}
