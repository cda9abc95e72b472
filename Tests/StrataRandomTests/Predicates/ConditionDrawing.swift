import StrataTestKit

/// Draws conditions that the objects of an entity can be asked.
struct ConditionDrawing {
    let world: World
    private var model: RandomModel { world.model }

    init(_ world: World) { self.world = world }

    func draw(_ entity: Int, _ depth: Int, _ random: inout SeededGenerator) -> Condition {
        if depth > 0, random.chance(0.45) {
            let parts = (0..<2 + random.below(2)).map { _ in draw(entity, depth - 1, &random) }
            switch random.below(3) {
            case 0: return .and(parts)
            case 1: return .or(parts)
            default: return .not(parts[0])
            }
        }
        switch random.below(14) {
        case 0: return leads(entity, &random) ?? comparison(entity, &random)
        case 1, 2: return members(entity, &random) ?? comparison(entity, &random)
        case 3: return count(entity, &random) ?? comparison(entity, &random)
        case 4: return subquery(entity, depth, &random) ?? comparison(entity, &random)
        case 5: return .always(random.chance(0.7))
        default: return comparison(entity, &random)
        }
    }

    /// A path over to-one relationships to an attribute of one of some kinds.
    func path(
        _ entity: Int, _ random: inout SeededGenerator, where isWanted: (Kind) -> Bool = { $0.isComparable }
    ) -> Condition.Path {
        var (steps, end) = steps(entity, 2, &random)
        var attributes = model.allAttributes[end].filter { isWanted($0.kind) }
        if attributes.isEmpty, !steps.isEmpty {
            (steps, end) = ([], entity)
            attributes = model.allAttributes[entity].filter { isWanted($0.kind) }
        }
        let attribute = attributes.randomElement(using: &random) ?? RandomModel.key
        return Condition.Path(steps: steps, attribute: attribute)
    }

    /// Mostly none: to-one relationships, and the entity that the last leads to.
    private func steps(_ entity: Int, _ limit: Int, _ random: inout SeededGenerator) -> ([String], Int) {
        var (steps, end) = ([String](), entity)
        while steps.count < limit, random.chance(0.35),
            let step = model.allRelationships[end].filter({ !$0.isToMany }).randomElement(using: &random),
            let next = model.number(step.destination)
        {
            steps.append(step.name)
            end = next
        }
        return (steps, end)
    }

    private func comparison(_ entity: Int, _ random: inout SeededGenerator) -> Condition {
        let path = path(entity, &random)
        switch random.below(8) {
        case 0: return .isNull(path, random.chance(0.5))
        case 1: return .among(path, (0..<random.below(4)).map { _ in value(path.attribute, &random) })
        case 2 where path.attribute.kind.isOrdered:
            let ends = [value(path.attribute, &random), value(path.attribute, &random)]
            if ends.contains(where: \.isNothing) { return .isNull(path, true) }
            let isUpwards = ends[0].order(ends[1], path.attribute.kind) <= 0
            return .between(path, ends[isUpwards ? 0 : 1], ends[isUpwards ? 1 : 0])
        default: return .compare(path, relation(path.attribute.kind, &random), value(path.attribute, &random))
        }
    }

    private func value(_ attribute: RandomModel.Attribute, _ random: inout SeededGenerator) -> Value {
        if attribute.name == RandomModel.key.name {
            return .int(Int64(world.things.isEmpty ? 0 : random.below(world.things.count + 2)))
        }
        return ValuePool.any(attribute.kind, &random)
    }

    private func relation(_ kind: Kind, _ random: inout SeededGenerator) -> Condition.Relation {
        let known: [Condition.Relation] =
            kind == .string
            ? Condition.Relation.allCases
            : kind.isOrdered ? [.equal, .unequal, .less, .atMost, .greater, .atLeast] : [.equal, .unequal]
        return known[random.below(known.count)]
    }

    private func leads(_ entity: Int, _ random: inout SeededGenerator) -> Condition? {
        var (steps, end) = steps(entity, 1, &random)
        guard let last = model.allRelationships[end].filter({ !$0.isToMany }).randomElement(using: &random)
        else { return nil }
        steps.append(last.name)
        end = model.number(last.destination) ?? end
        let target = random.chance(0.3) ? nil : world.keys(last.destination).randomElement(using: &random)
        return .leads(steps, equal: random.chance(0.5), to: target)
    }

    private func toMany(_ entity: Int, _ random: inout SeededGenerator) -> (RandomModel.Relationship, Int)? {
        guard let many = model.allRelationships[entity].filter(\.isToMany).randomElement(using: &random),
            let member = model.number(many.destination)
        else { return nil }
        return (many, member)
    }

    private func members(_ entity: Int, _ random: inout SeededGenerator) -> Condition? {
        guard let (many, member) = toMany(entity, &random),
            let attribute = (model.allAttributes[member].filter { $0.kind.isComparable } + [RandomModel.key])
                .randomElement(using: &random),
            let quantifier = Condition.Quantifier.allCases.randomElement(using: &random)
        else { return nil }
        return .members(
            quantifier, many.name, attribute, relation(attribute.kind, &random), value(attribute, &random))
    }

    private func count(_ entity: Int, _ random: inout SeededGenerator) -> Condition? {
        let (steps, end) = steps(entity, 1, &random)
        guard let (many, _) = toMany(end, &random) else { return nil }
        return .count(steps, many.name, relation(.int64, &random), random.below(4))
    }

    private func subquery(_ entity: Int, _ depth: Int, _ random: inout SeededGenerator) -> Condition? {
        let (steps, end) = steps(entity, 1, &random)
        guard let (many, member) = toMany(end, &random) else { return nil }
        return .subquery(
            steps, many.name, draw(member, min(depth, 1) - 1, &random), relation(.int64, &random), random.below(3))
    }
}
