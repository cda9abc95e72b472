/// What a transaction adds to and removes from the ordered indexes.
final class OrderedChanges {
    /// What one index has to take in.
    enum Change {
        case entries(OrderedList)
        /// More than is kept: the index has to be built anew.
        case tooMany
    }

    let rules: OrderedRules
    /// Parallel to the rules' definitions; nil for those that the transaction does not touch.
    private(set) var batches: [OrderedBatch?]
    /// Made of the batches by ``finish()``.
    private(set) var lists: [Change?] = []
    /// The first error that reading a value met: rows are ended without throwing.
    var error: StoreError?

    init(_ rules: OrderedRules) {
        self.rules = rules
        batches = rules.definitions.map { _ in nil }
    }

    func batch(_ index: Int) -> OrderedBatch {
        if let batch = batches[index] { return batch }
        let batch = OrderedBatch(capacity: 1 << 10)
        batches[index] = batch
        return batch
    }

    var isUsed: Bool { lists.contains { $0 != nil } }

    /// Sorts what was gathered.
    func finish() throws(StoreError) {
        if let error { throw error }
        lists = batches.map { batch in
            guard let batch else { return nil }
            if batch.isOverflowing { return .tooMany }
            return batch.isEmpty ? nil : .entries(batch.sorted())
        }
        batches = batches.map { _ in nil }
    }
}

/// Notes what the rows of one entity in one transaction change in the ordered indexes.
final class OrderedRowWriter {
    private let changes: OrderedChanges
    private let indexes: [Int]
    private let batches: [OrderedBatch]
    /// Positions in `indexes` of those that the row being written may be placed anew in.
    @exclusivity(unchecked) private var affected: [Int] = []
    private let all: [Int]
    /// What reads the blocks that rows were last given up in, by position in `indexes`: rows that follow each other lie
    /// in one block, or in two by turns where some were updated.
    @exclusivity(unchecked) private var readers: [(last: OrderedKeyReader?, before: OrderedKeyReader?)]

    /// Nil when no index has rows of the entity.
    init?(_ entity: UInt16, _ changes: OrderedChanges?) {
        guard let changes else { return nil }
        let indexes = changes.rules.indexes(of: entity)
        if indexes.isEmpty { return nil }
        self.changes = changes
        self.indexes = indexes
        batches = indexes.map { changes.batch($0) }
        all = Array(indexes.indices)
        readers = indexes.map { _ in (nil, nil) }
    }

    func beginInsert() { affected = all }

    /// Whether a change of some slots, or a deletion (nil), touches an index.
    func begin(changing changed: SlotSet?) -> Bool {
        affected = all
        if let changed {
            affected.removeAll { position in
                !changes.rules.slots[indexes[position]].slots.contains { changed.contains($0) }
            }
        }
        return !affected.isEmpty
    }

    /// Notes that a stored row gives its places up. When it throws nothing was noted.
    func giveUp(_ row: Row, _ ref: ObjectRef, reading source: BlockSource) throws(StoreError) {
        var isIn: [Int] = []
        do throws(StoreError) {
            for position in affected {
                if try append(row, position, source) { isIn.append(position) }
            }
        } catch {
            for batch in batches { batch.discard() }
            throw error
        }
        for position in isIn { batches[position].end(ref, isRemoval: true) }
    }

    /// Appends the key of a stored row for one index; false when the row is not in it.
    private func append(_ row: Row, _ position: Int, _ source: BlockSource) throws(StoreError) -> Bool {
        if readers[position].last?.block !== row.block {
            let (last, before) = readers[position]
            readers[position] = (before, last)
            if readers[position].last?.block !== row.block {
                let definition = changes.rules.definitions[indexes[position]]
                readers[position].last = try OrderedKeyReader(definition, row.block, source)
            }
        }
        return try readers[position].last?.append(row.index, to: batches[position]) ?? false
    }

    /// Notes the places of the row that is being written.
    func take(_ memory: RowMemory, _ ref: ObjectRef, in transaction: WriteTransaction) {
        for position in affected {
            let batch = batches[position]
            do throws(StoreError) {
                let definition = changes.rules.definitions[indexes[position]]
                if try OpenRowKey.append(definition, memory, transaction, to: batch) {
                    batch.end(ref, isRemoval: false)
                }
            } catch {
                batch.discard()
                changes.error = changes.error ?? error
            }
        }
        affected.removeAll(keepingCapacity: true)
    }
}
