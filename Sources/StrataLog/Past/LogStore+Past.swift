internal import StrataIO
internal import StrataSupport
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

    /// The number of the last transaction up to which none was committed after a time; 0 if the first one was.
    ///
    /// Where the clock was set back, transactions behind a later one do not count, whatever their times are.
    ///
    /// - Parameter nanoseconds: since 1970-01-01 00:00 UTC.
    /// - Throws: `.expired` when everything retained is later, though something was committed before; `.io`,
    ///   `.corruption`.
    /// - Complexity: reads the headers of about a thousand records once the store knows the times of those before; the
    ///   first call reads the headers of all records up to the time, and what compaction wrote down of those it took
    ///   away.
    public func sequence(atNanoseconds nanoseconds: Int64) throws(StoreError) -> UInt64 {
        var search = TimeSearch(snapshot: snapshot, nanoseconds: nanoseconds)
        return try search.run()
    }
}
