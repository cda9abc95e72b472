/// One committed transaction, as the history tells it.
public struct HistoryTransaction: Sendable {
    public var sequence: UInt64
    public var timestampNanoseconds: Int64
    public var author: String?
    public var contextName: String?
    public var groups: [ChangeGroup]

    /// How many objects it changed.
    public var changeCount: Int { groups.reduce(0) { $0 + $1.keys.count } }
}

/// Changes of one kind that a transaction made to objects of one entity.
public struct ChangeGroup: Sendable {
    public var entity: UInt16
    public var kind: ChangeKind
    /// Primary keys of the objects.
    public var keys: [UInt64]
    /// For updates: the slots whose values differ from those before, the same for all of the group.
    public var changed: SlotSet
    /// For updates and deletes, parallel to `keys`: the transaction that had written the row that was replaced.
    public var replacedSequences: [UInt64]
    /// For deletes of entities that preserve values: blocks whose rows, taken together, are parallel to `keys` and
    /// have the preserved slots set.
    public var tombstones: [Block]
}
