/// Finds the blocks of few rows that a log ends with: those that whoever wrote them has not merged.
struct FreshRowSurvey {
    /// So many transactions are looked at: the newest.
    private static let transactionMaximumCount: UInt64 = 1 << 15
    /// A longer record has few small blocks for what it takes to read it.
    private static let recordMaximumByteCount = 64 << 10

    private(set) var blocks: [UInt16: [Location]] = [:]

    /// - Parameters:
    ///   - snapshot: how far the log is read.
    ///   - isStopped: asked before each record; what was found until then counts.
    /// - Throws: `.io`, `.corruption`.
    /// - Complexity: reads the headers of a segment's records, and the records of few rows since.
    init(_ snapshot: Snapshot, isStopped: () -> Bool) throws(StoreError) {
        let count = Self.transactionMaximumCount
        let first = snapshot.sequence > count ? snapshot.sequence - count : 0
        var walker = try RecordWalker(snapshot: snapshot, after: first)
        while let record = try walker.next(), !isStopped() {
            guard record.header.sequence > first, record.header.byteCount <= Self.recordMaximumByteCount else {
                continue
            }
            let body = try record.body()
            let locations = try record.blocks(of: RecordPieces(body))
            for (piece, location) in zip(body.blocks, locations) where piece.role != .tombstone {
                let block = try record.block(at: location, byteCount: piece.byteCount)
                guard FreshRows.isSmall(rowCount: block.rowCount, byteCount: piece.byteCount) else { continue }
                blocks[block.entity, default: []].append(location)
            }
        }
    }
}
