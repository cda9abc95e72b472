/// The objects that a replayed part of the log touches, whose places in the ordered indexes are then put right.
///
/// Nothing about ordered indexes is in the log: what a checkpoint's snapshot and the one after the replay have of the
/// touched rows tells the difference.
struct OrderedReplay {
    /// What the replay began with.
    private var start: Snapshot
    private var roots: Set<UInt16>
    private var keys: [UInt16: Set<UInt64>] = [:]

    init(_ start: Snapshot) {
        self.start = start
        roots = Set(start.ordered.list.map(\.definition.root))
    }

    /// Goes by the slots of newer schemas, as reading rows does from then on.
    mutating func lift(from before: [NumberedSchema], to after: [NumberedSchema]) {
        start = start.with(start.ordered.lifted(from: before, to: after))
        roots = Set(start.ordered.list.map(\.definition.root))
    }

    mutating func touch(_ touched: some Sequence<UInt64>, root: UInt16?) {
        guard let root, roots.contains(root) else { return }
        keys[root, default: []].formUnion(touched)
    }

    /// The indexes as they are in a snapshot; those that cannot be brought there have to be built anew.
    func indexes(for end: Snapshot) -> OrderedIndexes {
        if keys.isEmpty { return start.ordered }
        return OrderedIndexes(
            start.ordered.list.map { index in
                guard index.isReady, let keys = keys[index.definition.root] else { return index }
                do throws(StoreError) {
                    let batch = OrderedBatch()
                    var before = SnapshotKeys(index.definition, start)
                    var after = SnapshotKeys(index.definition, end)
                    for key in keys.sorted() {
                        if let ref = try before.append(key, to: batch) { batch.end(ref, isRemoval: true) }
                        if let ref = try after.append(key, to: batch) { batch.end(ref, isRemoval: false) }
                    }
                    if batch.isOverflowing { return OrderedIndex(unbuilt: index.definition) }
                    return try index.adding(batch.sorted())
                } catch {
                    return OrderedIndex(unbuilt: index.definition)
                }
            })
    }
}

/// Makes the keys of single rows of a snapshot; neighbours mostly lie in one block.
private struct SnapshotKeys {
    private let definition: OrderedIndexDefinition
    private let snapshot: Snapshot
    private var block: Block?
    private var reader: OrderedKeyReader?

    init(_ definition: OrderedIndexDefinition, _ snapshot: Snapshot) {
        self.definition = definition
        self.snapshot = snapshot
    }

    /// Appends the key of a row, without ending the entry; nil when there is no such row in the index.
    mutating func append(_ key: UInt64, to batch: OrderedBatch) throws(StoreError) -> ObjectRef? {
        guard let row = try snapshot.row(ObjectRef(entity: definition.root, key: key)),
            definition.entities.contains(row.block.entity)
        else { return nil }
        if block !== row.block {
            reader = try OrderedKeyReader(definition, row.block, snapshot.source)
            block = row.block
        }
        guard let reader, try reader.append(row.index, to: batch) else { return nil }
        return row.ref
    }
}
