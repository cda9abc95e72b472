import StrataLog

/// A condition on the objects at the other end of a relationship, answered for all owners at once: which members
/// satisfy it is found out first, then whose members they are.
///
/// A compiled predicate holds it as it was written. ``RowSearch`` puts a test of the owners' keys in its place before a
/// row is tested. Immutable.
final class SemiJoin: @unchecked Sendable {
    // Unchecked: immutable. Shapes are compiled once and never freed, the constants of a test are never changed.

    /// What is asked of the members that satisfy the condition.
    enum Test {
        /// There is one.
        case some
        /// How many there are is compared with a constant.
        case count(ValueTest)
        /// What an operator makes of the values of a slot is compared with a constant.
        case aggregate(MemberAggregate.Function, slot: Int, ValueTest)
    }

    let relationship: RelationshipShape
    /// Of a member; without what the interpreter would have to do.
    let condition: CompiledPredicate.Node
    let test: Test
    /// What holds when there is no owner, at the end of a to-one relationship.
    let nullResult: Bool

    init(
        _ relationship: RelationshipShape, _ condition: CompiledPredicate.Node, _ test: Test = .some, nullResult: Bool
    ) {
        self.relationship = relationship
        self.condition = condition
        self.test = test
        self.nullResult = nullResult
    }

    /// A condition on what a to-one relationship refers to. Without an object it is that on null.
    convenience init(toOne relationship: RelationshipShape, _ condition: CompiledPredicate.Node) {
        self.init(relationship, condition, nullResult: condition.nullResult)
    }

    var isToMany: Bool { relationship.isToMany }
}

/// A comparison with a constant that the interpreter makes, for values that are computed once for each owner.
struct ValueTest {
    private let comparator: ValueComparator
    private let constant: Any?
    private let isConstantLeft: Bool

    /// Nil when the side is not constant.
    init?(_ comparison: NSComparisonPredicate, isConstantLeft: Bool) {
        let side = isConstantLeft ? comparison.leftExpression : comparison.rightExpression
        guard Self.isConstant(side) else { return nil }
        constant = side.evaluate(EvaluationContext(object: nil, bindings: nil))
        comparator = comparison.comparator
        self.isConstantLeft = isConstantLeft
    }

    static func isConstant(_ expression: NSExpression) -> Bool {
        switch expression.form {
        case .constant: true
        case .aggregate(let elements): elements.allSatisfy { $0.expressionType == .constantValue }
        default: false
        }
    }

    var operand: Operand { Operand(constant) }

    func holds(_ value: Any?) -> Bool {
        isConstantLeft ? comparator.holds(constant, value) : comparator.holds(value, constant)
    }
}

/// From which end semi-joins are answered. Only tests change it, to compare the results.
package enum SemiJoinUse: Sendable {
    /// From the end that is likely to be quicker.
    case automatic
    /// From the members, by a scan of the links between them and their owners.
    case members
    /// From the owners, object by object.
    case owners

    @TaskLocal package static var current = SemiJoinUse.automatic
}

extension CompiledPredicate.Node {
    /// Whether a condition on other objects is still to be answered.
    var hasJoins: Bool { hasJoins { _ in true } }

    var hasToManyJoins: Bool { hasJoins { $0.isToMany } }

    private func hasJoins(_ isMeant: (SemiJoin) -> Bool) -> Bool {
        switch self {
        case .constant, .test: false
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
        return .test(ColumnTest(slot: 0, kind: .toOne, condition: .key(set, isNegated: isNegated)))
    }

    /// The same with sets of keys joined and constants folded.
    var simplified: Self {
        switch self {
        case .constant, .test, .join: return self
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
