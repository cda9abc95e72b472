/// What a store or a context should hold, as dictionaries.
struct World {
    struct Thing {
        var entity: Int
        /// Attributes that are not null.
        var values: [String: Value] = [:]
        /// For each relationship that is not empty, the keys of the objects it leads to.
        var links: [String: [Int]] = [:]

        subscript(_ name: String) -> Value {
            get { values[name] ?? .null }
            set { values[name] = newValue == .null ? nil : newValue }
        }
    }

    let model: RandomModel
    private(set) var things: [Int: Thing] = [:]

    init(_ model: RandomModel) { self.model = model }

    /// The value of an attribute, or of the key.
    func value(_ key: Int, _ name: String) -> Value {
        name == RandomModel.key.name ? .int(Int64(key)) : things[key]?[name] ?? .null
    }

    func targets(_ key: Int, _ name: String) -> [Int] { things[key]?.links[name] ?? [] }

    /// The objects of an entity, by their keys.
    func keys(_ entity: String, withSubentities: Bool = true) -> [Int] {
        guard let exact = model.number(entity) else { return [] }
        return things.filter {
            withSubentities ? model.isKind($0.value.entity, of: entity) : $0.value.entity == exact
        }.keys.sorted()
    }

    /// A new object with the values that the model gives it.
    mutating func insert(_ key: Int, _ entity: Int) {
        var thing = Thing(entity: entity)
        for attribute in model.allAttributes[entity] { thing[attribute.name] = attribute.initial }
        things[key] = thing
    }

    mutating func set(_ key: Int, _ name: String, _ value: Value) { things[key]?[name] = value }

    /// Computes the derived attributes, as a save does.
    mutating func derive() {
        for (number, attributes) in model.allAttributes.enumerated() {
            for attribute in attributes {
                guard let counted = attribute.counts else { continue }
                for (key, thing) in things where thing.entity == number {
                    set(key, attribute.name, .int(Int64(targets(key, counted).count)))
                }
            }
        }
    }

    // MARK: Relationships

    private func inverse(_ name: String) -> RandomModel.Relationship? {
        model.relation(name)?.inverse.flatMap { model.relation($0) }
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
        let inverse = inverse(name)
        if let old {
            if let inverse { drop(old, inverse.name, key) }
            drop(key, name, old)
        }
        guard let target else { return }
        if let inverse, !inverse.isToMany, let other = targets(target, inverse.name).first {
            drop(other, name, target)
            drop(target, inverse.name, other)
        }
        append(key, name, target)
        if let inverse, !(inverse.name == name && key == target) { append(target, inverse.name, key) }
    }

    mutating func add(_ key: Int, _ name: String, _ target: Int) {
        guard !targets(key, name).contains(target) else { return }
        guard let inverse = inverse(name) else { return append(key, name, target) }
        if !inverse.isToMany { return setOne(target, inverse.name, key) }
        append(key, name, target)
        if inverse.name != name || key != target { append(target, inverse.name, key) }
    }

    mutating func remove(_ key: Int, _ name: String, _ target: Int) {
        guard targets(key, name).contains(target) else { return }
        drop(key, name, target)
        if let inverse = inverse(name) { drop(target, inverse.name, key) }
    }

    /// Makes a to-many relationship lead to these, in this order if it has one.
    mutating func set(_ key: Int, _ name: String, _ wanted: [Int]) {
        for target in targets(key, name) where !wanted.contains(target) { remove(key, name, target) }
        for target in wanted { add(key, name, target) }
        if model.relation(name)?.isOrdered == true, !wanted.isEmpty { things[key]?.links[name] = wanted }
    }

    // MARK: Deletion

    /// What is deleted with some objects by the delete rules.
    func closure(_ keys: [Int]) -> [Int] {
        var doomed: [Int] = []
        var seen: Set<Int> = []
        func add(_ key: Int) {
            guard things[key] != nil, seen.insert(key).inserted else { return }
            doomed.append(key)
        }
        keys.forEach(add)
        var index = 0
        while index < doomed.count {
            for (name, targets) in things[doomed[index]]?.links ?? [:] where model.relation(name)?.rule == .cascade {
                targets.forEach(add)
            }
            index += 1
        }
        return doomed
    }

    /// Those of a closure that may not be deleted, because they lead to others by a relationship with that rule.
    func denied(_ closure: [Int]) -> [Int] {
        let gone = Set(closure)
        return closure.filter { key in
            (things[key]?.links ?? [:]).contains { name, targets in
                model.relation(name)?.rule == .deny && targets.contains { !gone.contains($0) }
            }
        }
    }

    /// Whether a rule leaves references to what is deleted in objects that stay.
    func leavesDangling(_ closure: [Int]) -> Bool {
        let gone = Set(closure)
        return closure.contains { key in
            (things[key]?.links ?? [:]).contains { name, targets in
                guard let relation = model.relation(name), relation.rule == .noAction, relation.inverse != nil
                else { return false }
                return targets.contains { !gone.contains($0) }
            }
        }
    }

    /// Takes objects and all references to them away.
    mutating func delete(_ closure: [Int]) {
        for key in closure {
            for (name, targets) in things[key]?.links ?? [:] {
                guard let inverse = inverse(name) else { continue }
                for target in targets { drop(target, inverse.name, key) }
            }
            things[key] = nil
        }
    }

    // MARK: Comparison

    /// In what a world differs from the one that it should be.
    ///
    /// - Parameter comparesDerived: false where derived attributes are those of the last save, whichever that was.
    func differences(from wanted: World, comparesDerived: Bool = true, atMost limit: Int = 6) -> [String] {
        var found: [String] = []
        for key in Set(things.keys).union(wanted.things.keys).sorted() where found.count < limit {
            switch (things[key], wanted.things[key]) {
            case (nil, _?): found.append("\(key) is missing")
            case (let mine?, nil): found.append("\(key) is there, a \(model.entities[mine.entity].name)")
            case (let mine?, let theirs?): found += differences(key, mine, theirs, comparesDerived)
            case (nil, nil): break
            }
        }
        return found
    }

    private func differences(_ key: Int, _ mine: Thing, _ theirs: Thing, _ comparesDerived: Bool) -> [String] {
        var found: [String] = []
        if mine.entity != theirs.entity {
            found.append("\(key) is a \(model.entities[mine.entity].name), not a \(model.entities[theirs.entity].name)")
        }
        for attribute in model.allAttributes[theirs.entity] where mine[attribute.name] != theirs[attribute.name] {
            if attribute.counts != nil, !comparesDerived { continue }
            found.append(
                "\(key).\(attribute.name) is \(mine[attribute.name].literal(attribute.kind)), not "
                    + theirs[attribute.name].literal(attribute.kind))
        }
        for relationship in model.allRelationships[theirs.entity] {
            let (a, b) = (mine.links[relationship.name] ?? [], theirs.links[relationship.name] ?? [])
            let isEqual = relationship.isOrdered ? a == b : a.sorted() == b.sorted()
            let shown = relationship.isOrdered ? (a, b) : (a.sorted(), b.sorted())
            if !isEqual { found.append("\(key).\(relationship.name) is \(shown.0), not \(shown.1)") }
        }
        return found
    }

    /// Puts what was read in the place of a thing.
    mutating func put(_ key: Int, _ thing: Thing) { things[key] = thing }
}
