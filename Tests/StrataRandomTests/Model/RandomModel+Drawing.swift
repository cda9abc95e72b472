import StrataTestKit

extension RandomModel {
    /// Draws a model: one to three lines of inheritance up to four levels deep, with attributes at each, and
    /// relationships of every kind between any of them.
    init(_ random: inout SeededGenerator) {
        var entities: [Entity] = []
        for root in 0..<1 + random.below(3) { Self.drawLine(root, &entities, &random) }
        for index in entities.indices {
            entities[index].isAbstract =
                random.chance(0.25) && entities.contains { $0.parent == entities[index].name }
        }
        var relationships = (0..<random.below(6)).flatMap { Self.drawPair($0, entities, &random) }
        if random.chance(0.3) {
            entities.append(
                Entity(name: "Anchor", attributes: [Attribute(name: "a0", kind: .string)], isPermanent: true))
            relationships.append(
                Relationship(
                    name: "anchor", inverse: nil, owner: entities[random.below(entities.count - 1)].name,
                    destination: "Anchor", isToMany: false))
        }
        Self.drawDerived(&entities, relationships, &random)
        Self.drawIndexes(&entities, &random)
        self.init(entities: entities, relationships: relationships)
    }

    private static func drawLine(_ root: Int, _ entities: inout [Entity], _ random: inout SeededGenerator) {
        let first = entities.count
        let count = 1 + random.below(random.chance(0.5) ? 2 : 5)
        for index in 0..<count {
            var entity = Entity(name: "E\(root)\(index)")
            var depth = 0
            if index > 0 {
                // Entities further down become more likely, so that lines grow deep.
                let made = entities.count - first
                let parent = entities[first + max(random.below(made), random.below(made))]
                entity.parent = parent.name
                var above: String? = parent.name
                while let name = above {
                    depth += 1
                    above = entities.first { $0.name == name }?.parent
                }
                if depth > 3 { continue }
            }
            for slot in 0..<random.below(5) {
                var attribute = Attribute(
                    name: "a\(depth)\(slot)", kind: Kind.allCases[random.below(Kind.allCases.count)])
                if random.chance(0.2), attribute.kind != .list {
                    attribute.initial = ValuePool.any(attribute.kind, &random)
                }
                entity.attributes.append(attribute)
            }
            if random.chance(0.15) { drawComposite(&entity, "c\(depth)", &random) }
            if random.chance(0.2) {
                entity.transients.append(
                    Attribute(name: "t\(depth)", kind: Kind.allCases[random.below(Kind.allCases.count)]))
            }
            entities.append(entity)
        }
    }

    private static func drawComposite(_ entity: inout Entity, _ name: String, _ random: inout SeededGenerator) {
        let kinds = Kind.allCases.filter(\.isComparable)
        for element in 0..<1 + random.below(3) {
            entity.attributes.append(Attribute(name: "\(name).e\(element)", kind: kinds[random.below(kinds.count)]))
        }
    }

    private static func drawPair(
        _ number: Int, _ entities: [Entity], _ random: inout SeededGenerator
    ) -> [Relationship] {
        let owner = entities[random.below(entities.count)].name
        let destination = random.chance(0.4) ? owner : entities[random.below(entities.count)].name
        func rule() -> Rule {
            switch random.below(10) {
            case 0..<5: .nullify
            case 5..<8: .cascade
            case 8: .noAction
            default: .deny
            }
        }
        let name = "r\(number)"
        if owner == destination, random.chance(0.2) {
            return [
                Relationship(
                    name: name, inverse: name, owner: owner, destination: owner, isToMany: random.chance(0.7),
                    rule: random.chance(0.5) ? .nullify : .cascade)
            ]
        }
        var pair = [
            Relationship(
                name: name, inverse: name + "i", owner: owner, destination: destination, isToMany: random.chance(0.6),
                rule: rule()),
            Relationship(
                name: name + "i", inverse: name, owner: destination, destination: owner, isToMany: random.chance(0.5),
                rule: random.chance(0.7) ? .nullify : rule()),
        ]
        for index in pair.indices where pair[index].isToMany { pair[index].isOrdered = random.chance(0.3) }
        return pair
    }

    private static func drawDerived(
        _ entities: inout [Entity], _ relationships: [Relationship], _ random: inout SeededGenerator
    ) {
        guard random.chance(0.25), let many = relationships.first(where: \.isToMany),
            let owner = entities.firstIndex(where: { $0.name == many.owner })
        else { return }
        entities[owner].attributes.append(Attribute(name: "count", kind: .int64, counts: many.name))
    }

    private static func drawIndexes(_ entities: inout [Entity], _ random: inout SeededGenerator) {
        for number in entities.indices {
            var names = entities[number].attributes.filter { $0.kind.isComparable && $0.composite == nil }
                .map(\.name)
            if entities[number].parent == nil { names.append(key.name) }
            guard !names.isEmpty, random.chance(0.3) else { continue }
            names.shuffle(using: &random)
            entities[number].indexes.append(Array(names.prefix(1 + random.below(2))))
        }
    }
}
