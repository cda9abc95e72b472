import StrataLog

/// What an operator makes of the members of all owners, to be found by the owners' keys. Immutable.
final class MemberTable {
    private enum Values {
        /// By key, of all from 0 on.
        case counts([UInt32])
        case others(KeyTable<MemberAggregate.Value>)
    }

    private let values: Values
    /// Of an owner without members.
    private let none: MemberAggregate.Value

    private init(_ values: Values, none: MemberAggregate.Value) {
        self.values = values
        self.none = none
    }

    subscript(owner: UInt64) -> MemberAggregate.Value {
        switch values {
        case .counts(let counts): owner < UInt64(counts.count) ? .integer(Int64(counts[Int(owner)])) : none
        case .others(let values): values[Int64(owner)] ?? none
        }
    }

    /// Nil where a sum overflows.
    ///
    /// - Complexity: O(n) in the members.
    static func make(
        _ members: RowMembers, _ handle: StoreHandle, _ snapshot: Snapshot, _ turn: ScanTurn?
    ) throws -> MemberTable? {
        guard let none = members.value(MemberAggregate()), handle.map.holds(members.relationship.destination) else {
            return nil
        }
        let shape = members.owner
        let owners = RowSearch(handle, snapshot, shape, family: shape.family, turn: turn)
        let join = SemiJoin(members.relationship, .constant(true), nullResult: false)
        let search = SemiJoinSearch(owners, join)
        if case .count = members.function, let counts = try search.memberCounts() {
            return MemberTable(.counts(counts), none: none)
        }
        var values = KeyTable<MemberAggregate.Value>(rows: owners.rowCount)
        let aggregates = try search.memberAggregates(members.function)
        for (owner, aggregate) in zip(aggregates.keys, aggregates.values) {
            guard let value = members.value(aggregate) else { return nil }
            values.update(owner, from: value) { _ in }
        }
        return MemberTable(.others(values), none: none)
    }
}
