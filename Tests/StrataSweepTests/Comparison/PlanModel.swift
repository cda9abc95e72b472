import CoreData
import Foundation
import StrataTestKit
import Testing

/// The model of compiled fetches with to-many relationships, a chain of owners, a constraint and ordered indexes of
/// every form: one and several elements, both directions, whole and partial, on an entity, its subentity and others.
enum PlanModel {
    static let tagNames = ["a", "A", "abc", "delta", "é", "zz", "x delta"]

    static func model() throws -> NSManagedObjectModel {
        let model = CompiledFetchModel.model()
        let thing = try #require(model.entitiesByName["Thing"])
        let special = try #require(model.entitiesByName["SpecialThing"])
        let owner = try #require(model.entitiesByName["Owner"])
        let tag = GraphModel.entity("Tag")
        let tags = GraphModel.relationship("tags", to: tag, toMany: true)
        let things = GraphModel.relationship("things", to: thing, toMany: true)
        GraphModel.link(tags, things)
        let children = GraphModel.relationship("children", to: thing, toMany: true)
        let parent = GraphModel.relationship("parent", to: thing)
        GraphModel.link(children, parent)
        let boss = GraphModel.relationship("boss", to: owner)
        let staff = GraphModel.relationship("staff", to: owner, toMany: true)
        GraphModel.link(boss, staff)
        thing.properties += [GraphModel.attribute("serial", .integer64AttributeType), tags, children, parent]
        owner.properties += [GraphModel.attribute("rank", .integer32AttributeType), boss, staff]
        tag.properties = [
            GraphModel.attribute("name", .stringAttributeType), GraphModel.attribute("weight", .integer32AttributeType),
            GraphModel.attribute("score", .doubleAttributeType), things,
        ]
        model.entities.append(tag)
        thing.uniquenessConstraints = [["serial"], ["uuid", "serial"]]
        for names in [
            ["int16", "string"], ["-string"], ["double", "-int32"], ["date"], ["uuid", "bool"], ["-decimal", "float"],
            ["data"], ["owner", "int64"], ["int64Twin"], ["bool", "-date", "string"],
        ] {
            try CompiledFetchModel.index(thing, thing, names)
        }
        try CompiledFetchModel.index(thing, thing, ["int32"], where: "int16 >= 1")
        try CompiledFetchModel.index(thing, thing, ["-int64", "string"], where: "bool == YES AND string != nil")
        try CompiledFetchModel.index(thing, thing, ["uri"], where: "NOT (int32 == 3)")
        try CompiledFetchModel.index(special, thing, ["extra", "int32"])
        try CompiledFetchModel.index(owner, owner, ["title"])
        try CompiledFetchModel.index(tag, tag, ["-weight", "name"])
        return model
    }
}

/// Random objects of the model in one context, some of their changes not saved.
struct PlanWorld {
    let context: NSManagedObjectContext
    private(set) var owners: [NSManagedObject] = []
    private(set) var things: [NSManagedObject] = []
    private(set) var tags: [NSManagedObject] = []
    private var serial: Int64 = 0
    /// Their sums are the same whichever way they are added, so that requests can be in their order.
    private static let scores = [-1.5, -0.0, 0, 0.25, 1, 2.5, 3, 1e300, -.infinity, .nan]

    init(_ context: NSManagedObjectContext, _ random: inout SeededGenerator) throws {
        self.context = context
        for index in 0..<6 {
            let owner = insert("Owner", context)
            owner.setValue(index == 0 ? nil : CompiledFetchModel.words[index], forKey: "title")
            setRank(owner, &random)
            owners.append(owner)
        }
        for _ in 0..<6 {
            let tag = insert("Tag", context)
            set(tag: tag, &random)
            tags.append(tag)
        }
        change(30, &random)
        try context.save()
    }

    /// Inserts, changes and deletes, without saving.
    mutating func change(_ count: Int, _ random: inout SeededGenerator) {
        for _ in 0..<count {
            switch random.below(things.count < 25 ? 1 : (things.count > 45 ? 6 : 7)) {
            case 0, 6:
                let thing = insert(random.chance(0.3) ? "SpecialThing" : "Thing", context)
                serial += 1
                thing.setValue(serial, forKey: "serial")
                if thing.entity.name == "SpecialThing" { thing.setValue(random.below(5), forKey: "extra") }
                set(thing: thing, &random)
                things.append(thing)
            case 1, 2: set(thing: things[random.below(things.count)], &random)
            case 3: set(tag: tags[random.below(tags.count)], &random)
            case 4: setRank(owners[random.below(owners.count)], &random)
            default: context.delete(things.remove(at: random.below(things.count)))
            }
        }
    }

    private func setRank(_ owner: NSManagedObject, _ random: inout SeededGenerator) {
        owner.setValue(random.chance(0.2) ? nil : random.below(4), forKey: "rank")
        owner.setValue(random.chance(0.3) ? nil : owners.randomElement(using: &random), forKey: "boss")
    }

    private func set(tag: NSManagedObject, _ random: inout SeededGenerator) {
        tag.setValue(random.chance(0.15) ? nil : PlanModel.tagNames.randomElement(using: &random), forKey: "name")
        tag.setValue(random.chance(0.15) ? nil : random.below(5) - 1, forKey: "weight")
        tag.setValue(random.chance(0.15) ? nil : Self.scores.randomElement(using: &random), forKey: "score")
    }

    private func set(thing: NSManagedObject, _ random: inout SeededGenerator) {
        for kind in CompiledFetchModel.kinds {
            for name in [kind.name, kind.name + "Twin"] {
                thing.setValue(CompiledFetchModel.value(name, &random), forKey: name)
            }
        }
        thing.setValue(random.chance(0.2) ? nil : owners[random.below(owners.count)], forKey: "owner")
        thing.setValue(random.chance(0.5) ? nil : things.randomElement(using: &random), forKey: "parent")
        thing.setValue(Set(tags.filter { _ in random.chance(0.25) }), forKey: "tags")
    }
}
