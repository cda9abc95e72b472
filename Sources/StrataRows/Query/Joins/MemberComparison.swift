import Foundation
import StrataLog

/// Whether the value of some member is less, or greater, than a value of its owner: which is to say, whether the least
/// or the greatest of all is.
struct MemberComparison {
    let function: MemberAggregate.Function
    let slot: Int
    let kind: SlotKind
    let relation: Relation
    let ownerSlot: Int
    let ownerKind: SlotKind
    private let domain: ColumnPair.Domain

    /// Nil for what asks for more than one of the members' values, for transient properties and for what is no number
    /// and no date.
    init?(
        _ type: NSComparisonPredicate.Operator, _ slot: Int, _ member: EntityShape, _ ownerSlot: Int,
        _ ownerKind: SlotKind
    ) {
        let info = member.slots[slot]
        guard info.isPersistent, let relation = Relation(type),
            let domain = ColumnPair.Domain(info.kind, ownerKind), domain == .integers || domain == .reals
        else { return nil }
        switch relation {
        case .less, .lessOrEqual: function = .minimum
        case .greater, .greaterOrEqual: function = .maximum
        case .equal, .notEqual: return nil
        }
        self.slot = slot
        kind = info.kind
        self.relation = relation
        self.ownerSlot = ownerSlot
        self.ownerKind = ownerKind
        self.domain = domain
    }

    /// Whether an owner's members satisfy it.
    func holds(_ members: MemberAggregate, _ owner: ColumnView, _ row: Int) -> Bool {
        if owner.isNull(row) { return false }
        switch members.best {
        case .null: return false
        case .integer(let value):
            if domain == .integers { return relation.holds(value, owner.integer(row, ownerKind)) }
            return relation.holds(Double(value), owner.real(row, ownerKind))
        case .real(let value): return relation.holds(value, owner.real(row, ownerKind))
        }
    }
}
