/// The graph of ``NodeModel/nodes()`` as simply as can be, to compare with.
struct NaiveGraph {
    struct Relation {
        var name: String
        var inverse: String
        var isToMany = false
        var isOrdered = false
    }

    static let relations: [String: Relation] = {
        let all = [
            Relation(name: "next", inverse: "previous"), Relation(name: "previous", inverse: "next"),
            Relation(name: "parent", inverse: "children"),
            Relation(name: "children", inverse: "parent", isToMany: true),
            Relation(name: "owner", inverse: "items"),
            Relation(name: "items", inverse: "owner", isToMany: true, isOrdered: true),
            Relation(name: "friends", inverse: "friends", isToMany: true),
            Relation(name: "follows", inverse: "followers", isToMany: true),
            Relation(name: "followers", inverse: "follows", isToMany: true),
            Relation(name: "queue", inverse: "queuedIn", isToMany: true, isOrdered: true),
            Relation(name: "queuedIn", inverse: "queue", isToMany: true),
            Relation(name: "left", inverse: "right", isToMany: true, isOrdered: true),
            Relation(name: "right", inverse: "left", isToMany: true, isOrdered: true),
        ]
        return Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    }()
    static let names = relations.keys.sorted()

    /// For each node, what each relationship leads to.
    var nodes: [Int: [String: [Int]]] = [:]

    private func relation(_ name: String) -> Relation { Self.relations[name] ?? Relation(name: name, inverse: name) }

    func targets(_ node: Int, _ name: String) -> [Int] { nodes[node]?[name] ?? [] }

    mutating func setOne(_ node: Int, _ name: String, _ target: Int?) {
        let old = targets(node, name).first
        guard old != target else { return }
        let inverse = relation(name).inverse
        if let old { nodes[old]?[inverse]?.removeAll { $0 == node } }
        nodes[node]?[name] = target.map { [$0] } ?? []
        guard let target else { return }
        if !relation(inverse).isToMany {
            if let other = targets(target, inverse).first, other != node { nodes[other]?[name] = [] }
            nodes[target]?[inverse] = [node]
        } else {
            nodes[target]?[inverse, default: []].append(node)
        }
    }

    mutating func add(_ node: Int, _ name: String, _ target: Int) {
        guard !targets(node, name).contains(target) else { return }
        let inverse = relation(name).inverse
        if !relation(inverse).isToMany { return setOne(target, inverse, node) }
        nodes[node]?[name, default: []].append(target)
        if inverse != name || node != target { nodes[target]?[inverse, default: []].append(node) }
    }

    mutating func remove(_ node: Int, _ name: String, _ target: Int) {
        guard targets(node, name).contains(target) else { return }
        let inverse = relation(name).inverse
        if !relation(inverse).isToMany { return setOne(target, inverse, nil) }
        nodes[node]?[name]?.removeAll { $0 == target }
        nodes[target]?[inverse]?.removeAll { $0 == node }
    }

    mutating func insert(_ node: Int, _ name: String, _ target: Int, at index: Int) {
        guard !targets(node, name).contains(target) else { return }
        add(node, name, target)
        nodes[node]?[name]?.removeLast()
        nodes[node]?[name]?.insert(target, at: index)
    }

    mutating func move(_ node: Int, _ name: String, from source: Int, to target: Int) {
        guard let moved = nodes[node]?[name]?.remove(at: source) else { return }
        nodes[node]?[name]?.insert(moved, at: target)
    }

    mutating func set(_ node: Int, _ name: String, _ wanted: [Int]) {
        for target in targets(node, name) where !wanted.contains(target) { remove(node, name, target) }
        for target in wanted { add(node, name, target) }
        if relation(name).isOrdered { nodes[node]?[name] = wanted }
    }

    mutating func delete(_ node: Int) {
        for name in Self.names {
            for target in targets(node, name) where target != node {
                let inverse = relation(name).inverse
                nodes[target]?[inverse]?.removeAll { $0 == node }
            }
        }
        nodes[node] = nil
    }
}
