internal import StrataIO
internal import SystemPackage

extension LogStore {
    /// The store as it was after a transaction: everything that a snapshot answers, as of then.
    ///
    /// - Parameter sequence: the last transaction to be shown; 0 for the empty store before the first.
    /// - Throws: `.expired`, naming the earliest point that is left, when the store does not retain that state any
    ///   more;
    ///   `.invalidArgument` when there is no such transaction yet; `.io`, `.corruption`.
    /// - Complexity: O(1) for the newest transaction, else reads what was committed since. Keeping and releasing the
    ///   snapshot is O(1); it shares with the newest what is the same.
    public func snapshot(at sequence: UInt64) throws(StoreError) -> Snapshot {
        let newest = snapshot
        if sequence == newest.sequence { return newest }
        guard sequence < newest.sequence else {
            throw StoreError(
                .invalidArgument, "there is no transaction \(sequence) yet; the newest is \(newest.sequence)",
                path: files.directory.string)
        }
        var builder = PastSnapshotBuilder(base: newest, at: sequence)
        return try builder.build(try HistoryReader(snapshot: newest, after: sequence == 0 ? 0 : sequence - 1))
    }

    /// The number of the last transaction that lies before the newest `byteCount` bytes of the log, counted in whole
    /// segments; 0 if there are not so many.
    ///
    /// - Throws: `.io`, `.corruption`.
    /// - Complexity: O(segments): looks at the sizes of files and one header.
    public func sequence(keepingBytes byteCount: Int) throws(StoreError) -> UInt64 {
        let snapshot = snapshot
        let last = snapshot.end.segment
        var kept = 0
        var newer: UInt32?
        for segment in snapshot.epoch.compaction.holes.remaining(1, through: last).reversed() {
            let file = try source.file(segment: segment)
            let path = files.segment(segment)
            if let newer, kept >= byteCount {
                let next = try RecordReader(
                    files: files, storeUUID: storeUUID, segment: newer, file: try source.file(segment: newer))
                return try next.segmentHeader().previousSequence
            }
            newer = segment
            kept +=
                segment == last
                ? snapshot.end.offset : Int(try io("measure", path) { () throws(Errno) in try file.byteCount() })
        }
        return 0
    }

    /// The number of the last transaction that was committed at a time or before; 0 if none was.
    ///
    /// Where the clock was set back, the transactions up to the first later one count.
    ///
    /// - Parameter nanoseconds: since 1970-01-01 00:00 UTC.
    /// - Throws: `.expired` when everything retained is later, though something was committed before; `.io`,
    ///   `.corruption`.
    /// - Complexity: reads one header of each of O(log segments) segments, and the headers of one segment; where
    ///   compaction has taken that away, what it wrote down of the transactions.
    public func sequence(atNanoseconds nanoseconds: Int64) throws(StoreError) -> UInt64 {
        let snapshot = snapshot
        if snapshot.timestampNanoseconds <= nanoseconds { return snapshot.sequence }
        var walker = try RecordWalker(snapshot: snapshot) { _, first in
            (first?.timestampNanoseconds ?? .max) <= nanoseconds
        }
        var found: UInt64?
        while let record = try walker.next() {
            if record.header.timestampNanoseconds > nanoseconds {
                if record.header.sequence == (found ?? 0) + 1 { return found ?? 0 }
                return try archivedSequence(atNanoseconds: nanoseconds, after: found, snapshot)
            }
            found = record.header.sequence
        }
        return try archivedSequence(atNanoseconds: nanoseconds, after: found, snapshot)
    }

    /// As ``sequence(atNanoseconds:)`` where the transactions after `found` lay in segments that are gone.
    private func archivedSequence(
        atNanoseconds nanoseconds: Int64, after found: UInt64?, _ snapshot: Snapshot
    ) throws(StoreError) -> UInt64 {
        var found = found
        var history = try HistoryReader(snapshot: snapshot, after: found ?? 0)
        while let transaction = try history.next() {
            if transaction.timestampNanoseconds > nanoseconds {
                if let found { return found }
                guard transaction.sequence == 1 else {
                    throw PastSnapshotBuilder.expired(transaction.sequence - 2, first: transaction.sequence)
                }
                return 0
            }
            found = transaction.sequence
        }
        return found ?? snapshot.sequence
    }
}
