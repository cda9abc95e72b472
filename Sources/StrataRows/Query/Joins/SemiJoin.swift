/// A condition on the objects at the other end of a relationship, answered for all owners at once: which members
/// satisfy it is found out first, then whose members they are.
///
/// A compiled predicate holds it as it was written. ``RowSearch`` puts a test of the owners' keys in its place before a
/// row is tested. Immutable.
package final class SemiJoin: @unchecked Sendable {
    // Unchecked: immutable. Shapes are compiled once and never freed, the constants of a test are never changed.

    /// What is asked of the members that satisfy the condition.
    enum Quantifier {
        /// There is one.
        case some
        /// How many there are is compared with a constant.
        case count(ValueComparison)
        /// What an operator makes of the values of a slot is compared with a constant.
        case aggregate(MemberAggregate.Function, slot: Int, ValueComparison)
        /// The value of one is compared with a value of the owner.
        case owner(MemberComparison)
    }

    let relationship: RelationshipShape
    /// Of a member; without what the interpreter would have to do.
    let condition: CompiledPredicate.Node
    let test: Quantifier
    /// What holds when there is no owner, at the end of a to-one relationship.
    let nullResult: Bool

    init(
        _ relationship: RelationshipShape, _ condition: CompiledPredicate.Node, _ test: Quantifier = .some,
        nullResult: Bool
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
