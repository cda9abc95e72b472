import CoreData

/// What a store or a context should hold, as dictionaries.
struct NaiveWorld: Equatable {
    struct Thing: Equatable {
        var entity: String
        /// Attributes as texts.
        var values: [String: String] = [:]
        /// For each relationship, the keys of the objects it leads to.
        var links: [String: [Int]] = [:]
    }

    var things: [Int: Thing] = [:]

    func keys(_ entity: String) -> [Int] {
        things.filter { WholeModel.lineage[$0.value.entity]?.contains(entity) == true }.keys.sorted()
    }

    func targets(_ key: Int, _ name: String) -> [Int] { things[key]?.links[name] ?? [] }

    private func relation(_ name: String) -> WholeModel.Relation {
        guard let relation = WholeModel.byName[name] else { preconditionFailure("no relationship \(name)") }
        return relation
    }

    private mutating func drop(_ key: Int, _ name: String, _ target: Int) {
        things[key]?.links[name]?.removeAll { $0 == target }
        if things[key]?.links[name]?.isEmpty == true { things[key]?.links[name] = nil }
    }

    private mutating func append(_ key: Int, _ name: String, _ target: Int) {
        things[key]?.links[name, default: []].append(target)
    }

    mutating func setOne(_ key: Int, _ name: String, _ target: Int?) {
        let old = targets(key, name).first
        guard old != target else { return }
        let inverse = relation(name).inverse
        if let old {
            drop(old, inverse, key)
            drop(key, name, old)
        }
        guard let target else { return }
        if !relation(inverse).isToMany, let other = targets(target, inverse).first {
            drop(other, name, target)
            drop(target, inverse, other)
        }
        append(key, name, target)
        append(target, inverse, key)
    }

    mutating func add(_ key: Int, _ name: String, _ target: Int) {
        guard !targets(key, name).contains(target) else { return }
        let inverse = relation(name).inverse
        if !relation(inverse).isToMany { return setOne(target, inverse, key) }
        append(key, name, target)
        if inverse != name || key != target { append(target, inverse, key) }
    }

    mutating func remove(_ key: Int, _ name: String, _ target: Int) {
        guard targets(key, name).contains(target) else { return }
        drop(key, name, target)
        drop(target, relation(name).inverse, key)
    }

    mutating func insert(_ key: Int, _ name: String, _ target: Int, at index: Int) {
        guard !targets(key, name).contains(target) else { return }
        add(key, name, target)
        things[key]?.links[name]?.removeLast()
        things[key]?.links[name, default: []].insert(target, at: index)
    }

    mutating func move(_ key: Int, _ name: String, from source: Int, to place: Int) {
        guard let moved = things[key]?.links[name]?.remove(at: source) else { return }
        things[key]?.links[name, default: []].insert(moved, at: place)
    }

    mutating func set(_ key: Int, _ name: String, _ wanted: [Int]) {
        for target in targets(key, name) where !wanted.contains(target) { remove(key, name, target) }
        for target in wanted { add(key, name, target) }
        if relation(name).isOrdered, !wanted.isEmpty { things[key]?.links[name] = wanted }
    }

    /// Follows the delete rules.
    mutating func delete(_ key: Int) {
        var doomed = [key]
        var index = 0
        while index < doomed.count {
            let thing = things[doomed[index]]
            index += 1
            for (name, targets) in thing?.links ?? [:] where relation(name).rule == .cascadeDeleteRule {
                for target in targets where !doomed.contains(target) { doomed.append(target) }
            }
        }
        for key in doomed {
            for (name, targets) in things[key]?.links ?? [:] {
                for target in targets { drop(target, relation(name).inverse, key) }
            }
            things[key] = nil
        }
    }

    /// Whether a deletion would be refused when it is saved.
    func isDenied(_ key: Int) -> Bool { !targets(key, "guards").isEmpty }

    /// Equal but for the order of what has none.
    func differences(from other: NaiveWorld) -> [String] {
        var found: [String] = []
        for key in Set(things.keys).union(other.things.keys).sorted() {
            guard let mine = things[key], let theirs = other.things[key] else {
                found.append(
                    "\(key): \(things[key]?.entity ?? "none") instead of \(other.things[key]?.entity ?? "none")")
                continue
            }
            if mine.entity != theirs.entity { found.append("\(key): \(mine.entity) instead of \(theirs.entity)") }
            for name in Set(mine.values.keys).union(theirs.values.keys) where mine.values[name] != theirs.values[name] {
                found.append("\(key).\(name): \(mine.values[name] ?? "-") instead of \(theirs.values[name] ?? "-")")
            }
            for relation in WholeModel.relations {
                let (a, b) = (mine.links[relation.name] ?? [], theirs.links[relation.name] ?? [])
                let isEqual = relation.isOrdered ? a == b : a.sorted() == b.sorted()
                if !isEqual { found.append("\(key).\(relation.name): \(a) instead of \(b)") }
            }
        }
        return found
    }
}
