/// One committed transaction, as the history tells it.
public struct HistoryTransaction: Sendable {
    /// Its number: one more than that before.
    public var sequence: UInt64
    /// When it was committed, in nanoseconds since 1970 by the committing machine's clock. Order goes by `sequence`.
    public var timestampNanoseconds: Int64
    /// Who made the changes, if that was said.
    public var author: String?
    /// The name of the context that saved, if it had one.
    public var contextName: String?
    /// The changes, by entity and kind.
    public var groups: [ChangeGroup]

    /// How many objects it changed.
    public var changeCount: Int { groups.reduce(0) { $0 + $1.keys.count } }
}

/// Changes of one kind that a transaction made to objects of one entity.
public struct ChangeGroup: Sendable {
    /// The entity's number in the store's schema.
    public var entity: UInt16
    /// Whether the objects were inserted, updated or deleted.
    public var kind: ChangeKind
    /// Primary keys of the objects.
    public var keys: IntegerList
    /// For updates: the slots whose values differ from those before, the same for all of the group.
    public var changed: SlotSet
    /// For updates and deletes, parallel to `keys`: the transaction that had written the row that was replaced.
    public var replacedSequences: IntegerList
    /// For deletes of entities that preserve values: blocks whose rows, taken together, are parallel to `keys` and
    /// have the preserved slots set.
    public var tombstones: [Block]
}

extension ChangeGroup {
    init(_ change: TransactionBody.ChangeRecord, tombstones: [Block]) {
        self.init(
            entity: change.entity, kind: change.kind, keys: change.keys, changed: change.changed,
            replacedSequences: change.replacedSequences, tombstones: tombstones)
    }
}
