internal import SystemPackage

extension LogStore {
    /// The store as it was after a transaction: everything that a snapshot answers, as of then.
    ///
    /// - Parameter sequence: the last transaction to be shown; 0 for the empty store before the first.
    /// - Throws: `.expired`, naming the earliest point that is left, when the store does not retain that state any more;
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

    /// The number of the last transaction that was committed at a time or before; 0 if none was.
    ///
    /// Where the clock was set back, the transactions up to the first later one count.
    ///
    /// - Parameter nanoseconds: since 1970-01-01 00:00 UTC.
    /// - Throws: `.expired` when everything retained is later, though something was committed before; `.io`,
    ///   `.corruption`.
    /// - Complexity: reads one header of each of O(log segments) segments, and the headers of one segment.
    public func sequence(atNanoseconds nanoseconds: Int64) throws(StoreError) -> UInt64 {
        let snapshot = snapshot
        if snapshot.timestampNanoseconds <= nanoseconds { return snapshot.sequence }
        var walker = try RecordWalker(snapshot: snapshot) { _, first in
            (first?.timestampNanoseconds ?? .max) <= nanoseconds
        }
        var found: UInt64?
        while let record = try walker.next() {
            if record.header.timestampNanoseconds > nanoseconds {
                if let found { return found }
                guard record.header.sequence == 1 else {
                    throw PastSnapshotBuilder.expired(record.header.sequence - 2, first: record.header.sequence)
                }
                return 0
            }
            found = record.header.sequence
        }
        return found ?? snapshot.sequence
    }
}
