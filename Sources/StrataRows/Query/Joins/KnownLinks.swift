import StrataLog

/// What links the only owners that a semi-join asks to their members.
enum KnownLinks {
    /// Rows that keep links, or the members that refer to their owners themselves.
    case rows([ObjectRef])
    /// What the index of the links says: an owner's key, and a member.
    case pairs([(owner: Int64, member: ObjectRef)])

    var rows: [ObjectRef]? {
        if case .rows(let rows) = self { rows } else { nil }
    }

    var pairs: [(owner: Int64, member: ObjectRef)]? {
        if case .pairs(let pairs) = self { pairs } else { nil }
    }
}
