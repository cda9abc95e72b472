import StrataLog

/// Follows to-one relationships from a row to the object behind them, a step at a time.
package struct PathFollower {
    private let steps: [RowPath]
    /// The entities that each step may lead to.
    private let families: [EntityNumbers]
    /// Objects behind relationships lie in other blocks than the rows.
    private var reader: RowReader

    package init(_ steps: [RowPath], _ map: StoreMap, _ snapshot: Snapshot) {
        self.steps = steps
        families = steps.map { EntityNumbers($0.relationship.destination.family, in: map) }
        reader = RowReader(snapshot)
    }

    /// The row of the object at the end, which is the row itself where there are no steps; nil where there is none.
    package mutating func end(from row: Row) throws(StoreError) -> Row? {
        guard let step = steps.first else { return row }
        return try end(from: try row.block.column(step.slot).reference(row.index))
    }

    /// - Parameter first: where the first step leads.
    package mutating func end(from first: ObjectRef) throws(StoreError) -> Row? {
        var ref = first
        for index in steps.indices {
            guard !ref.isNull, let row = try reader.row(ref), families[index].contains(row.block.entity) else {
                return nil
            }
            guard index + 1 < steps.count else { return row }
            ref = try row.block.column(steps[index + 1].slot).reference(row.index)
        }
        return nil
    }
}
