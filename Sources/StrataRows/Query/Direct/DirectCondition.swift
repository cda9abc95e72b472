import Foundation

/// What the condition and the order of a plan say of single slots, as far as an ordered index or postings can be asked
/// for it: from this a ``DirectPath`` is made for a store. Nil for a plan that has to be looked at in another way.
package struct DirectCondition {
    enum Relation {
        case equal, list
        case lower(isInclusive: Bool)
        case upper(isInclusive: Bool)
        case between
    }

    /// A comparison of a slot with a constant.
    struct Term {
        let slot: Int
        let kind: SlotKind
        let relation: Relation
        let constant: ResolvedComparison.Constant
        /// Its position among the conjuncts.
        let conjunct: Int
    }

    let terms: [Term]
    /// The parts that must all hold.
    let conjuncts: [ResolvedPredicate]
    /// The positions of those that can be tested on the columns of a row alone, and of the others.
    let tested: [Int]
    let others: [Int]
    let sorts: [ColumnSort]

    /// - Parameter sorts: nil for an order that is not that of columns.
    init?(_ condition: PlannedCondition?, _ sorts: [ColumnSort]?, _ shape: EntityShape) {
        guard let condition, let sorts else { return nil }
        let conjuncts = condition.conjuncts.map(\.resolved)
        self.conjuncts = conjuncts
        tested = conjuncts.indices.filter { Self.isTestedByRow(conjuncts[$0]) }
        others = conjuncts.indices.filter { !Self.isTestedByRow(conjuncts[$0]) }
        terms = conjuncts.enumerated().compactMap { Self.term($1, $0, shape) }
        self.sorts = sorts
        if terms.isEmpty && sorts.isEmpty { return nil }
    }

    /// Whether a part can be tested on the columns of a row alone.
    private static func isTestedByRow(_ part: ResolvedPredicate) -> Bool {
        switch part {
        case .constant: true
        // Texts of two columns are compared many rows at a time.
        case .columns(_, let comparison): comparison.domain != .texts
        case .comparison(let comparison):
            if case .slot = comparison.side { true } else { false }
        case .whole: false
        case .all(let parts), .any(let parts): parts.allSatisfy(isTestedByRow)
        case .not(let part): isTestedByRow(part)
        }
    }

    private static func term(_ part: ResolvedPredicate, _ conjunct: Int, _ shape: EntityShape) -> Term? {
        guard case .comparison(let comparison) = part, case .slot(let slot) = comparison.side,
            comparison.options.isEmpty, let relation = relation(comparison.type)
        else { return nil }
        let kind = shape.slots[slot].kind
        switch kind {
        case .bool, .int16, .int32, .int64, .float, .double, .date, .uuid, .string: break
        case .toOne: guard case .equal = relation else { return nil }
        case .data, .decimal, .uri, .transformable: return nil
        }
        return Term(slot: slot, kind: kind, relation: relation, constant: comparison.constant, conjunct: conjunct)
    }

    private static func relation(_ type: NSComparisonPredicate.Operator) -> Relation? {
        switch type {
        case .equalTo: .equal
        case .in: .list
        case .greaterThan: .lower(isInclusive: false)
        case .greaterThanOrEqualTo: .lower(isInclusive: true)
        case .lessThan: .upper(isInclusive: false)
        case .lessThanOrEqualTo: .upper(isInclusive: true)
        case .between: .between
        default: nil
        }
    }
}
