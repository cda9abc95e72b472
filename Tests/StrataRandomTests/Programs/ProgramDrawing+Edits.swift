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
