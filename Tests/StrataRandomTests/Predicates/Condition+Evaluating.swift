extension Condition {
    /// Whether an object satisfies it; nil if that is unknown, as SQL has it.
    func evaluate(_ key: Int, _ world: World) -> Bool? {
        switch self {
        case .always(let truth): return truth
        case .compare(let path, let relation, let value):
            return relation.evaluate(path.value(key, world), value, path.attribute.kind)
        case .isNull(let path, let isNull): return (path.value(key, world) == .null) == isNull
        case .among(let path, let values):
            let value = path.value(key, world)
            if value == .null { return values.isEmpty ? false : nil }
            return values.contains { Relation.equal.evaluate(value, $0, path.attribute.kind) == true }
        case .between(let path, let low, let high):
            let (value, kind) = (path.value(key, world), path.attribute.kind)
            guard let above = Relation.atLeast.evaluate(value, low, kind),
                let below = Relation.atMost.evaluate(value, high, kind)
            else { return nil }
            return above && below
        case .leads(let steps, let isEqual, let wanted):
            let found = Self.follow(steps, key, world)
            if wanted == nil { return (found == nil) == isEqual }
            return found.map { ($0 == wanted) == isEqual }
        case .members(let quantifier, let name, let attribute, let relation, let value):
            let satisfied = world.targets(key, name).map {
                relation.evaluate(world.value($0, attribute.name), value, attribute.kind) == true
            }
            switch quantifier {
            case .any: return satisfied.contains(true)
            case .all: return !satisfied.contains(false)
            case .none: return !satisfied.contains(true)
            }
        case .count(let steps, let name, let relation, let number):
            guard let owner = Self.follow(steps, key, world) else { return nil }
            return relation.evaluate(.int(Int64(world.targets(owner, name).count)), .int(Int64(number)), .int64)
        case .subquery(let steps, let name, let condition, let relation, let number):
            guard let owner = Self.follow(steps, key, world) else { return nil }
            let count = world.targets(owner, name).count { condition.evaluate($0, world) == true }
            return relation.evaluate(.int(Int64(count)), .int(Int64(number)), .int64)
        case .and(let parts):
            let truths = parts.map { $0.evaluate(key, world) }
            return truths.contains(false) ? false : truths.contains(nil) ? nil : true
        case .or(let parts):
            let truths = parts.map { $0.evaluate(key, world) }
            return truths.contains(true) ? true : truths.contains(nil) ? nil : false
        case .not(let part): return part.evaluate(key, world).map { !$0 }
        }
    }

    /// The object at the end of to-one relationships.
    static func follow(_ steps: [String], _ key: Int, _ world: World) -> Int? {
        var found = key
        for step in steps {
            guard let next = world.targets(found, step).first else { return nil }
            found = next
        }
        return found
    }
}

extension Condition.Path {
    func value(_ key: Int, _ world: World) -> Value {
        guard let owner = Condition.follow(steps, key, world) else { return .null }
        return world.value(owner, attribute.name)
    }
}

extension Condition.Relation {
    func evaluate(_ a: Value, _ b: Value, _ kind: Kind) -> Bool? {
        if a == .null || b == .null { return nil }
        if a.isNothing || b.isNothing { return self == .unequal }
        switch self {
        case .equal: return a.order(b, kind) == 0
        case .unequal: return a.order(b, kind) != 0
        case .less: return a.order(b, kind) < 0
        case .atMost: return a.order(b, kind) <= 0
        case .greater: return a.order(b, kind) > 0
        case .atLeast: return a.order(b, kind) >= 0
        case .begins, .ends, .contains:
            guard case .text(let text) = a, case .text(let part) = b else { return nil }
            return evaluate(Array(text.utf8), Array(part.utf8))
        }
    }

    private func evaluate(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        switch self {
        // No text begins with, ends with or contains an empty one.
        case .begins: !part.isEmpty && text.starts(with: part)
        case .ends: !part.isEmpty && text.reversed().starts(with: part.reversed())
        default: !part.isEmpty && text.indices.contains { text[$0...].starts(with: part) }
        }
    }
}
