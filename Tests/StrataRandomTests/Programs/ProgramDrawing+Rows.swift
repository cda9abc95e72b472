import StrataTestKit

// Many rows at once, and what other contexts and models do.
extension ProgramDrawing {
    mutating func bulk() -> Bulk {
        let model = oracle.model
        let able = model.entities.filter { !$0.isAbstract && !$0.isPermanent }.map(\.name)
        // Mostly one family, whose rows lie in the same blocks.
        let first = able[random.below(able.count)]
        let root = model.root(model.number(first) ?? 0)
        let family = able.filter { model.root(model.number($0) ?? 0) == root }
        let shapes = [[500], [9, 1], [1, 9], [3, 1, 1], [50, 1], [300, 20], [2_000, 300]]
        let pattern = shapes[random.below(shapes.count)].map { (family[random.below(family.count)], $0) }
        let size = pattern.reduce(0) { $0 + $1.1 }
        let wanted = profile == .bulk ? 4_000 + random.below(16_000) : 50 + random.below(400)
        let repeats = max(1, wanted / size)
        let bulk = Bulk(
            first: nextKey, pattern: pattern, repeats: repeats, columns: columns(root), link: targets(family),
            // A batch request has rows of one entity.
            isBatch: repeats * pattern.count <= 12 || pattern.count == 1 ? random.chance(0.5) : false)
        nextKey += bulk.count
        return bulk
    }

    private mutating func columns(_ root: String) -> [Bulk.Column] {
        let model = oracle.model
        var columns: [Bulk.Column] = []
        for number in model.entities.indices where model.root(number) == root {
            for attribute in model.entities[number].attributes where attribute.counts == nil && random.chance(0.7) {
                var pool = ValuePool.values(attribute.kind)
                if random.chance(0.5) { pool.append(.null) }
                pool.shuffle(using: &random)
                columns.append(
                    Bulk.Column(name: attribute.name, kind: attribute.kind, pool: pool, stride: 1 + random.below(5)))
            }
        }
        return columns
    }

    /// A to-one relationship that is the many side of another one, and some objects that it may lead to.
    private mutating func targets(_ family: [String]) -> (name: String, targets: [Int])? {
        let model = oracle.model
        guard random.chance(0.5),
            let relation = model.relationships.filter({ relation in
                !relation.isToMany && family.contains { model.isKind(model.number($0) ?? 0, of: relation.owner) }
                    && relation.inverse.flatMap { model.relation($0)?.isToMany } == true
            }).randomElement(using: &random)
        else { return nil }
        let targets = oracle.view.keys(relation.destination).shuffled(using: &random).prefix(1 + random.below(20))
        return targets.isEmpty ? nil : (relation.name, Array(targets))
    }

    mutating func update() -> Operation? {
        let number = random.below(oracle.model.entities.count)
        guard
            let attribute = oracle.model.allAttributes[number].filter({
                $0.counts == nil && $0.kind != .list && $0.composite == nil
            })
            .randomElement(using: &random)
        else { return nil }
        let condition = ConditionDrawing(oracle.stored).draw(number, 1, &random)
        return .update(
            oracle.model.entities[number].name, condition, attribute.name,
            random.chance(0.1) ? .null : ValuePool.any(attribute.kind, &random))
    }

    mutating func erase() -> Operation {
        let number = random.below(oracle.model.entities.count)
        let condition = ConditionDrawing(oracle.stored).draw(number, 1, &random)
        return .erase(
            oracle.model.entities[number].name,
            .and([condition, .compare(.init(steps: [], attribute: RandomModel.key), .less, .int(Int64(nextKey / 3)))]))
    }

    /// Changes of the same few objects in two contexts.
    mutating func diverge() -> Operation? {
        var known: [Int] = []
        let all = oracle.stored.things.keys.sorted()
        for _ in 0..<3 { if let key = all.randomElement(using: &random) { known.append(key) } }
        var divergence = Divergence(
            mine: [], theirs: [], policy: Divergence.Policy.allCases[random.below(Divergence.Policy.allCases.count)])
        for _ in 0..<2 + random.below(6) {
            guard let key = known.randomElement(using: &random), let edit = divergingEdit(key) else { continue }
            var longer = divergence
            if random.chance(0.5) { longer.mine.append(edit) } else { longer.theirs.append(edit) }
            if longer.isPossible(oracle.stored) { divergence = longer }
        }
        return divergence.mine.isEmpty && divergence.theirs.isEmpty ? nil : .diverge(divergence)
    }

    private mutating func divergingEdit(_ key: Int) -> Operation? {
        guard let thing = oracle.stored.things[key] else { return nil }
        switch random.below(10) {
        case 0: return .delete(key)
        case 1..<5:
            guard let relation = oracle.model.allRelationships[thing.entity].randomElement(using: &random),
                let target = oracle.stored.keys(relation.destination).randomElement(using: &random)
            else { return nil }
            guard relation.isToMany else { return .point(key, relation.name, random.chance(0.3) ? nil : target) }
            let member = oracle.stored.targets(key, relation.name).randomElement(using: &random)
            if let member, random.chance(0.4) { return .remove(key, relation.name, member) }
            return .add(key, relation.name, target)
        default:
            return oracle.model.allAttributes[thing.entity].randomElement(using: &random).map {
                .set(key, $0.name, ValuePool.any($0.kind, &random))
            }
        }
    }

    mutating func migrate() -> Operation? {
        let number = random.below(oracle.model.entities.count)
        let entity = oracle.model.entities[number]
        if random.chance(0.3),
            let gone = entity.attributes.filter({ $0.counts == nil && $0.composite == nil })
                .randomElement(using: &random)
        {
            return .migrate(.drop(gone.name, entity: entity.name))
        }
        let kind = Kind.allCases[random.below(Kind.allCases.count)]
        var attribute = RandomModel.Attribute(name: "m\(operations.count)", kind: kind)
        if random.chance(0.5), kind != .list { attribute.initial = ValuePool.any(kind, &random) }
        return .migrate(.add(attribute, entity: entity.name))
    }
}
