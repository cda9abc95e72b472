/// Finds where rows lie by the transaction that wrote them: rows that no index names any more.
///
/// Reads forwards: asked for ascending transactions, it reads the headers of each segment at most once.
package struct RowFinder {
    private let snapshot: Snapshot
    private var walker: RecordWalker?
    /// The transaction that the walker comes to next.
    private var next: UInt64 = 0

    /// Over so many transactions the segment is looked up anew.
    private static let stepMaximum: UInt64 = 64
    private static let filterWords = 64

    /// - Parameter snapshot: how far the log is read.
    package init(snapshot: Snapshot) {
        self.snapshot = snapshot
    }

    /// Tells the rows that a transaction wrote.
    ///
    /// - Parameters:
    ///   - refs: the objects whose rows are wanted.
    ///   - sequence: not below that of an earlier call.
    ///   - body: called with each row, in any order.
    /// - Returns: the objects whose rows were not found there: compaction has moved or removed them.
    /// - Throws: `.io`, `.corruption`.
    package mutating func find(
        _ refs: some Sequence<ObjectRef>, of sequence: UInt64, _ body: (Row) throws(StoreError) -> Void
    ) throws(StoreError) -> Set<ObjectRef> {
        var wanted = Set(refs)
        // Most rows of a block are not wanted; that is seen without hashing them.
        var filter = [UInt64](repeating: 0, count: Self.filterWords)
        for ref in wanted { filter[Int(ref.key >> 6) % Self.filterWords] |= 1 << (ref.key & 63) }
        guard let record = try record(of: sequence) else { return wanted }
        let contents = try record.body()
        let locations = try record.blocks(of: RecordPieces(contents))
        for (piece, location) in zip(contents.blocks, locations) where piece.role != .tombstone && !wanted.isEmpty {
            let block = try record.block(at: location, byteCount: piece.byteCount)
            for row in 0..<block.rowCount {
                let key = block.key(row)
                guard filter[Int(key >> 6) % Self.filterWords] >> (key & 63) & 1 != 0 else { continue }
                guard wanted.contains(block.ref(row)), try block.hasLargeValues(of: row, in: snapshot) else {
                    continue
                }
                wanted.remove(block.ref(row))
                try body(Row(block: block, index: row))
            }
        }
        return wanted
    }

    /// Nil when the transaction's record is gone.
    private mutating func record(of sequence: UInt64) throws(StoreError) -> LogRecord? {
        if walker == nil || sequence > next + Self.stepMaximum {
            walker = try RecordWalker(snapshot: snapshot, after: sequence - 1)
        }
        while let record = try walker?.next() {
            next = record.header.sequence + 1
            if record.header.sequence == sequence { return record }
            if record.header.sequence > sequence { break }
        }
        // What has been passed is not come to again.
        walker = nil
        return nil
    }
}
