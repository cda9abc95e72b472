extension CompiledPredicate.Node {
    /// Whether a condition on other objects is still to be answered.
    var hasJoins: Bool { hasJoins { _ in true } }

    var hasToManyJoins: Bool { hasJoins { $0.isToMany } }

    private func hasJoins(_ isMeant: (SemiJoin) -> Bool) -> Bool {
        switch self {
        case .constant, .test, .computed, .interpreted: false
        case .join(let join): isMeant(join)
        case .not(let node): node.hasJoins(isMeant)
        case .all(let nodes), .any(let nodes): nodes.contains { $0.hasJoins(isMeant) }
        }
    }

    /// The keys that the node allows, if it is about the row's own key only.
    var keys: (set: IntegerSet, isNegated: Bool)? {
        guard case .test(let test) = self, case .key(let set, let isNegated) = test.condition else { return nil }
        return (set, isNegated)
    }

    static func keys(_ set: IntegerSet, isNegated: Bool = false) -> Self {
        if set.count == 0 { return .constant(isNegated) }
        return .test(ColumnPredicate(slot: 0, kind: .toOne, condition: .key(set, isNegated: isNegated)))
    }

    /// The same with sets of keys joined and constants folded.
    var simplified: Self {
        switch self {
        case .constant, .test, .computed, .interpreted, .join: return self
        case .not(let node):
            let node = node.simplified
            if case .constant(let value) = node { return .constant(!value) }
            if let keys = node.keys { return .keys(keys.set, isNegated: !keys.isNegated) }
            return .not(node)
        case .all(let nodes):
            return Self.joined(nodes, neutral: true, { $0.intersection($1) }) { .all($0) }
        case .any(let nodes):
            return Self.joined(nodes, neutral: false, { $0.union($1) }) { .any($0) }
        }
    }

    private static func joined(
        _ nodes: [Self], neutral: Bool, _ join: (IntegerSet, IntegerSet) -> IntegerSet, _ make: ([Self]) -> Self
    ) -> Self {
        var set: IntegerSet?
        var rest: [Self] = []
        for node in nodes.map(\.simplified) {
            if case .constant(let value) = node {
                if value != neutral { return .constant(value) }
            } else if let keys = node.keys, !keys.isNegated {
                set = set.map { join($0, keys.set) } ?? keys.set
            } else {
                rest.append(node)
            }
        }
        if let set {
            if set.count > 0 {
                rest.insert(.keys(set), at: 0)
            } else if neutral {
                return .constant(false)
            }
        }
        switch rest.count {
        case 0: return .constant(neutral)
        case 1: return rest[0]
        default: return make(rest)
        }
    }
}
