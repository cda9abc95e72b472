/// Finds rows that compaction moved while they were live, and that were replaced or deleted later: no index names them
/// any more, and the record of the transaction that wrote them is gone.
package struct MovedRowFinder {
    private let snapshot: Snapshot

    /// - Parameter snapshot: how far the log is read.
    package init(snapshot: Snapshot) {
        self.snapshot = snapshot
    }

    /// - Parameters:
    ///   - wanted: objects, with the transactions that wrote their rows.
    ///   - body: called with each row, in any order.
    /// - Returns: the objects whose rows compaction did not leave anywhere.
    /// - Throws: `.io`, `.corruption`, and what the body throws.
    /// - Complexity: reads the headers of the log from the first of the transactions on, and of the rows that
    ///   compaction wrote since those whose keys may be wanted.
    package func find(
        _ wanted: [ObjectRef: UInt64], _ body: (Row) throws(StoreError) -> Void
    ) throws(StoreError) -> [ObjectRef: UInt64] {
        var wanted = wanted
        guard let first = wanted.values.min() else { return wanted }
        let refs = wanted.keys.sorted()
        // A row is moved after it was written.
        var walker = try RecordWalker(snapshot: snapshot, after: first - 1)
        while !wanted.isEmpty, let record = try walker.next(.compaction) {
            let contents = try record.compactionBody()
            let locations = try record.blocks(of: RecordPieces(contents))
            let rows = zip(contents.blocks, locations).filter { $0.0.role == .updated }
            for ((piece, location), table) in zip(rows, contents.rows) {
                guard Self.overlap(refs, table) else { continue }
                let block = try record.block(at: location, byteCount: piece.byteCount)
                for row in 0..<block.rowCount where wanted[block.ref(row)] == block.sequence(row) {
                    guard try block.hasLargeValues(of: row, in: snapshot) else { continue }
                    wanted[block.ref(row)] = nil
                    try body(Row(block: block, index: row))
                }
            }
        }
        return wanted
    }

    /// Whether any of the references, which ascend, is of a key between a table's lowest and highest.
    private static func overlap(_ refs: [ObjectRef], _ table: CompactionBody.RowTable) -> Bool {
        let lowest = ObjectRef(entity: table.entity, key: table.keys.lowerBound)
        var (low, high) = (0, refs.count)
        while low < high {
            let middle = (low + high) / 2
            if refs[middle] < lowest { low = middle + 1 } else { high = middle }
        }
        return low < refs.count && refs[low].entity == table.entity && refs[low].key <= table.keys.upperBound
    }
}
