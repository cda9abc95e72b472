internal import StrataSupport

/// Counts by entity and postings, made anew from the live rows: a log with holes lacks records that they are sums of.
enum LogCensus {
    /// So many relationships are laid over the postings at once.
    private static let batchCount = 1 << 16

    /// The snapshot with counts and postings that its rows give.
    ///
    /// - Complexity: reads every live row.
    static func complete(_ snapshot: Snapshot) throws(StoreError) -> Snapshot {
        var counts = [Int](repeating: 0, count: snapshot.counts.count)
        var pending: [UInt16: [PostingChange]] = [:]
        var postings = NumberTable<Postings>()
        func add(_ id: UInt16) {
            guard let changes = pending[id], !changes.isEmpty else { return }
            postings[id] = (postings[id] ?? Postings()).adding(changes)
            pending[id] = []
        }
        for root in snapshot.layout.roots {
            try snapshot.forEachRun(root: root) { run throws(StoreError) in
                let block = try snapshot.source.block(at: run.location)
                let rows = run.location.row..<run.location.row + run.count
                guard rows.upperBound <= block.rowCount, Int(block.entity) < counts.count else {
                    throw StoreError(
                        .corruption, "the index names rows that a block does not have", segment: run.location.segment,
                        offset: run.location.byteOffset)
                }
                counts[Int(block.entity)] += run.count
                for (slot, slotLayout) in block.layout.slots.enumerated()
                where slotLayout.postingsID != 0 && slot < block.slotCount {
                    let column = try block.column(slot)
                    for row in rows where !column.isNull(row) {
                        pending[slotLayout.postingsID, default: []].append(
                            PostingChange(target: column.reference(row), referrer: block.ref(row)))
                    }
                    if pending[slotLayout.postingsID, default: []].count >= batchCount { add(slotLayout.postingsID) }
                }
                return true
            }
        }
        for id in pending.keys.sorted() { add(id) }
        return Snapshot(
            sequence: snapshot.sequence, timestampNanoseconds: snapshot.timestampNanoseconds,
            layout: snapshot.layout, indexes: snapshot.indexes, postings: postings, counts: counts,
            source: snapshot.source, end: snapshot.end, checksum: snapshot.checksum, ordered: snapshot.ordered,
            epoch: snapshot.epoch)
    }
}
