/// Looks for the last transaction up to which none was committed after a time.
struct TimeSearch {
    private let snapshot: Snapshot
    private let nanoseconds: Int64
    /// The last transaction that counts; nil while none is known to.
    private var found: UInt64?
    private var latestNanoseconds: Int64 = .min
    private var isOver = false

    init(snapshot: Snapshot, nanoseconds: Int64) {
        self.snapshot = snapshot
        self.nanoseconds = nanoseconds
        if let mark = snapshot.source.transactionTimes.mark(notAfter: nanoseconds), mark.sequence <= snapshot.sequence {
            found = mark.sequence
            latestNanoseconds = mark.latestNanoseconds
        }
    }

    /// - Throws: `.expired` when the first transaction that is retained is later.
    mutating func run() throws(StoreError) -> UInt64 {
        var walker = try RecordWalker(snapshot: snapshot, after: found ?? 0)
        while !isOver, let record = try walker.next() {
            let sequence = record.header.sequence
            if sequence <= found ?? 0 { continue }
            if sequence > (found ?? 0) + 1 { try passArchive(before: sequence) }
            guard !isOver else { break }
            // A later segment is there: no flush takes back what is in this one.
            try pass(
                sequence, record.header.timestampNanoseconds, isLasting: record.reader.segment < snapshot.end.segment)
        }
        if !isOver, found ?? 0 < snapshot.sequence { try passArchive(before: snapshot.sequence + 1) }
        return found ?? 0
    }

    /// Goes through transactions whose segments are gone: compaction has written down what the history shows of them.
    private mutating func passArchive(before sequence: UInt64) throws(StoreError) {
        var history = try HistoryReader(snapshot: snapshot, after: found ?? 0)
        while !isOver, found ?? 0 < sequence - 1, let transaction = try history.next(), transaction.sequence < sequence
        {
            try pass(transaction.sequence, transaction.timestampNanoseconds, isLasting: true)
        }
    }

    private mutating func pass(
        _ sequence: UInt64, _ timestampNanoseconds: Int64, isLasting: Bool
    ) throws(StoreError) {
        guard timestampNanoseconds <= nanoseconds else {
            guard found != nil || sequence == 1 else {
                throw PastSnapshotBuilder.expired(sequence - 2, first: sequence)
            }
            isOver = true
            return
        }
        found = sequence
        latestNanoseconds = max(latestNanoseconds, timestampNanoseconds)
        guard isLasting, sequence % TransactionTimes.distance == 0 else { return }
        snapshot.source.transactionTimes.record(
            TransactionTimes.Mark(sequence: sequence, latestNanoseconds: latestNanoseconds))
    }
}
