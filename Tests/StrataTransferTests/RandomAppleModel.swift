import Foundation
import StrataTestKit

/// A random model of the kind that is hard to import: names that differ in case or collide, inheritance with equal
/// names, words of SQL, composites in composites, transient properties.
struct RandomAppleModel {
    struct Attribute {
        let name: String
        /// As `NSAttributeType` has it.
        let type: Int64
        var isTransient = false
        /// Of a composite.
        var elements: [Attribute] = []
    }

    struct Relationship {
        let name: String
        let destination: Int
        /// The name of the relationship back, which may be the same.
        let inverse: String
        var isToMany = false
        var isOrdered = false
        var isTransient = false
    }

    struct Entity {
        let name: String
        let parent: Int?
        var isAbstract = false
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
    }

    private(set) var entities: [Entity] = []
    static let composite: Int64 = 2100

    private static let entityNames = [
        "Order", "ORDER", "Group", "Select", "Table", "Item", "Values", "Index", "Straße", "Join", "Key2", "Key",
    ]
    private static let propertyNames = [
        "name", "Name", "name1", "order", "group", "select", "from", "index", "where", "null", "title", "TITLE",
        "title1",
        "straße", "key", "value", "limit", "pk", "ent", "rowid", "users", "Users", "users1", "items", "owner",
    ]
    private static let types: [Int64] = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200]

    init(_ random: inout SeededGenerator) {
        let names = Self.entityNames.shuffled(using: &random).prefix(Int.random(in: 2...6, using: &random))
        for name in names {
            let inherits = !entities.isEmpty && Int.random(in: 0..<2, using: &random) == 0
            let parent = inherits ? Int.random(in: 0..<entities.count, using: &random) : nil
            entities.append(Entity(name: name, parent: parent))
        }
        for index in entities.indices where !children(of: index).isEmpty && Bool.random(using: &random) {
            entities[index].isAbstract = true
        }
        for index in entities.indices {
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                guard let name = freeName(index, &random) else { continue }
                entities[index].attributes.append(Self.attribute(name, &random, depth: 0))
            }
        }
        for _ in 0..<Int.random(in: 1...6, using: &random) { addRelationship(&random) }
    }

    private static func attribute(_ name: String, _ random: inout SeededGenerator, depth: Int) -> Attribute {
        guard depth < 3, Int.random(in: 0..<4, using: &random) == 0 else {
            let type = types.randomElement(using: &random) ?? 700
            return Attribute(
                name: name, type: type, isTransient: depth == 0 && Int.random(in: 0..<8, using: &random) == 0)
        }
        let names = ["x", "X", "y", "name", "value"].shuffled(using: &random).prefix(
            Int.random(in: 1...3, using: &random))
        return Attribute(
            name: name, type: composite, elements: names.map { attribute($0, &random, depth: depth + 1) })
    }

    func children(of index: Int) -> [Int] { entities.indices.filter { entities[$0].parent == index } }

    /// An entity and what inherits from it.
    func family(_ index: Int) -> [Int] { [index] + children(of: index).flatMap { family($0) } }

    /// What an entity inherits from, itself last.
    func line(_ index: Int) -> [Int] { (entities[index].parent.map { line($0) } ?? []) + [index] }

    func root(_ index: Int) -> Int { line(index)[0] }

    /// Entities of one line have each name once; those beside each other may share them.
    private func freeName(
        _ index: Int, _ random: inout SeededGenerator, ofRelationship isRelationship: Bool = false
    ) -> String? {
        let near = Set(line(index) + family(index))
        let taken = near.flatMap { entities[$0].attributes.map(\.name) + entities[$0].relationships.map(\.name) }
        // Nothing in a file tells two relationships apart that differ in case only.
        let similar = isRelationship ? near.flatMap { entities[$0].relationships.map { $0.name.lowercased() } } : []
        return Self.propertyNames.filter { !taken.contains($0) && !similar.contains($0.lowercased()) }
            .randomElement(using: &random)
    }

    private mutating func addRelationship(_ random: inout SeededGenerator) {
        let (a, b) = (
            entities.indices.randomElement(using: &random) ?? 0, entities.indices.randomElement(using: &random) ?? 0
        )
        let kind = Int.random(in: 0..<6, using: &random)
        guard let name = freeName(a, &random, ofRelationship: true) else { return }
        if kind == 0 {
            entities[a].relationships.append(Relationship(name: name, destination: a, inverse: name, isToMany: true))
            return
        }
        var there = Relationship(name: name, destination: b, inverse: "")
        entities[a].relationships.append(there)
        let back = freeName(b, &random, ofRelationship: true)
        entities[a].relationships.removeLast()
        guard let back else { return }
        there = Relationship(
            name: name, destination: b, inverse: back, isToMany: kind >= 3,
            isOrdered: kind >= 3 && Bool.random(using: &random), isTransient: kind == 5)
        let here = Relationship(
            name: back, destination: a, inverse: name, isToMany: kind >= 2,
            isOrdered: kind >= 2 && Bool.random(using: &random), isTransient: kind == 5)
        entities[a].relationships.append(there)
        entities[b].relationships.append(here)
    }

    // MARK: The archive

    /// The model as Core Data keeps it in a store.
    var archive: [UInt8] {
        let writer = ArchiveWriter()
        let places = entities.map { _ in writer.reserve() }
        var relationships: [String: Int] = [:]
        for (index, entity) in entities.enumerated() {
            for relationship in entity.relationships {
                relationships["\(index).\(relationship.name)"] = writer.reserve()
            }
        }
        func attribute(_ attribute: Attribute) -> ArchiveWriter.Node {
            var fields: [(String, ArchiveWriter.Node)] = [
                ("NSPropertyName", writer.string(attribute.name)), ("NSAttributeType", .integer(attribute.type)),
                ("NSIsOptional", .bool(true)), ("NSIsTransient", .bool(attribute.isTransient)),
            ]
            guard attribute.type == Self.composite else { return writer.object("NSAttributeDescription", fields) }
            fields.append(("NSCompositeElements", writer.list(attribute.elements.map { element in node(element) })))
            return writer.object("NSCompositeAttributeDescription", fields)
        }
        func node(_ element: Attribute) -> ArchiveWriter.Node { attribute(element) }
        for (index, entity) in entities.enumerated() {
            var properties = entity.attributes.map { ($0.name, attribute($0)) }
            for relationship in entity.relationships {
                let place = relationships["\(index).\(relationship.name)"] ?? 0
                let back = relationships["\(relationship.destination).\(relationship.inverse)"] ?? 0
                writer.fill(
                    place, "NSRelationshipDescription",
                    [
                        ("NSPropertyName", writer.string(relationship.name)),
                        ("NSDestinationEntity", .uid(places[relationship.destination])),
                        ("NSInverseRelationship", .uid(back)), ("NSEntity", .uid(places[index])),
                        ("NSMaxCount", .integer(relationship.isToMany ? 0 : 1)), ("NSMinCount", .integer(0)),
                        ("NSDeleteRule", .integer(1)), ("NSIsOrdered", .bool(relationship.isOrdered)),
                        ("NSIsOptional", .bool(true)), ("NSIsTransient", .bool(relationship.isTransient)),
                    ])
                properties.append((relationship.name, .uid(place)))
            }
            writer.fill(
                places[index], "NSEntityDescription",
                [
                    ("NSEntityName", writer.string(entity.name)),
                    ("NSClassNameForEntity", writer.string("NSManagedObject")),
                    ("NSIsAbstract", .bool(entity.isAbstract)),
                    ("NSSuperentity", .uid(entity.parent.map { places[$0] } ?? 0)),
                    ("NSProperties", writer.dictionary(properties)),
                ])
        }
        let named = zip(entities, places).map { ($0.name, ArchiveWriter.Node.uid($1)) }
        return writer.bytes(root: writer.object("NSManagedObjectModel", [("NSEntities", writer.dictionary(named))]))
    }
}
