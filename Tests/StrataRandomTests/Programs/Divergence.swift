/// Two contexts that change the same objects: one has saved when the other saves under a policy.
///
/// Changes are edits as in a program. Relationships are those that are a fact of one row, and those from many to many;
/// what is deleted has relationships only whose other ends are no facts of rows.
struct Divergence {
    enum Policy: String, CaseIterable {
        case error, rollback, overwrite
        case object = "mergeByPropertyObjectTrump"
        case store = "mergeByPropertyStoreTrump"
        case threeWays

        /// Whether it refuses what both have changed in ways that do not go together.
        fileprivate var refuses: Bool { self == .error || self == .threeWays }
        /// Whether what others have saved is what counts.
        fileprivate var yields: Bool { self == .rollback || self == .store }
    }

    /// What is in the row of an object.
    private enum Cell: Equatable {
        case value(Value)
        case target(Int?)
    }

    /// What the context in use changes after it has read the objects, and what the other one saves meanwhile.
    var mine: [Operation]
    var theirs: [Operation]
    var policy: Policy

    /// Whether the changes make sense after what is stored.
    func isPossible(_ stored: World) -> Bool {
        var pairs: Set<[String]> = []
        for edits in [mine, theirs] {
            var touched: Set<[String]> = []
            let deleted = edits.compactMap(\.deleted)
            for edit in edits {
                guard Self.isPossible(edit, stored), let mark = edit.mark(stored.model), touched.insert(mark).inserted
                else { return false }
                // A link from many to many is no fact of a row, and so changed by one of them only.
                if case .add = edit, mark.count == 3, !pairs.insert(mark).inserted { return false }
                if case .remove = edit, mark.count == 3, !pairs.insert(mark).inserted { return false }
                if policy == .rollback, mark.count == 3 { return false }
                if edit.deleted == nil, !edit.keys.filter(deleted.contains).isEmpty { return false }
            }
        }
        // Nothing is made to lead to what goes.
        let gone = Set((mine + theirs).compactMap(\.deleted))
        return (mine + theirs).allSatisfy { edit in
            switch edit {
            case .set, .delete: true
            default: gone.isDisjoint(with: edit.keys)
            }
        }
    }

    private static func isPossible(_ edit: Operation, _ stored: World) -> Bool {
        let model = stored.model
        func has(_ key: Int, _ name: String, toMany: Bool, _ target: Int?) -> Bool {
            guard let thing = stored.things[key], let relation = model.relation(name), relation.isToMany == toMany,
                model.isKind(thing.entity, of: relation.owner), relation.isMergedByRow(model)
            else { return false }
            guard let target else { return true }
            return stored.things[target].map { model.isKind($0.entity, of: relation.destination) } ?? false
        }
        switch edit {
        case .set(let key, let name, let value):
            // Setting what is there already may or may not be a change.
            guard let thing = stored.things[key], let attribute = model.attribute(name, of: thing.entity)
            else { return false }
            return attribute.counts == nil && attribute.composite == nil && thing[name] != value
        case .point(let key, let name, let target):
            return has(key, name, toMany: false, target) && stored.targets(key, name).first != target
        case .add(let key, let name, let target):
            return has(key, name, toMany: true, target) && !stored.targets(key, name).contains(target)
        case .remove(let key, let name, let target):
            return has(key, name, toMany: true, target) && stored.targets(key, name).contains(target)
        case .delete(let key):
            guard let thing = stored.things[key], !model.entities[thing.entity].isPermanent else { return false }
            return thing.links.keys.allSatisfy { name in
                guard let relation = model.relation(name) else { return false }
                return !relation.isToMany && relation.rule == .nullify && relation.isMergedByRow(model)
            }
        default: return false
        }
    }

    /// What is stored in the end; nil if the second save is refused.
    func outcome(_ stored: World) -> World? {
        let (here, there) = (applying(mine, to: stored), applying(theirs, to: stored))
        var result = there
        for key in Set((mine + theirs).flatMap(\.keys)).sorted() {
            guard let before = row(key, stored) else { continue }
            let theirs = row(key, there)
            guard let mine = row(key, here) else {
                if theirs != before, policy.refuses { return nil }
                if theirs == before || !policy.yields { result.delete([key]) }
                continue
            }
            let changes = mine.filter { before[$0.key] != $0.value }
            if changes.isEmpty { continue }
            guard let theirs else {
                if policy.refuses { return nil }
                continue
            }
            let changedThere = theirs.filter { before[$0.key] != $0.value }
            guard let winning = winning(changes, mine, changedThere) else { return nil }
            put(winning, key, &result)
        }
        for edit in mine {
            switch edit {
            case .add(let key, let name, let target) where edit.mark(stored.model)?.count == 3:
                result.add(key, name, target)
            case .remove(let key, let name, let target) where edit.mark(stored.model)?.count == 3:
                result.remove(key, name, target)
            default: break
            }
        }
        result.derive()
        return result
    }

    /// What the other context has stored.
    func theirOutcome(_ stored: World) -> World {
        var result = applying(theirs, to: stored)
        result.derive()
        return result
    }

    /// Which of my cells are written to a row that both may have changed; nil if it may not be saved.
    private func winning(
        _ changes: [String: Cell], _ mine: [String: Cell], _ theirs: [String: Cell]
    ) -> [String: Cell]? {
        if theirs.isEmpty { return changes }
        switch policy {
        case .error: return nil
        case .rollback: return [:]
        case .overwrite: return mine
        case .object: return changes
        case .store: return changes.filter { theirs[$0.key] == nil }
        case .threeWays:
            let differ = changes.contains { name, cell in theirs[name].map { $0 != cell } ?? false }
            return differ ? nil : changes
        }
    }

    private func applying(_ edits: [Operation], to world: World) -> World {
        var world = world
        for edit in edits {
            switch edit {
            case .set(let key, let name, let value): world.set(key, name, value)
            case .point(let key, let name, let target): world.setOne(key, name, target)
            case .add(let key, let name, let target): world.add(key, name, target)
            case .remove(let key, let name, let target): world.remove(key, name, target)
            case .delete(let key): world.delete([key])
            default: break
            }
        }
        return world
    }

    private func row(_ key: Int, _ world: World) -> [String: Cell]? {
        guard let thing = world.things[key] else { return nil }
        var row: [String: Cell] = [:]
        for attribute in world.model.allAttributes[thing.entity] where attribute.counts == nil {
            row[attribute.name] = .value(thing[attribute.name])
        }
        for relation in world.model.allRelationships[thing.entity] where !relation.isToMany {
            row[relation.name] = .target(thing.links[relation.name]?.first)
        }
        return row
    }

    private func put(_ row: [String: Cell], _ key: Int, _ world: inout World) {
        for (name, cell) in row.sorted(by: { $0.key < $1.key }) {
            switch cell {
            case .value(let value): world.set(key, name, value)
            case .target(let target): world.setOne(key, name, target)
            }
        }
    }
}

extension RandomModel.Relationship {
    /// Whether a change of it is one of a single row, or, from many to many, of none.
    func isMergedByRow(_ model: RandomModel) -> Bool {
        guard let name = inverse else { return !isToMany }
        guard let other = model.relation(name), other.name != self.name else { return false }
        return (isToMany || other.isToMany) && !isOrdered && !other.isOrdered
    }
}

extension Operation {
    fileprivate var deleted: Int? { if case .delete(let key) = self { key } else { nil } }

    /// The objects that an edit is about.
    var keys: [Int] {
        switch self {
        case .set(let key, _, _), .delete(let key): [key]
        case .point(let key, _, let target): [key] + (target.map { [$0] } ?? [])
        case .add(let key, _, let target), .remove(let key, _, let target): [key, target]
        default: []
        }
    }

    /// What it changes: a row's cell, or, in three parts, a link from many to many.
    fileprivate func mark(_ model: RandomModel) -> [String]? {
        switch self {
        case .set(let key, let name, _), .point(let key, let name, _): return ["\(key)", name]
        case .delete(let key): return ["\(key)"]
        case .add(let key, let name, let target), .remove(let key, let name, let target):
            guard let inverse = model.relation(name)?.inverse, let other = model.relation(inverse) else { return nil }
            if !other.isToMany { return ["\(target)", inverse] }
            return name < inverse ? ["\(key)", "\(target)", name] : ["\(target)", "\(key)", inverse]
        default: return nil
        }
    }
}
