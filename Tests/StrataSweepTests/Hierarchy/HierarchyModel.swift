import CoreData
import Foundation
import StrataTestKit

/// A random hierarchy of up to four levels, with attributes of random types at each and no objects at some, and boxes
/// that hold objects of one of its entities.
struct HierarchyModel {
    struct Attribute {
        let name: String
        /// A name of ``CompiledFetchModel/kinds``.
        let kind: String
    }

    private struct Entity {
        let name: String
        let parent: Int?
        let level: Int
        var attributes: [Attribute]
        var isAbstract = false
    }

    private var entities: [Entity]
    /// The entity whose objects lie in boxes.
    private let held: Int
    private let rule: NSDeleteRule
    private let indexed: Set<String>

    init(_ random: inout SeededGenerator) {
        var made: [Entity] = []
        for number in 0..<4 + random.below(4) {
            let above = made.indices.filter { made[$0].level < 3 }.randomElement(using: &random)
            made.append(
                Entity(
                    name: "E\(number)", parent: above, level: above.map { made[$0].level + 1 } ?? 0,
                    attributes: Self.attributes("e\(number)", 2 + random.below(3), &random)))
        }
        for index in made.indices where made.contains(where: { $0.parent == index }) {
            made[index].isAbstract = random.chance(0.25)
        }
        entities = made
        held = random.below(made.count)
        rule = random.chance(0.5) ? .cascadeDeleteRule : .nullifyDeleteRule
        indexed = Set(made.flatMap(\.attributes).map(\.name).filter { _ in random.chance(0.3) })
    }

    private static func attributes(_ prefix: String, _ count: Int, _ random: inout SeededGenerator) -> [Attribute] {
        (0..<count).map { number in
            let kind = CompiledFetchModel.kinds[random.below(CompiledFetchModel.kinds.count)].name
            return Attribute(name: "\(prefix)\(kind)\(number)", kind: kind)
        }
    }

    /// The same with further attributes, as a later version of the model has them.
    func grown(_ random: inout SeededGenerator) -> HierarchyModel {
        var model = self
        for index in entities.indices where random.chance(0.5) {
            model.entities[index].attributes += Self.attributes("later\(index)", 1 + random.below(2), &random)
        }
        return model
    }

    var names: [String] { entities.map(\.name) }

    /// Those of entities that have objects of their own, the highest first.
    var concreteNames: [String] { entities.filter { !$0.isAbstract }.map(\.name) }

    var heldName: String { entities[held].name }

    var cascades: Bool { rule == .cascadeDeleteRule }

    /// Those of the entity and of all above.
    func attributes(_ name: String) -> [Attribute] {
        lineage(name).flatMap { entities[$0].attributes } + [Attribute(name: "mark", kind: "int32")]
    }

    func isInBoxes(_ name: String) -> Bool { lineage(name).contains(held) }

    private func lineage(_ name: String) -> [Int] {
        var line: [Int] = []
        var next = entities.firstIndex { $0.name == name }
        while let index = next {
            line.append(index)
            next = entities[index].parent
        }
        return line
    }

    /// What the framework takes.
    func make() -> NSManagedObjectModel {
        let made = entities.map { GraphModel.entity($0.name) }
        let box = GraphModel.entity("Box")
        let boxOf = GraphModel.relationship("box", to: box)
        let contents = GraphModel.relationship("contents", to: made[held], toMany: true, rule: rule)
        GraphModel.link(boxOf, contents)
        box.properties = [GraphModel.attribute("title", .stringAttributeType), contents]
        for (index, entity) in entities.enumerated() {
            made[index].properties = entity.attributes.compactMap { attribute in
                CompiledFetchModel.kinds.first { $0.name == attribute.kind }.map {
                    GraphModel.attribute(attribute.name, $0.type)
                }
            }
            made[index].isAbstract = entity.isAbstract
            if index == 0 { made[0].properties.append(GraphModel.attribute("mark", .integer32AttributeType)) }
            if index == held { made[index].properties.append(boxOf) }
            if let parent = entity.parent { made[parent].subentities.append(made[index]) }
        }
        for entity in made {
            for property in entity.properties where indexed.contains(property.name) {
                let element = NSFetchIndexElementDescription(property: property, collationType: .binary)
                entity.indexes.append(NSFetchIndexDescription(name: "by " + property.name, elements: [element]))
            }
        }
        return makeModel(made + [box])
    }
}
