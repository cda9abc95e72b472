import CoreData
import Foundation
import StrataTestKit

/// Entities with unique attributes, indexes of one and several elements in both directions, a to-one relationship and a
/// subentity, and random objects of them.
enum DirectFetchModel {
    /// A version before, whose stores have the same properties in other slots once they are migrated, and the indexes
    /// in another order.
    static func earlierModel() -> NSManagedObjectModel {
        let model = model()
        guard let item = model.entitiesByName["Item"], let special = model.entitiesByName["SpecialItem"] else {
            preconditionFailure("the model has them")
        }
        item.uniquenessConstraints = []
        item.indexes = item.indexes.filter { $0.name == "note" }
        special.indexes = []
        item.properties = item.properties.filter { !["code", "number", "rank"].contains($0.name) }
        return model
    }

    static func model() -> NSManagedObjectModel {
        let (item, special, owner) = (
            GraphModel.entity("Item"), GraphModel.entity("SpecialItem"), GraphModel.entity("Keeper")
        )
        let toOwner = GraphModel.relationship("keeper", to: owner)
        let items = GraphModel.relationship("items", to: item, toMany: true)
        GraphModel.link(toOwner, items)
        item.properties = [
            GraphModel.attribute("code", .stringAttributeType), GraphModel.attribute("number", .integer64AttributeType),
            GraphModel.attribute("rank", .integer16AttributeType), GraphModel.attribute("weight", .doubleAttributeType),
            GraphModel.attribute("date", .dateAttributeType), GraphModel.attribute("uid", .UUIDAttributeType),
            GraphModel.attribute("isOpen", .booleanAttributeType), GraphModel.attribute("note", .stringAttributeType),
            toOwner,
        ]
        special.properties = [GraphModel.attribute("extra", .integer32AttributeType)]
        item.subentities = [special]
        owner.properties = [GraphModel.attribute("title", .stringAttributeType), items]
        item.uniquenessConstraints = [["code"], ["rank", "number"]]
        for names in [["number"], ["weight"], ["-date"], ["-uid"], ["rank", "-date"], ["keeper", "number"], ["note"]] {
            index(item, item, names)
        }
        index(special, item, ["extra", "rank"])
        let model = NSManagedObjectModel()
        model.entities = [item, special, owner]
        return model
    }

    static func index(_ entity: NSEntityDescription, _ base: NSEntityDescription, _ names: [String]) {
        let elements = names.compactMap { name -> NSFetchIndexElementDescription? in
            let isDescending = name.hasPrefix("-")
            let key = isDescending ? String(name.dropFirst()) : name
            guard let property = entity.propertiesByName[key] ?? base.propertiesByName[key] else { return nil }
            let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
            element.isAscending = !isDescending
            return element
        }
        entity.indexes.append(NSFetchIndexDescription(name: names.joined(separator: "_"), elements: elements))
    }

    // MARK: Values

    static let notes = ["", "a", "ab", "abc", "b", "é", "e\u{301}", "\u{0}", "a\u{0}b", "zz"]

    static func uuid(_ number: Int) -> UUID {
        UUID(uuid: (0, UInt8(number % 7), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number % 40)))
    }

    /// A value that objects may have, seldom one that they cannot: then some other type, or out of what they hold.
    static func constant(_ name: String, _ world: DirectFetchWorld, _ random: inout SeededGenerator) -> Any {
        if random.chance(0.08) {
            let odd: [Any] = [
                NSNull(), 2.5, Int.max, -1, "30", "x", Date(timeIntervalSinceReferenceDate: 3), true, UUID(),
                NSDecimalNumber(string: "3"), Double.nan, -0.0, 70_000,
            ]
            return odd[random.below(odd.count)]
        }
        switch name {
        case "keeper":
            let keeper = world.keepers[random.below(world.keepers.count)]
            return random.chance(0.5) ? keeper : keeper.objectID
        case "code": return "item \(random.below(world.codes + 4))"
        default: return value(name, &random) ?? NSNull()
        }
    }

    static func value(_ name: String, _ random: inout SeededGenerator) -> Any? {
        if random.chance(0.06) { return nil }
        switch name {
        case "number": return random.below(300)
        case "rank": return random.below(6) - 1
        case "weight": return [0, -0.0, 1.5, -2, 1e300, Double(random.below(90))][random.below(6)]
        case "date": return Date(timeIntervalSinceReferenceDate: Double(random.below(150)))
        case "uid": return uuid(random.below(280))
        case "isOpen": return random.chance(0.5)
        case "note": return notes[random.below(notes.count)]
        default: return random.below(5)
        }
    }
}

/// Random objects of the model in one context.
struct DirectFetchWorld {
    let context: NSManagedObjectContext
    private(set) var keepers: [NSManagedObject] = []
    private(set) var items: [NSManagedObject] = []
    private(set) var codes = 0

    init(_ context: NSManagedObjectContext, _ count: Int, _ random: inout SeededGenerator) throws {
        self.context = context
        for number in 0..<25 {
            let keeper = insert("Keeper", context)
            keeper.setValue("keeper \(number)", forKey: "title")
            keepers.append(keeper)
        }
        for _ in 0..<count { add(&random) }
        try context.save()
    }

    private mutating func add(_ random: inout SeededGenerator) {
        let item = insert(random.chance(0.3) ? "SpecialItem" : "Item", context)
        codes += 1
        item.setValue("item \(codes)", forKey: "code")
        set(item, &random)
        items.append(item)
    }

    private func set(_ item: NSManagedObject, _ random: inout SeededGenerator) {
        for name in ["weight", "date", "uid", "isOpen", "note", "rank"] {
            item.setValue(DirectFetchModel.value(name, &random), forKey: name)
        }
        item.setValue(random.chance(0.1) ? nil : codes * 7 % 997, forKey: "number")
        if item.entity.name == "SpecialItem" {
            item.setValue(DirectFetchModel.value("extra", &random), forKey: "extra")
        }
        item.setValue(random.chance(0.1) ? nil : keepers[random.below(keepers.count)], forKey: "keeper")
    }

    /// Inserts, changes and deletes, without saving.
    mutating func change(_ count: Int, _ random: inout SeededGenerator) {
        for _ in 0..<count {
            switch random.below(5) {
            case 0, 1: add(&random)
            case 2, 3:
                let item = items[random.below(items.count)]
                for name in ["weight", "date", "isOpen", "note", "uid"] where random.chance(0.5) {
                    item.setValue(DirectFetchModel.value(name, &random), forKey: name)
                }
                if random.chance(0.3) { item.setValue(keepers[random.below(keepers.count)], forKey: "keeper") }
            default: context.delete(items.remove(at: random.below(items.count)))
            }
        }
        if random.chance(0.05), keepers.count > 5 { context.delete(keepers.removeLast()) }
    }
}
