internal import SystemPackage

/// What wrote the bytes of a segment of the log, and when.
package struct WrittenBytes: Sendable {
    /// The segment's number.
    package let segment: UInt32
    /// Transactions that begin in it.
    package internal(set) var transactionCount = 0
    /// Bytes of their records: what programs saved.
    package internal(set) var transactionByteCount = 0
    /// Bytes of records that compaction wrote: what had been saved before.
    package internal(set) var compactionByteCount = 0
    /// When the first of its transactions was committed, in nanoseconds since 1970; nil where there is none.
    package internal(set) var firstNanoseconds: Int64?
    /// When the last one was.
    package internal(set) var lastNanoseconds: Int64?
}

extension LogStore {
    /// What wrote the bytes of each segment that the newest snapshot shows, oldest first.
    ///
    /// - Throws: `.io` or `.corruption` when a segment cannot be read.
    /// - Complexity: reads the header of each record of the log.
    package func writtenBytes() throws(StoreError) -> [WrittenBytes] {
        let snapshot = snapshot
        defer { withExtendedLifetime(snapshot) {} }
        let end = snapshot.end
        var result: [WrittenBytes] = []
        for number in snapshot.epoch.compaction.holes.remaining(1, through: end.segment) {
            let reader = try RecordReader(
                files: files, storeUUID: storeUUID, segment: number, file: try source.file(segment: number),
                limit: number == end.segment ? end.offset : nil)
            var written = WrittenBytes(segment: number)
            var offset = SegmentHeader.byteCount
            while offset < reader.limit, let header = try reader.header(at: offset) {
                offset += header.byteCount
                switch header.kind {
                case .compaction: written.compactionByteCount += header.byteCount
                case .transaction:
                    written.transactionCount += 1
                    written.transactionByteCount += header.byteCount
                    written.firstNanoseconds = written.firstNanoseconds ?? header.timestampNanoseconds
                    written.lastNanoseconds = header.timestampNanoseconds
                default: break
                }
            }
            result.append(written)
        }
        return result
    }
}
