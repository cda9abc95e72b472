internal import StrataRuntime

/// Gathers what the rows of one entity in one transaction change in the other direction of its relationships.
struct PostingsRowWriter {
    /// What a relationship's slot refers to, where it is listed from the other end.
    private struct Reference {
        /// Nil until something changes.
        var list: PostingsAccumulator?
        /// What the row being replaced refers to; null where that stays.
        var replaced = ObjectRef.null
        /// What the row being written refers to.
        var new = ObjectRef.null
    }

    private let layout: WriterLayout
    /// Parallel to the layout's posting slots.
    private var references: [Reference] = []

    /// Nil when no slot is listed from the other end.
    init?(_ layout: WriterLayout) {
        if layout.postingSlots.isEmpty { return nil }
        self.layout = layout
        for _ in layout.postingSlots { references.append(reservingOne: Reference()) }
    }

    /// Whether a slot is listed from the other end.
    func contains(_ slot: Int) -> Bool { layout.postingIndexes[slot] >= 0 }

    /// Takes what a slot of the row being written refers to.
    @inline(__always)
    mutating func set(_ slot: Int, _ value: ObjectRef) {
        let index = layout.postingIndexes[slot]
        if index >= 0 { references[index].new = value }
    }

    /// Reads what the changed slots of a row that is going to be replaced refer to.
    ///
    /// - Parameter replacedRow: finds that row, which is looked for only if such a slot changes.
    mutating func beginUpdate(
        changed: SlotSet, _ replacedRow: () throws(StoreError) -> Row?
    ) throws(StoreError) {
        var row: Row?
        for index in references.indices {
            references[index].replaced = .null
            let slot = layout.postingSlots[index].slot
            guard changed.contains(slot) else { continue }
            if row == nil { row = try replacedRow() }
            guard let row, slot < row.block.slotCount else { continue }
            let column = try row.block.column(slot)
            if !column.isNull(row.index) { references[index].replaced = column.reference(row.index) }
        }
    }

    /// Adds what the final values of a new object's row refer to.
    mutating func endInsert(_ referrer: ObjectRef, in transaction: WriteTransaction) {
        for index in references.indices {
            let new = references[index].new
            references[index].new = .null
            if new.isNull { continue }
            // SAFETY: the writer holds the list.
            list(index, transaction).withBorrowed {
                $0.inserted.append(PostingChange(target: new, referrer: referrer))
            }
        }
    }

    /// Adds what the final values of a row refer to that the one before did not, and removes what that one did.
    mutating func endUpdate(_ referrer: ObjectRef, changed: SlotSet, in transaction: WriteTransaction) {
        for index in references.indices {
            let (old, new) = (references[index].replaced, references[index].new)
            references[index].new = .null
            guard old != new, changed.contains(layout.postingSlots[index].slot) else { continue }
            // SAFETY: the writer holds the list.
            list(index, transaction).withBorrowed { list in
                if !new.isNull { list.others.append(PostingChange(target: new, referrer: referrer)) }
                if !old.isNull { list.others.append(PostingChange(target: old, referrer: referrer, isRemoval: true)) }
            }
        }
    }

    /// Removes what the row of a deleted object refers to.
    mutating func delete(
        _ referrer: ObjectRef, _ row: Int, of block: Block, in transaction: WriteTransaction
    ) throws(StoreError) {
        for index in references.indices where layout.postingSlots[index].slot < block.slotCount {
            let column = try block.column(layout.postingSlots[index].slot)
            if column.isNull(row) { continue }
            // SAFETY: the writer holds the list.
            list(index, transaction).withBorrowed {
                $0.others.append(PostingChange(target: column.reference(row), referrer: referrer, isRemoval: true))
            }
        }
    }

    mutating func reserve(deletions count: Int, in transaction: WriteTransaction) {
        for index in references.indices {
            // SAFETY: the writer holds the list.
            list(index, transaction).withBorrowed { $0.others.reserveCapacity($0.others.count + count) }
        }
    }

    /// Where changes of a posting slot are gathered, without counting references to it.
    @inline(__always)
    private mutating func list(_ index: Int, _ transaction: WriteTransaction) -> Unmanaged<PostingsAccumulator> {
        if let list = references[index].list { return .passUnretained(list) }
        let list = transaction.accumulator(for: layout.postingSlots[index].postingsID)
        references[index].list = list
        return .passUnretained(list)
    }
}
