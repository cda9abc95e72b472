/// Finds rows that compaction moved while they were live, and that were replaced or deleted later: no index names them
/// any more, and the record of the transaction that wrote them is gone.
package struct MovedRowFinder {
    /// A block that compaction wrote: between which keys of an entity its rows are.
    private struct MovedRows {
        let entity: UInt16
        let keys: ClosedRange<UInt64>
        let location: Location
    }

    private let snapshot: Snapshot
    /// Goes on behind what is known.
    private var walker: RecordWalker?
    /// The transaction behind which everything up to the walker is known.
    private var start = UInt64.max
    private var known: [MovedRows] = []

    /// - Parameter snapshot: how far the log is read.
    package init(snapshot: Snapshot) {
        self.snapshot = snapshot
    }

    /// - Parameters:
    ///   - wanted: objects, with the transactions that wrote their rows.
    ///   - body: called with each row, in any order.
    /// - Returns: the objects whose rows compaction did not leave anywhere.
    /// - Throws: `.io`, `.corruption`, and what the body throws.
    /// - Complexity: reads the headers of the log from the first of the transactions on, once for calls whose first
    ///   transactions are not earlier, and of the rows that compaction wrote since those whose keys may be wanted.
    package mutating func find(
        _ wanted: [ObjectRef: UInt64], _ body: (Row) throws(StoreError) -> Void
    ) throws(StoreError) -> [ObjectRef: UInt64] {
        var wanted = wanted
        guard let first = wanted.values.min() else { return wanted }
        let refs = wanted.keys.sorted()
        func take(_ block: Block) throws(StoreError) {
            for row in 0..<block.rowCount where wanted[block.ref(row)] == block.sequence(row) {
                guard try block.hasLargeValues(of: row, in: snapshot) else { continue }
                wanted[block.ref(row)] = nil
                try body(Row(block: block, index: row))
            }
        }
        // A row is moved after it was written.
        if first - 1 < start {
            walker = try RecordWalker(snapshot: snapshot, after: first - 1)
            start = first - 1
            known = []
        }
        for rows in known where !wanted.isEmpty && Self.overlap(refs, rows) {
            try take(try snapshot.block(at: rows.location))
        }
        while !wanted.isEmpty, let record = try walker?.next(.compaction) {
            let contents = try record.compactionBody()
            let locations = try record.blocks(of: RecordPieces(contents))
            let blocks = zip(contents.blocks, locations).filter { $0.0.role == .updated }
            for ((piece, location), table) in zip(blocks, contents.rows) {
                let rows = MovedRows(entity: table.entity, keys: table.keys, location: location)
                known.append(rows)
                guard Self.overlap(refs, rows) else { continue }
                try take(try record.block(at: location, byteCount: piece.byteCount))
            }
        }
        return wanted
    }

    /// Whether any of the references, which ascend, is of a key between a block's lowest and highest.
    private static func overlap(_ refs: [ObjectRef], _ rows: MovedRows) -> Bool {
        let lowest = ObjectRef(entity: rows.entity, key: rows.keys.lowerBound)
        var (low, high) = (0, refs.count)
        while low < high {
            let middle = (low + high) / 2
            if refs[middle] < lowest { low = middle + 1 } else { high = middle }
        }
        return low < refs.count && refs[low].entity == rows.entity && refs[low].key <= rows.keys.upperBound
    }
}
