import StrataTestKit

// Edits of single objects.
extension ProgramDrawing {
    mutating func insert() -> Operation? {
        guard profile != .graph || oracle.view.things.count < 40 else { return nil }
        let able = oracle.model.entities.filter { !$0.isAbstract }
        nextKey += 1
        return able.randomElement(using: &random).map { .insert(nextKey - 1, entity: $0.name) }
    }

    mutating func change() -> Operation? {
        guard let key = pick(), let thing = oracle.view.things[key],
            let attribute = oracle.model.allAttributes[thing.entity].filter({ $0.counts == nil })
                .randomElement(using: &random)
        else { return nil }
        return .set(key, attribute.name, random.chance(0.1) ? .null : ValuePool.any(attribute.kind, &random))
    }

    mutating func setTransient() -> Operation? {
        guard let key = pick(), let thing = oracle.view.things[key],
            let attribute = oracle.model.allTransients[thing.entity].randomElement(using: &random)
        else { return nil }
        return .setTransient(key, attribute.name, ValuePool.any(attribute.kind, &random))
    }

    /// A change of what places a result of the last controller: of an object at the end of a path, or on the way there.
    /// There are few values, so that results often come together and part again.
    mutating func disturb() -> Operation? {
        guard let path = followed.paths.randomElement(using: &random), let key = pick(followed.entity),
            let number = oracle.model.number(followed.entity), path.isIn(oracle.model, number)
        else { return nil }
        if let step = path.steps.first, random.chance(0.3), let relation = oracle.model.relation(step) {
            return .point(key, step, random.chance(0.1) ? nil : pick(relation.destination))
        }
        guard path.attribute.counts == nil, path.attribute.name != RandomModel.key.name,
            let owner = Condition.follow(path.steps, key, oracle.view)
        else { return nil }
        let values = ValuePool.values(path.attribute.kind).prefix(3)
        return values.randomElement(using: &random).map { .set(owner, path.attribute.name, $0) }
    }

    mutating func link() -> Operation? {
        guard let relation = oracle.model.relationships.randomElement(using: &random), let key = pick(relation.owner)
        else { return nil }
        let target = pick(relation.destination)
        guard relation.isToMany else { return .point(key, relation.name, random.chance(0.15) ? nil : target) }
        switch random.below(6) {
        case 0, 1, 2: return target.map { .add(key, relation.name, $0) }
        case 3:
            return oracle.view.targets(key, relation.name).randomElement(using: &random).map {
                .remove(key, relation.name, $0)
            }
        default:
            var wanted: [Int] = []
            for _ in 0..<random.below(4) {
                if let other = pick(relation.destination), !wanted.contains(other) { wanted.append(other) }
            }
            return .replace(key, relation.name, wanted)
        }
    }
}
