import StrataLog

// What lies behind to-many relationships.
extension RowComputation {
    func aggregate(_ members: RowMembers) throws(StoreError) -> ComputedColumn {
        if let table = try evaluator.tables?.table(of: members, forRows: rows.count) {
            return try column(members.kind) { row in table[part.key(row)] }
        }
        var reader = MemberReader(members, evaluator)
        return try column(members.kind) { row throws(StoreError) in try reader.value(ofKey: part.key(row)) }
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
    /// Of the owners.
    private let root: UInt16
    /// Whether the store has members at all.
    private let hasMembers: Bool
    /// Where members that keep their owner themselves are counted without being looked at; nil for other functions and
    /// relationships.
    private let counted: UInt16?
    private var rows: RowReader
    private var owners: RowReader
    private let control: RequestControl?
    private var untilCheck = Self.membersPerCheck

    /// An owner may have as many as there are: who counts owners alone goes on long after a request was stopped.
    private static let membersPerCheck = 256

    init(_ members: RowMembers, _ evaluator: ColumnEvaluator) {
        let (handle, snapshot) = (evaluator.handle, evaluator.snapshot)
        self.members = members
        control = evaluator.control
        relationships = RelationshipReader(handle: handle, snapshot: snapshot)
        root = handle.map.root(members.owner)
        hasMembers = handle.map.holds(members.relationship.destination)
        if case .count = members.function, case .inverse(let slot) = members.relationship.storage {
            counted = handle.map.postings(members.relationship.destination, slot)
        } else {
            counted = nil
        }
        rows = RowReader(snapshot)
        owners = RowReader(snapshot)
    }

    mutating func value(ofKey key: UInt64) throws(StoreError) -> MemberAggregate.Value? {
        // Its entity may be another one of the same root.
        guard let owner = try owners.row(ObjectRef(entity: root, key: key)) else { return .null }
        return try value(of: owner.ref)
    }

    /// Nil where a sum overflows.
    mutating func value(of owner: ObjectRef) throws(StoreError) -> MemberAggregate.Value? {
        var aggregate = MemberAggregate()
        guard hasMembers else { return members.value(aggregate) }
        if let counted {
            return .integer(Int64(try relationships.snapshot.referrerCount(postings: counted, to: owner)))
        }
        for member in try relationships.members(members.relationship, of: owner) {
            untilCheck -= 1
            if untilCheck == 0 {
                untilCheck = Self.membersPerCheck
                try control?.checkRead()
            }
            // An end may have been deleted without its links.
            guard let row = try rows.row(member.ref) else { continue }
            switch members.function {
            case .count: aggregate.addMember()
            case .aggregate(let function, let slot, let kind):
                aggregate.add(MemberAggregate.Value(try row.block.column(slot), row.index, kind), function)
            }
        }
        return members.value(aggregate)
    }
}
