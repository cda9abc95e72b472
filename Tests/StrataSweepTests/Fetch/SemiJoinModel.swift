import CoreData
import Foundation
import StrataTestKit
import Testing

/// Nodes that relate to each other in every way, with values of every kind that is added up.
enum SemiJoinModel {
    static let toMany = [
        "children", "items", "friends", "follows", "followers", "queue", "queuedIn", "left", "right", "loose",
    ]
    static let toOne = ["parent", "owner", "next"]
    static let numbers = ["size", "big", "ratio", "rate", "flag"]
    static let names = ["a", "A", "b", "ab", "é", "x delta"]

    /// - Parameter hasSubentity: whether some nodes are of an entity that inherits.
    static func model(hasSubentity: Bool) throws -> NSManagedObjectModel {
        let model = NodeModel.nodes()
        let node = try #require(model.entitiesByName["Node"])
        let key = try #require(node.propertiesByName["key"])
        node.properties += [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("size", .integer16AttributeType),
            GraphModel.attribute("big", .integer64AttributeType), GraphModel.attribute("ratio", .doubleAttributeType),
            GraphModel.attribute("rate", .floatAttributeType), GraphModel.attribute("flag", .booleanAttributeType),
            GraphModel.attribute("date", .dateAttributeType), GraphModel.attribute("price", .decimalAttributeType),
            GraphModel.relationship("loose", to: node, toMany: true),
        ]
        node.indexes = [
            NSFetchIndexDescription(
                name: "byKey", elements: [NSFetchIndexElementDescription(property: key, collationType: .binary)])
        ]
        if hasSubentity {
            let special = GraphModel.entity("SpecialNode")
            special.properties = [GraphModel.attribute("extra", .integer32AttributeType)]
            node.subentities = [special]
            model.entities.append(special)
        }
        return model
    }
}

/// Random nodes in one context.
struct SemiJoinWorld {
    let context: NSManagedObjectContext
    let hasSubentity: Bool
    private(set) var nodes: [NSManagedObject] = []
    private var key = 0

    init(_ context: NSManagedObjectContext, hasSubentity: Bool, count: Int, _ random: inout SeededGenerator) throws {
        self.context = context
        self.hasSubentity = hasSubentity
        for _ in 0..<count { add(&random) }
        for node in nodes { link(node, &random) }
        try context.save()
    }

    private mutating func add(_ random: inout SeededGenerator) {
        let node = insert(hasSubentity && random.chance(0.3) ? "SpecialNode" : "Node", context)
        key += 1
        node.setValue(key, forKey: "key")
        set(node, &random)
        nodes.append(node)
    }

    /// Inserts, changes, links and deletes, without saving.
    mutating func change(_ count: Int, _ random: inout SeededGenerator) {
        for _ in 0..<count {
            let node = nodes[random.below(nodes.count)]
            switch random.below(8) {
            case 0:
                add(&random)
                if let last = nodes.last { link(last, &random) }
            case 1, 2: set(node, &random)
            case 3: context.delete(nodes.remove(at: random.below(nodes.count)))
            default: link(node, &random)
            }
        }
    }

    private func set(_ node: NSManagedObject, _ random: inout SeededGenerator) {
        func put(_ value: Any?, _ name: String, _ random: inout SeededGenerator) {
            node.setValue(random.chance(0.2) ? nil : value, forKey: name)
        }
        put(SemiJoinModel.names[random.below(SemiJoinModel.names.count)], "name", &random)
        put(random.below(7) - 2, "size", &random)
        put(random.chance(0.1) ? Int.max : random.below(9) - 4, "big", &random)
        put(random.chance(0.05) ? Double.nan : Double(random.below(30)) / 7 - 1, "ratio", &random)
        put(Float(random.below(30)) / 7, "rate", &random)
        put(random.chance(0.5), "flag", &random)
        let seconds = random.chance(0.05) ? Double.nan : Double(random.below(5))
        put(Date(timeIntervalSinceReferenceDate: seconds), "date", &random)
        put(Decimal(random.below(40)) / 8, "price", &random)
    }

    private func link(_ node: NSManagedObject, _ random: inout SeededGenerator) {
        for name in SemiJoinModel.toOne where random.chance(0.3) {
            node.setValue(random.chance(0.2) ? nil : nodes[random.below(nodes.count)], forKey: name)
        }
        for name in SemiJoinModel.toMany where random.chance(0.25) {
            let members = (0..<random.below(4)).map { _ in nodes[random.below(nodes.count)] }
            let isOrdered = node.entity.relationshipsByName[name]?.isOrdered ?? false
            node.setValue(isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: name)
        }
    }
}

/// Random conditions on the members of to-many relationships.
struct SemiJoinPredicates {
    let nodes: [NSManagedObject]

    func predicate(_ random: inout SeededGenerator, depth: Int = 0) -> NSPredicate {
        switch random.below(depth < 2 ? 9 : 6) {
        case 6: return NSCompoundPredicate(notPredicateWithSubpredicate: predicate(&random, depth: depth + 1))
        case 7:
            return NSCompoundPredicate(
                andPredicateWithSubpredicates: (0..<2).map { _ in
                    predicate(&random, depth: depth + 1)
                })
        case 8:
            return NSCompoundPredicate(
                orPredicateWithSubpredicates: (0..<2).map { _ in
                    predicate(&random, depth: depth + 1)
                })
        default: return leaf(&random)
        }
    }

    private func leaf(_ random: inout SeededGenerator) -> NSPredicate {
        func one(_ choices: [String]) -> String { choices[random.below(choices.count)] }
        let ways = ["", "", "", "parent.", "owner.", "next.parent."]
        let path = one(ways) + one(SemiJoinModel.toMany)
        let second = one(SemiJoinModel.toMany)
        let quantifier = one(["ANY", "ALL", "NONE", "SOME", "NOT ANY", "ANY"])
        let sign = one(["==", "!=", "<", "<=", ">", ">="])
        let own = one(SemiJoinModel.numbers)
        let (number, count) = (random.below(7) - 2, random.below(4))
        let text = one(SemiJoinModel.names)
        let modifier = one(["", "[c]", "[cd]", "[n]"])
        let textSign = one(["==", "!=", "CONTAINS", "BEGINSWITH", "LIKE", "<"])
        let attribute = one(SemiJoinModel.numbers)
        let function = one(["@sum", "@avg", "@min", "@max"])
        let node = nodes[random.below(nodes.count)]
        let some = (0..<3).map { _ in nodes[random.below(nodes.count)] }
        let inner = one([
            "$x.size \(sign) \(number)", "$x.name \(textSign)\(modifier) '\(text)'", "$x.size > 0 AND $x.flag == YES",
            "$x.size > 1 OR $x.name == nil", "NOT ($x.size == \(number))", "$x.parent.size \(sign) \(number)",
            "ANY $x.\(second).size \(sign) \(number)", "$x.\(second).@count \(sign) \(count)", "$x.parent == nil",
            "SUBQUERY($x.\(second), $y, $y.size \(sign) \(number)).@count \(sign) \(count)", "$x.big == $x.size",
            "ALL $x.\(second).flag == YES", "$x.size == size", "$x == SELF",
            "ANY $x.\(second).size \(sign) $x.size", "ANY $x.\(second).size \(sign) size", "$x.date \(sign) $x.ratio",
        ])
        switch random.below(23) {
        case 20, 21:
            return NSPredicate(format: "\(quantifier) \(one(SemiJoinModel.toMany)).\(attribute) \(sign) \(own)")
        case 22:
            let (left, right) = (one(["date", own]), one(["date", "rate"]))
            return NSPredicate(format: "\(quantifier) \(path).\(left) \(sign) \(right)")
        case 0: return NSPredicate(format: "\(quantifier) \(path).size \(sign) \(number)")
        case 1: return NSPredicate(format: "\(quantifier) \(path).name \(textSign)\(modifier) %@", text)
        case 2: return NSPredicate(format: "\(quantifier) \(path).\(second).size \(sign) \(number)")
        case 3: return NSPredicate(format: "\(quantifier) \(path).parent.size \(sign) \(number)")
        case 4: return NSPredicate(format: "\(quantifier) \(path) == %@", node)
        case 5: return NSPredicate(format: "%@ IN \(path)", node)
        case 6: return NSPredicate(format: "\(path) CONTAINS %@", node)
        case 7: return NSPredicate(format: "\(quantifier) \(path) IN %@", some)
        case 8: return NSPredicate(format: "\(path).name CONTAINS\(modifier) %@", text)
        case 9: return NSPredicate(format: "\(path).@count \(sign) \(count)")
        case 10: return NSPredicate(format: "\(path).\(function).\(attribute) \(sign) \(number)")
        case 11: return NSPredicate(format: "SUBQUERY(\(path), $x, \(inner)).@count \(sign) \(count)")
        case 12: return NSPredicate(format: "SUBQUERY(\(path), $x, \(inner)).@count > 0")
        case 13: return NSPredicate(format: "\(quantifier) \(path).size BETWEEN {\(number), 3}")
        case 14: return NSPredicate(format: "\(quantifier) \(path).size IN {\(number), 3}")
        case 15: return NSPredicate(format: "\(quantifier) \(path).name == nil OR size \(sign) \(number)")
        case 16: return NSPredicate(format: "key BETWEEN {%d, %d}", number * 20, number * 20 + 15)
        case 17:
            return NSPredicate(
                format: "\(quantifier) \(path).parent == %@ OR \(path).@max.date > %@", node, Date.distantPast as NSDate
            )
        case 18: return NSPredicate(format: "\(count) \(sign) \(path).@count")
        default: return NSPredicate(format: "SELF IN %@ OR \(path).\(function).price \(sign) \(number)", some)
        }
    }
}
