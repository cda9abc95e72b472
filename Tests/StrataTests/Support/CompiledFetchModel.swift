import CoreData
import Foundation
import Strata
import StrataTestKit
import Testing

/// An entity with an attribute of every type and a relationship, a subentity, and random rows and predicates for them.
enum CompiledFetchModel {
    /// Adds an index; a `-` before a name is for one that descends.
    ///
    /// - Parameter base: has the attributes that the entity inherits.
    static func index(
        _ entity: NSEntityDescription, _ base: NSEntityDescription, _ names: [String], where predicate: String? = nil
    ) throws {
        let elements = try names.map { name in
            let property = name.hasPrefix("-") ? String(name.dropFirst()) : name
            let own = try #require(entity.propertiesByName[property] ?? base.propertiesByName[property])
            let element = NSFetchIndexElementDescription(
                property: own, collationType: property == "double" ? .rTree : .binary)
            element.isAscending = !name.hasPrefix("-")
            return element
        }
        let index = NSFetchIndexDescription(
            name: (names + [predicate ?? ""]).joined(separator: "_"), elements: elements)
        index.partialIndexPredicate = predicate.map { NSPredicate(format: $0) }
        entity.indexes.append(index)
    }

    /// - Parameter hasSubentity: whether there are special things, whose rows lie between those of the others.
    static func model(hasSubentity: Bool = true) -> NSManagedObjectModel {
        let thing = GraphModel.entity("Thing")
        let special = GraphModel.entity("SpecialThing")
        let owner = GraphModel.entity("Owner")
        let ownerOf = GraphModel.relationship("owner", to: owner)
        let things = GraphModel.relationship("things", to: thing, toMany: true)
        GraphModel.link(ownerOf, things)
        thing.properties =
            kinds.map { GraphModel.attribute($0.name, $0.type) }
            + kinds.filter { $0.name != "list" }.map { GraphModel.attribute($0.name + "Twin", $0.type) } + [ownerOf]
        special.properties = [GraphModel.attribute("extra", .integer32AttributeType)]
        if hasSubentity { thing.subentities = [special] }
        owner.properties = [GraphModel.attribute("title", .stringAttributeType), things]
        let model = NSManagedObjectModel()
        model.entities = hasSubentity ? [thing, special, owner] : [thing, owner]
        return model
    }

    static let kinds: [(name: String, type: NSAttributeType)] = [
        ("bool", .booleanAttributeType), ("int16", .integer16AttributeType), ("int32", .integer32AttributeType),
        ("int64", .integer64AttributeType), ("float", .floatAttributeType), ("double", .doubleAttributeType),
        ("decimal", .decimalAttributeType), ("string", .stringAttributeType), ("data", .binaryDataAttributeType),
        ("date", .dateAttributeType), ("uuid", .UUIDAttributeType), ("uri", .URIAttributeType),
    ]

    private static let numbers = ["bool", "int16", "int32", "int64", "float", "double", "decimal", "date"]

    static let words = [
        "", "a", "A", "Ab", "aB", "abc", "ABC", "äbc", "a\u{308}bc", "Straße", "STRASSE", "İstanbul", "istanbul", "ﬁsh",
        "fish", "delta", "Delta x", "x delta", "a*b", "a?b", "\\", "日本語", "é", "e\u{301}", "E", "Σσς", "zz", "🙂", "K",
    ]

    /// A value, often an odd one; nil for null.
    static func value(_ name: String, _ random: inout SeededGenerator) -> Any? {
        if random.chance(0.15) { return nil }
        switch name.hasSuffix("Twin") ? String(name.dropLast(4)) : name {
        case "bool": return random.chance(0.5)
        case "int16": return pick([Int16.min, -3, -1, 0, 1, 2, 3, 7, .max], &random)
        case "int32": return pick([Int32.min, -3, -1, 0, 1, 2, 3, 7, .max], &random)
        case "int64": return pick([Int64.min, -3, -1, 0, 1, 2, 3, 7, 1 << 53, 1 << 53 + 1, .max], &random)
        case "float": return pick([Float(-1.5), -0.0, 0, 0.1, 1, 2.5, 3, .infinity, .nan], &random)
        case "double": return pick([-1.5, -0.0, 0, 0.1, 1, 2.5, 3, 1e300, -.infinity, .nan, 0x1p53], &random)
        case "decimal":
            let odd = [
                "0.10000000000000000001", "0.10000000000000000002", "99999999999999999999", "1e2", "100.00", "NaN",
            ]
            return pick(["-1.5", "0", "0.1", "1", "2.5", "3"] + odd, &random).flatMap { NSDecimalNumber(string: $0) }
        case "string": return text(&random)
        case "data": return pick([Data(), Data([0]), Data([1, 2]), Data([1, 2, 3]), Data([255])], &random)
        case "date":
            return pick([-1.0, 0, 1, 2.5, 3, 1e9], &random).map { Date(timeIntervalSinceReferenceDate: $0) }
        case "uuid":
            return pick(["0", "1", "9", "A", "F"], &random).flatMap {
                UUID(uuidString: "\($0)0000000-0000-0000-0000-00000000000\($0)")
            }
        default: return pick(["a", "b", "c"], &random).flatMap { URL(string: "http://x.org/\($0)") }
        }
    }

    static func text(_ random: inout SeededGenerator) -> String {
        let word = words[random.below(words.count)]
        return random.chance(0.3) ? word + words[random.below(words.count)] : word
    }

    static func pick<Value>(_ values: [Value], _ random: inout SeededGenerator) -> Value? {
        values[random.below(values.count)]
    }

    // MARK: Predicates

    static func predicate(
        _ owners: [NSManagedObject], _ things: [NSManagedObject], _ random: inout SeededGenerator, depth: Int = 0
    ) -> NSPredicate {
        func inner() -> NSPredicate { predicate(owners, things, &random, depth: depth + 1) }
        switch random.below(depth < 3 ? 10 : 6) {
        case 6: return NSCompoundPredicate(notPredicateWithSubpredicate: inner())
        case 7: return NSCompoundPredicate(orPredicateWithSubpredicates: [inner(), inner()])
        case 8, 9: return NSCompoundPredicate(andPredicateWithSubpredicates: [inner(), inner()])
        case 5:
            return pick(
                [
                    NSPredicate(format: "owner.title BEGINSWITH[c] 'A'"), NSPredicate(format: "int16 + 1 > int32"),
                    NSPredicate(value: true), NSPredicate(value: false), NSPredicate(format: "string MATCHES 'a.*'"),
                    NSPredicate(format: "int32 > int32Twin"), NSPredicate(format: "uri != nil"),
                ], &random) ?? NSPredicate(value: true)
        case 4: return object(owners, things, &random)
        default: return comparison(&random)
        }
    }

    private static func object(
        _ owners: [NSManagedObject], _ things: [NSManagedObject], _ random: inout SeededGenerator
    ) -> NSPredicate {
        let owner = owners[random.below(owners.count)]
        let thing = things[random.below(things.count)]
        switch random.below(12) {
        case 7: return NSPredicate(format: "owner.title == %@", words[random.below(6)])
        case 8: return NSPredicate(format: "owner.title != %@", words[random.below(6)])
        case 9: return NSPredicate(format: "owner.title == nil")
        case 10: return NSPredicate(format: "owner.title IN[c] %@", [words[2], words[4]])
        case 0: return NSPredicate(format: "owner == %@", owner)
        case 1: return NSPredicate(format: "owner != %@", owner.objectID)
        case 2: return NSPredicate(format: "owner IN %@", [owner, owners[0]])
        case 3: return NSPredicate(format: "owner == nil")
        case 4: return NSPredicate(format: "owner != nil")
        case 5: return NSPredicate(format: "SELF != %@", thing)
        case 6: return NSPredicate(format: "NOT (SELF IN %@)", [thing, things[0]])
        default: return NSPredicate(format: "SELF == %@", thing)
        }
    }

    private static func comparison(_ random: inout SeededGenerator) -> NSPredicate {
        let kind = kinds[random.below(kinds.count)].name
        let name = random.chance(0.5) ? kind : kind + "Twin"
        if kind == "string", random.chance(0.6) { return string(name, &random) }
        // Sometimes a value of another type that can be compared with it: others make the fetch throw.
        let source =
            random.chance(0.15) && numbers.contains(kind) ? numbers[random.below(numbers.count)] : kind
        let key = NSExpression(forKeyPath: name)
        switch random.below(12) {
        case 10, 11:
            let other = numbers.contains(kind) ? numbers[random.below(numbers.count)] : kind
            let sign = ["==", "!=", "<", "<=", ">", ">="][random.below(6)]
            let modifier = kind == "string" ? ["", "", "[c]", "[cd]", "[n]"][random.below(5)] : ""
            return NSPredicate(
                format: "%K \(sign)\(modifier) %K", name, other + (random.chance(0.5) ? "Twin" : ""))
        case 0: return NSPredicate(format: "%K == nil", name)
        case 1: return NSPredicate(format: "nil != %K", name)
        case 2:
            let values = (0..<random.below(4)).map { _ in value(source, &random) ?? NSNull() }
            return NSPredicate(format: "%K IN %@", name, values)
        case 3:
            let bounds = [value(source, &random) ?? NSNull(), value(source, &random) ?? NSNull()]
            return NSPredicate(format: "%K BETWEEN %@", name, bounds)
        default:
            let constant = NSExpression(forConstantValue: value(source, &random))
            let operators: [Strata.NSComparisonPredicate.Operator] = [
                .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo,
            ]
            let isFlipped = random.chance(0.3)
            return Strata.NSComparisonPredicate(
                leftExpression: isFlipped ? constant : key, rightExpression: isFlipped ? key : constant,
                modifier: .direct, type: operators[random.below(operators.count)],
                options: options(&random))
        }
    }

    private static func string(_ name: String, _ random: inout SeededGenerator) -> NSPredicate {
        let operators: [Strata.NSComparisonPredicate.Operator] = [
            .beginsWith, .endsWith, .contains, .like, .equalTo, .notEqualTo, .lessThan, .greaterThanOrEqualTo, .in,
        ]
        let type = operators[random.below(operators.count)]
        var pattern: Any = text(&random)
        if type == .in { pattern = (0..<3).map { _ in text(&random) } }
        if type == .like {
            pattern = ["*", "", "?", "*?"][random.below(4)] + text(&random) + ["*", ""][random.below(2)]
        }
        return Strata.NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: name), rightExpression: NSExpression(forConstantValue: pattern),
            modifier: .direct, type: type, options: options(&random))
    }

    private static func options(_ random: inout SeededGenerator) -> Strata.NSComparisonPredicate.Options {
        let all: [Strata.NSComparisonPredicate.Options] = [
            [], [], [.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive],
            [.normalized],
        ]
        return all[random.below(all.count)]
    }
}
