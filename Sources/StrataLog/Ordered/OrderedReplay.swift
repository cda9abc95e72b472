/// The objects that a replayed part of the log touches, whose places in the ordered indexes are then put right.
///
/// Nothing about ordered indexes is in the log: what a checkpoint's snapshot and the one after the replay have of the
/// touched rows tells the difference.
struct OrderedReplay {
    /// What the replay began with.
    private let start: Snapshot
    private let roots: Set<UInt16>
    private var keys: [UInt16: Set<UInt64>] = [:]

    init(_ start: Snapshot) {
        self.start = start
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
                    for key in keys.sorted() {
                        try note(key, index.definition, start, isRemoval: true, in: batch)
                        try note(key, index.definition, end, isRemoval: false, in: batch)
                    }
                    if batch.isOverflowing { return OrderedIndex(unbuilt: index.definition) }
                    return try index.adding(batch.sorted())
                } catch {
                    return OrderedIndex(unbuilt: index.definition)
                }
            })
    }

    private func note(
        _ key: UInt64, _ definition: OrderedIndexDefinition, _ snapshot: Snapshot, isRemoval: Bool,
        in batch: OrderedBatch
    ) throws(StoreError) {
        let ref = ObjectRef(entity: definition.root, key: key)
        guard let row = try snapshot.row(ref), definition.entities.contains(row.block.entity) else { return }
        let reader = try OrderedKeyReader(definition, row.block, snapshot.source)
        if try reader.append(row.index, to: batch) { batch.end(row.ref, isRemoval: isRemoval) }
    }
}
