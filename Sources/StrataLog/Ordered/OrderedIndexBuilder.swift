/// Makes an index of a snapshot's rows.
struct OrderedIndexBuilder {
    /// Entries that are sorted at a time, and their bytes.
    private static let batchCount = 1 << 16
    private static let batchByteCount = 8 << 20

    private let definition: OrderedIndexDefinition
    private let snapshot: Snapshot

    init(_ definition: OrderedIndexDefinition, _ snapshot: Snapshot) {
        self.definition = definition
        self.snapshot = snapshot
    }

    /// - Parameters:
    ///   - sorter: new; what it holds in memory is what building needs, but for a batch.
    ///   - goesOn: asked block by block.
    /// - Returns: the entries of all rows; nil when it was stopped.
    /// - Complexity: O(n log n) in the rows.
    func build(with sorter: OrderedSorter, while goesOn: () -> Bool) throws(StoreError) -> OrderedList? {
        let entities = Set(definition.entities)
        let batch = OrderedBatch(capacity: 1 << 16)
        var block: Block?
        var reader: OrderedKeyReader?
        var isStopped = false
        try snapshot.forEachRun(root: definition.root) { run throws(StoreError) in
            if block?.location != run.location.block {
                guard goesOn() else {
                    isStopped = true
                    return false
                }
                let next = try snapshot.source.block(at: run.location)
                block = next
                reader = entities.contains(next.entity) ? try OrderedKeyReader(definition, next, snapshot.source) : nil
            }
            guard let block, let reader else { return true }
            for row in run.location.row..<run.location.row + run.count {
                if try reader.append(row, to: batch) { batch.end(block.ref(row), isRemoval: false) }
            }
            if batch.entryCount >= Self.batchCount || batch.byteCount >= Self.batchByteCount {
                try sorter.add(batch.sorted())
                batch.removeAll()
            }
            return true
        }
        if isStopped { return nil }
        try sorter.add(batch.sorted())
        return try sorter.finish()
    }
}
