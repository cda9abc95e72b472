/// What an operator makes of the objects at the other end of a to-many relationship: `tags.@count`, or
/// `orders.@sum.amount`. One value a row. Immutable.
package final class RowMembers: Equatable {
    enum Function: Equatable {
        case count
        /// Of a slot of the members.
        case aggregate(MemberAggregate.Function, slot: Int, SlotKind)
        /// The least or the greatest text of a slot of the members.
        case text(isGreatest: Bool, slot: Int)

        /// What a path says behind a relationship: `@count`, or `@sum.amount`. Nil for what only the interpreter
        /// computes to the last digit, and for what is no operator.
        init?(_ path: ArraySlice<String>, _ relationship: RelationshipShape) {
            if path == ["@count"] {
                self = .count
                return
            }
            let destination: EntityShape = relationship.destination
            guard path.count == 2, let function = path.first.flatMap({ MemberAggregate.Function(operator: $0) }),
                case .slot(let slot)? = path.last.flatMap({ destination.property($0) }),
                destination.slots[slot].isPersistent
            else { return nil }
            switch (function, destination.slots[slot].kind) {
            case (.minimum, .string): self = .text(isGreatest: false, slot: slot)
            case (.maximum, .string): self = .text(isGreatest: true, slot: slot)
            case (_, let kind) where function.isComputed(of: kind, relationship):
                self = .aggregate(function, slot: slot, kind)
            default: return nil
            }
        }
    }

    /// Whose members they are.
    let owner: EntityShape
    let relationship: RelationshipShape
    let function: Function

    init(_ owner: EntityShape, _ relationship: RelationshipShape, _ function: Function) {
        self.owner = owner
        self.relationship = relationship
        self.function = function
    }

    /// Of the values.
    var kind: SlotKind {
        switch function {
        case .count: .int64
        case .aggregate(.sum, _, let kind): kind.isInteger ? .int64 : .double
        case .aggregate(.average, _, _): .double
        case .text: .string
        case .aggregate(.minimum, _, let kind), .aggregate(.maximum, _, let kind): kind
        }
    }

    /// What the operator makes of some members; nil for a sum of integers that has become floating point.
    func value(_ members: MemberAggregate) -> MemberAggregate.Value? {
        switch function {
        case .count: return .integer(Int64(members.count))
        case .text: preconditionFailure("texts are no numbers")
        case .aggregate(.minimum, _, _), .aggregate(.maximum, _, _): return members.best
        case .aggregate(.average, _, _): return .real(members.average)
        case .aggregate(.sum, _, let kind):
            switch members.total {
            case .integer(let value): return kind.isInteger ? .integer(value) : .real(Double(value))
            case .double(let value): return kind.isInteger ? nil : .real(value)
            case .decimal: return nil
            }
        }
    }

    package static func == (left: RowMembers, right: RowMembers) -> Bool {
        left === right
            || left.owner === right.owner && left.relationship === right.relationship
                && left.function == right.function
    }
}
