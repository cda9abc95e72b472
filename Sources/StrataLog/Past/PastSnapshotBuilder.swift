/// Takes back what was committed after a transaction, so that a snapshot shows the store as it was then.
///
/// Keys are never used twice, and each change names the transaction that wrote the row it replaced. So the change
/// tables are read once, in the log's order, and nothing is remembered of them but the rows to go back to: an object
/// that was inserted later was not there, and of several changes of one row only the first names a transaction that is
/// not later. Relationships are taken from the rows: those of the newest are taken away, those of the old ones added.
/// So nothing else needs to be retained.
struct PastSnapshotBuilder {
    /// A row that was replaced or deleted later.
    private struct LostRow {
        /// The transaction that wrote it.
        var sequence: UInt64
        var ref: ObjectRef
    }

    let base: Snapshot
    /// Where the rows to go back to are read from.
    let source: BlockSource
    /// Relationships of the base that the state has, too; nil for all.
    private let relationships: Set<UInt16>?
    let target: UInt64
    var edit: SnapshotEdit
    private var lost: [LostRow] = []
    /// What is to be added to each relationship, and taken away.
    private var references: [UInt16: [PostingChange]] = [:]
    private var timestampNanoseconds: Int64 = 0
    /// The block that was looked at last.
    private var block: Block?

    /// - Parameters:
    ///   - base: a state after the one wanted.
    ///   - sequence: the last transaction to be shown, 0 for a store without objects.
    ///   - source: where to read the state's rows from, if not as the base's.
    ///   - relationships: relationships of the base that the state has, too; nil for all.
    init(base: Snapshot, at sequence: UInt64, source: BlockSource? = nil, keeping relationships: Set<UInt16>? = nil) {
        self.base = base
        self.source = source ?? base.source
        self.relationships = relationships
        target = sequence
        // Ordered indexes are not taken back: fetches of the past do without.
        edit = SnapshotEdit(base: base.with(.none))
    }

    /// - Parameter reader: gives the transactions from the target on, or from the one behind it.
    /// - Throws: `.expired` when something needed is not retained any more; `.io`, `.corruption`.
    /// - Complexity: reads the change tables of all later transactions and the rows to go back to; where an entity has
    ///   relationships, also the newest rows of its objects that changed.
    mutating func build(_ reader: HistoryReader) throws(StoreError) -> Snapshot {
        var reader = reader
        var expected: UInt64?
        while let transaction = try reader.next() {
            let sequence = transaction.sequence
            guard sequence == expected ?? sequence, sequence <= target + 1 || expected != nil else {
                throw Self.expired(target, first: sequence)
            }
            expected = sequence + 1
            if sequence == target { timestampNanoseconds = transaction.timestampNanoseconds }
            guard sequence > target else { continue }
            for group in transaction.groups { try takeBack(group) }
        }
        try findLostRows()
        for (id, changes) in references { try edit.change(id, Self.net(changes)) }
        edit.record(sequence: target, timestampNanoseconds: timestampNanoseconds)
        return try edit.finish(end: base.end, checksum: base.checksum)
    }

    static func expired(_ sequence: UInt64, first: UInt64) -> StoreError {
        StoreError(
            .expired,
            "the store as of transaction \(sequence) is no longer retained: the earliest point is transaction \(first - 1)"
        )
    }

    private mutating func takeBack(_ group: ChangeGroup) throws(StoreError) {
        if group.kind == .insert {
            for key in group.keys { try dropReferences(of: ObjectRef(entity: group.entity, key: key)) }
            try edit.remove(group.keys, entity: group.entity)
            return
        }
        if group.kind == .delete { try edit.raiseCount(of: group.entity, by: group.keys.count) }
        for (key, sequence) in zip(group.keys, group.replacedSequences) where sequence <= target {
            let ref = ObjectRef(entity: group.entity, key: key)
            try dropReferences(of: ref)
            lost.append(LostRow(sequence: sequence, ref: ref))
        }
    }

    /// Takes away what the object's newest row refers to.
    private mutating func dropReferences(of ref: ObjectRef) throws(StoreError) {
        guard base.layout.hasPostings(ref.entity) else { return }
        let location = try base.locate(ref)
        guard !location.isAbsent else { return }
        if block?.location != location.block { block = try base.source.block(at: location) }
        guard let block, location.row < block.rowCount else {
            throw StoreError(
                .corruption, "row \(location.row) is not in its block", segment: location.segment,
                offset: location.byteOffset)
        }
        try record(Row(block: block, index: location.row), isRemoval: true)
    }

    private mutating func record(_ row: Row, isRemoval: Bool) throws(StoreError) {
        for (slot, layout) in row.block.layout.slots.enumerated()
        where layout.postingsID != 0 && slot < row.block.slotCount {
            if let relationships, !relationships.contains(layout.postingsID) { continue }
            let column = try row.block.column(slot)
            if column.isNull(row.index) { continue }
            references[layout.postingsID, default: []].append(
                PostingChange(target: column.reference(row.index), referrer: row.ref, isRemoval: isRemoval))
        }
    }

    private mutating func findLostRows() throws(StoreError) {
        guard !lost.isEmpty else { return }
        lost.sort { ($0.sequence, $0.ref.rawValue) < ($1.sequence, $1.ref.rawValue) }
        let base = base.with(source)
        var finder = RowFinder(snapshot: base)
        var moved: [ObjectRef: UInt64] = [:]
        var start = 0
        while start < lost.count {
            var end = start + 1
            while end < lost.count && lost[end].sequence == lost[start].sequence { end += 1 }
            let sequence = lost[start].sequence
            let missing = try finder.find(lost[start..<end].map(\.ref), of: sequence) { row throws(StoreError) in
                try edit.place(row.ref, at: row.location)
                try record(row, isRemoval: false)
            }
            for ref in missing { moved[ref] = sequence }
            start = end
        }
        var movedRows = MovedRowFinder(snapshot: base)
        let missing = try movedRows.find(moved) { row throws(StoreError) in
            try edit.place(row.ref, at: row.location)
            try record(row, isRemoval: false)
        }
        if let (ref, sequence) = missing.min(by: { $0.value < $1.value }) {
            throw StoreError(
                .expired,
                "the store as of transaction \(target) is no longer retained: the row of object \(ref.key) that "
                    + "transaction \(sequence) wrote has been removed by compaction")
        }
    }

    /// What is left when additions and removals of the same reference have cancelled out: relationships know no removal
    /// of what is not there.
    private static func net(_ changes: [PostingChange]) -> [PostingChange] {
        let sorted = changes.sorted {
            ($0.target.rawValue, $0.referrer.rawValue) < ($1.target.rawValue, $1.referrer.rawValue)
        }
        var result: [PostingChange] = []
        var start = 0
        while start < sorted.count {
            var sum = 0
            var end = start
            while end < sorted.count, sorted[end].target == sorted[start].target,
                sorted[end].referrer == sorted[start].referrer
            {
                sum += sorted[end].isRemoval ? -1 : 1
                end += 1
            }
            if sum != 0 {
                result.append(
                    PostingChange(
                        target: sorted[start].target, referrer: sorted[start].referrer, isRemoval: sum < 0))
            }
            start = end
        }
        return result
    }
}
