import StrataLog

// What lies behind to-many relationships.
extension RowComputation {
    func aggregate(_ members: RowMembers) throws(StoreError) -> ComputedColumn {
        if let table = try evaluator.tables?.table(of: members, forRows: rows.count) {
            return try column(members.kind) { row in table[part.key(row)] }
        }
        // Its entity may be another one of the same root.
        let root = evaluator.handle.map.root(members.owner)
        var owners = RowReader(evaluator.snapshot)
        return try aggregate(members) { row throws(StoreError) in
            try owners.row(ObjectRef(entity: root, key: part.key(row)))?.ref
        }
    }

    /// The same of other owners than the rows, looked up one by one.
    ///
    /// - Parameter owner: of a row.
    func aggregate(
        _ members: RowMembers, of owner: (Int) throws(StoreError) -> ObjectRef?
    ) throws(StoreError) -> ComputedColumn {
        var reader = MemberReader(members, evaluator)
        guard case .text(let isGreatest, let slot) = members.function else {
            return try column(members.kind) { row throws(StoreError) in
                guard let owner = try owner(row) else { return .null }
                return try reader.value(of: owner)
            }
        }
        var text = MemberText(isGreatest: isGreatest)
        return try appending(.string) { row, builder throws(StoreError) in
            guard let owner = try owner(row) else { return nil }
            text.beginOwner()
            try reader.forEach(of: owner) { member throws(StoreError) in
                text.add(try member.block.column(slot), member.index)
            }
            return text.append(to: builder)
        }
    }

    /// A column of what the body gives for each row; what it gives nothing for is exceptional.
    func column(
        _ kind: SlotKind, _ value: (Int) throws(StoreError) -> MemberAggregate.Value?
    ) throws(StoreError) -> ComputedColumn {
        switch kind {
        case .bool: try fill(kind, UInt8.self) { row throws(StoreError) in Self.integer(try value(row)) }
        case .int16: try fill(kind, Int16.self) { row throws(StoreError) in Self.integer(try value(row)) }
        case .int32: try fill(kind, Int32.self) { row throws(StoreError) in Self.integer(try value(row)) }
        case .int64: try fill(kind, Int64.self) { row throws(StoreError) in Self.integer(try value(row)) }
        case .float: try fill(kind, Float.self) { row throws(StoreError) in Self.real(try value(row)) }
        default: try fill(kind, Double.self) { row throws(StoreError) in Self.real(try value(row)) }
        }
    }

    private static func integer<Value: FixedWidthInteger>(_ value: MemberAggregate.Value?) -> (Value, Outcome) {
        switch value {
        case .integer(let value)?: (Value(truncatingIfNeeded: value), .value)
        case .null?: (0, .null)
        default: (0, .exceptional)
        }
    }

    private static func real<Value: BinaryFloatingPoint>(_ value: MemberAggregate.Value?) -> (Value, Outcome) {
        switch value {
        case .real(let value)?: (Value(value), .value)
        case .null?: (0, .null)
        default: (0, .exceptional)
        }
    }
}

/// Reads the members of owners one by one, as the interpreter does.
struct MemberReader {
    private let members: RowMembers
    private let relationships: RelationshipReader
    /// Whether the store has members at all.
    private let hasMembers: Bool
    /// Where members that keep their owner themselves are counted without being looked at; nil for other functions and
    /// relationships.
    private let counted: UInt16?
    private var rows: RowReader
    private let control: RequestControl?
    private var untilCheck = Self.membersPerCheck

    /// An owner may have as many as there are: who counts owners alone goes on long after a request was stopped.
    private static let membersPerCheck = 256

    init(_ members: RowMembers, _ evaluator: ColumnEvaluator) {
        let (handle, snapshot) = (evaluator.handle, evaluator.snapshot)
        self.members = members
        control = evaluator.control
        relationships = RelationshipReader(handle: handle, snapshot: snapshot)
        hasMembers = handle.map.holds(members.relationship.destination)
        if case .count = members.function, case .inverse(let slot) = members.relationship.storage {
            counted = handle.map.postings(members.relationship.destination, slot)
        } else {
            counted = nil
        }
        rows = RowReader(snapshot)
    }

    /// Nil where a sum overflows.
    mutating func value(of owner: ObjectRef) throws(StoreError) -> MemberAggregate.Value? {
        var aggregate = MemberAggregate()
        if let counted, hasMembers {
            return .integer(Int64(try relationships.snapshot.referrerCount(postings: counted, to: owner)))
        }
        let function = members.function
        try forEach(of: owner) { row throws(StoreError) in
            if case .aggregate(let function, let slot, let kind) = function {
                aggregate.add(MemberAggregate.Value(try row.block.column(slot), row.index, kind), function)
            } else {
                aggregate.addMember()
            }
        }
        return members.value(aggregate)
    }

    /// Calls the body with the rows of an owner's members.
    mutating func forEach(of owner: ObjectRef, _ body: (Row) throws(StoreError) -> Void) throws(StoreError) {
        guard hasMembers else { return }
        for member in try relationships.members(members.relationship, of: owner) {
            untilCheck -= 1
            if untilCheck == 0 {
                untilCheck = Self.membersPerCheck
                try control?.checkRead()
            }
            // An end may have been deleted without its links.
            guard let row = try rows.row(member.ref) else { continue }
            try body(row)
        }
    }
}
