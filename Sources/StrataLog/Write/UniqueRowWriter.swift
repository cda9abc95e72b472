/// Gathers which values that must be unique the rows of one entity in one transaction take and give up.
struct UniqueRowWriter {
    private let entity: UInt16
    private let changes: UniqueChanges
    /// The constraints that bind the entity's rows.
    private let constraints: [Int]
    /// Those in whose values the row being written may differ from the one before.
    private var affected: [Int] = []

    /// Nil when no constraint binds the entity's rows.
    init?(_ entity: UInt16, _ changes: UniqueChanges?) {
        guard let changes else { return nil }
        constraints = changes.rules.constraints(of: entity)
        if constraints.isEmpty { return nil }
        self.entity = entity
        self.changes = changes
    }

    mutating func beginInsert() { affected = constraints }

    /// Records the values that an update gives up.
    ///
    /// - Parameter replacedRow: finds the row that has them, which is looked for only if one of them changes.
    mutating func beginUpdate(
        _ key: UInt64, changed: SlotSet, reading source: BlockSource, _ replacedRow: () throws(StoreError) -> Row?
    ) throws(StoreError) {
        affected = []
        var row: Row?
        for constraint in constraints {
            guard changes.rules.constraints[constraint].slots.contains(where: { changed.contains($0) }) else {
                continue
            }
            if row == nil { row = try replacedRow() }
            guard let row else { return }
            try changes.remove(constraint, ObjectRef(entity: entity, key: key), row, reading: source)
            affected.append(constraint)
        }
    }

    /// Records the values that a deletion gives up.
    mutating func delete(_ key: UInt64, _ row: Row?, reading source: BlockSource) throws(StoreError) {
        affected = []
        guard let row else { return }
        for constraint in constraints {
            try changes.remove(constraint, ObjectRef(entity: entity, key: key), row, reading: source)
        }
    }

    /// Records the values of the row being written.
    mutating func take(_ memory: RowMemory, _ key: UInt64, in transaction: WriteTransaction) {
        if affected.isEmpty { return }
        for constraint in affected {
            changes.add(constraint, ObjectRef(entity: entity, key: key), openRow: memory, in: transaction)
        }
        affected = []
    }
}
