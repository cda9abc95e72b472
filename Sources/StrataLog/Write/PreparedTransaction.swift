/// A transaction whose blocks are encoded: all that is missing is its place in the log.
final class PreparedTransaction {
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
                    "the transaction changes object \(key) of entity \(writer.layout.id) more than once")
            }
        }
        if let error = transaction.uniqueChanges?.error { throw error }
        // Sorted while the other thread encodes.
        try transaction.orderedChanges?.finish()
        transaction.finishEncoding()
        self.transaction = transaction
        var body = TransactionBody()
        body.author = transaction.author
        body.contextName = transaction.contextName
        for job in transaction.jobs {
            body.blocks.append(TransactionBody.Piece(role: job.role, byteCount: job.byteCount))
        }
        for value in transaction.largeValues { body.largeValueByteCounts.append(value.bytes.count) }
        for list in transaction.accumulators where !list.others.isEmpty {
            for start in stride(from: 0, to: list.others.count, by: TransactionBody.groupMaximumCount) {
                let end = min(start + TransactionBody.groupMaximumCount, list.others.count)
                body.postings.append(
                    TransactionBody.PostingChanges(
                        postingsID: list.postingsID, changes: Array(list.others[start..<end])))
            }
        }
        for writer in transaction.writers { Self.appendChanges(of: writer, to: &body) }
        changeCount = body.changes.reduce(0) { $0 + $1.keys.count }
        let linkCount = body.postings.reduce(0) { $0 + $1.changes.count }
        try Self.check(objects: changeCount, relationships: linkCount)
        let replacing = body.blocks.reduce(0) { $0 + ($1.role == .updated ? $1.byteCount : 0) }
        let blocks = body.blocks.reduce(0) { $0 + $1.byteCount }
        // Whose the large values are is not asked: they count in proportion.
        let large = Double(body.largeValueByteCounts.reduce(0, +))
        replacingByteCount = replacing + (blocks > 0 ? Int(large * Double(replacing) / Double(blocks)) : 0)
        let pieces = blocks + body.largeValueByteCounts.reduce(0, +)
        record = TransactionRecord(
            body: body.encoded(), jobs: transaction.jobs, largeValues: transaction.largeValues, pieces: pieces)
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

    private static func appendChanges(of writer: EntityWriter, to body: inout TransactionBody) {
        let limit = TransactionBody.groupMaximumCount
        for start in stride(from: 0, to: writer.insertedKeys.count, by: limit) {
            let keys = Array(writer.insertedKeys[start..<min(start + limit, writer.insertedKeys.count)])
            body.changes.append(change(writer, .insert, keys: keys))
        }
        if !writer.updated.keys.isEmpty {
            for group in updateGroups(writer.updated) {
                var change = change(writer, .update, keys: group.rows.map { writer.updated.keys[$0] })
                change.replacedSequences = group.rows.map { writer.updated.replacing[$0].sequence }
                change.changed = group.changed
                body.changes.append(change)
            }
        }
        for start in stride(from: 0, to: writer.deleted.keys.count, by: limit) {
            let end = min(start + limit, writer.deleted.keys.count)
            var change = change(writer, .delete, keys: Array(writer.deleted.keys[start..<end]))
            change.replacedSequences = writer.deleted.replacing[start..<end].map(\.sequence)
            let group = start / limit
            if group < writer.tombstoneJobs.count { change.tombstoneBlocks = writer.tombstoneJobs[group] }
            body.changes.append(change)
        }
    }

    private static func change(
        _ writer: EntityWriter, _ kind: ChangeKind, keys: [UInt64]
    ) -> TransactionBody.ChangeRecord {
        TransactionBody.ChangeRecord(
            entity: writer.layout.id, kind: kind, changed: SlotSet(), keys: keys, replacedSequences: [],
            tombstoneBlocks: [])
    }

    /// Updates with equal changed slots together, each group in the order of the updates and within the size limit.
    private static func updateGroups(_ updates: EntityWriter.Replacements) -> [(changed: SlotSet, rows: [Int])] {
        if updates.keys.count == 1 { return [(updates.changed[0], [0])] }
        var groups: [(changed: SlotSet, rows: [Int])] = []
        var groupOf: [SlotSet: Int] = [:]
        for row in updates.keys.indices {
            let changed = updates.changed[row]
            // Neighbouring updates mostly change the same slots: one comparison instead of a hash.
            if let last = groups.indices.last, groups[last].changed == changed,
                groups[last].rows.count < TransactionBody.groupMaximumCount
            {
                groups[last].rows.append(row)
                continue
            }
            if let group = groupOf[changed], groups[group].rows.count < TransactionBody.groupMaximumCount {
                groups[group].rows.append(row)
            } else {
                groupOf[changed] = groups.count
                groups.append((changed, [row]))
            }
        }
        return groups
    }
}
