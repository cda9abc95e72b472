/// A transaction whose blocks are encoded: all that is missing is its place in the log.
struct PreparedTransaction {
    let transaction: WriteTransaction
    let record: TransactionRecord
    let changeCount: Int
    /// Of rows that replace others, with the values stored beside them: as much becomes garbage, roughly.
    let replacingByteCount: Int

    /// Length of the record, a multiple of 64.
    var byteCount: Int { record.byteCount }

    /// Encodes what is left of the blocks, and the change table.
    ///
    /// - Throws: `.tooLarge` when the record would not fit into the largest segment.
    init(_ transaction: WriteTransaction) throws(StoreError) {
        if let large = transaction.largeValues.first(where: { $0.rawByteCount > LargeValue.maximumByteCount }) {
            throw StoreError(
                .tooLarge,
                "a value of \(large.rawByteCount) bytes: the log takes at most \(LargeValue.maximumByteCount)")
        }
        for writer in transaction.writers {
            if let key = writer.firstRepeatedKey {
                throw StoreError(
                    .invalidArgument,
                    "the transaction changes object \(key) of entity \(writer.entity) more than once")
            }
        }
        if let error = transaction.uniqueChanges?.error { throw error }
        // Sorted while the other thread encodes.
        try transaction.orderedChanges?.finish()
        transaction.finishEncoding()
        self.transaction = transaction
        var (changes, links, blocks, replacing) = (0, 0, 0, 0)
        for writer in transaction.writers { changes += writer.changeCount }
        for list in transaction.accumulators { links += list.others.count }
        try Self.check(objects: changes, relationships: links)
        changeCount = changes
        for job in transaction.jobs {
            blocks += job.byteCount
            if job.role == .updated { replacing += job.byteCount }
        }
        let large = transaction.largeValues.reduce(0) { $0 + $1.bytes.count }
        // Whose the large values are is not asked: they count in proportion.
        replacingByteCount =
            replacing + (blocks > 0 ? Int(Double(large) * Double(replacing) / Double(blocks)) : 0)
        record = TransactionRecord(
            body: Self.body(of: transaction), jobs: transaction.jobs, largeValues: transaction.largeValues,
            pieces: blocks + large)
        try Self.check(byteCount: record.byteCount)
    }

    /// Refuses what could be written and not be read again.
    static func check(objects: Int, relationships: Int) throws(StoreError) {
        guard max(objects, relationships) <= TransactionBody.maximumCount else {
            throw StoreError(
                .tooLarge,
                "transaction of \(objects) objects and \(relationships) relationships: the log takes \(TransactionBody.maximumCount) of each; save in parts"
            )
        }
    }

    /// Refuses a record that would not fit into an empty segment.
    static func check(byteCount: Int) throws(StoreError) {
        guard byteCount <= RecordHeader.maximumByteCount - LogWriter.preambleReserveByteCount else {
            throw StoreError(
                .tooLarge,
                "transaction of \(byteCount) bytes: the log takes at most \(RecordHeader.maximumByteCount); save in parts"
            )
        }
    }

    private static func body(of transaction: WriteTransaction) -> [UInt8] {
        var body = TransactionBodyWriter(author: transaction.author, contextName: transaction.contextName)
        body.append(
            blocks: transaction.jobs.lazy.map { TransactionBody.Piece(role: $0.role, byteCount: $0.byteCount) })
        body.append(largeValueByteCounts: transaction.largeValues.lazy.map { $0.bytes.count })
        body.beginPostings()
        for list in transaction.accumulators {
            forEachGroup(list.others) { body.append($0, postingsID: list.postingsID) }
        }
        body.beginChanges()
        for writer in transaction.writers { appendChanges(of: writer, to: &body) }
        return body.bytes
    }

    private static func appendChanges(of writer: EntityWriter, to body: inout TransactionBodyWriter) {
        forEachGroup(writer.insertedKeys) {
            body.append(.insert, entity: writer.entity, keys: $0, replacedSequences: EmptyCollection())
        }
        writer.changedSlots.forEachGroup { changed, rows in
            let updated =
                switch rows {
                case .all: writer.updated
                case .some(let rows): rows.map { writer.updated[$0] }
                }
            forEachGroup(updated) { append($0, .update, changed) }
        }
        var blocks = writer.tombstoneJobs[...]
        forEachGroup(writer.deleted) { append($0, .delete, SlotSet(), blocks.popFirst() ?? []) }

        func append(
            _ rows: ArraySlice<EntityWriter.Replacement>, _ kind: ChangeKind, _ changed: SlotSet,
            _ tombstones: [Int] = []
        ) {
            // Mostly there is one row, and no lists are made.
            if rows.count == 1, let row = rows.first {
                body.append(
                    kind, entity: writer.entity, keys: CollectionOfOne(row.key),
                    replacedSequences: CollectionOfOne(row.version.sequence), changed: changed,
                    tombstoneBlocks: tombstones)
            } else {
                body.append(
                    kind, entity: writer.entity, keys: rows.map { $0.key },
                    replacedSequences: rows.map { $0.version.sequence }, changed: changed, tombstoneBlocks: tombstones)
            }
        }
    }

    /// Cuts a list into parts that are no longer than a group may be.
    private static func forEachGroup<Element>(_ list: [Element], _ body: (ArraySlice<Element>) -> Void) {
        for start in stride(from: 0, to: list.count, by: TransactionBody.groupMaximumCount) {
            body(list[start..<min(start + TransactionBody.groupMaximumCount, list.count)])
        }
    }
}
