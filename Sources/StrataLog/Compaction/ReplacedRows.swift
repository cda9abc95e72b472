/// Which segments may hold rows that transactions after some point replaced or deleted: what
/// ``LogRetention/rowsFloor`` keeps.
///
/// The history is read once: of each segment only the last such transaction matters, so a floor may rise without
/// anything being read again.
struct ReplacedRows {
    /// By segment, the last transaction after `start` and up to `end` that replaced or deleted a row of it.
    private var last: [UInt32: UInt64] = [:]
    private var start: UInt64 = 0
    private var end: UInt64 = 0

    /// Segments with rows that a transaction after the floor replaced or deleted.
    ///
    /// - Parameter infos: of all segments that the log has left.
    /// - Throws: `.io` or `.corruption` when the history cannot be read.
    /// - Complexity: reads the change tables of the transactions since the last call, and those of the segment that the
    ///   log goes on in; when the floor is lower than ever, all after it.
    mutating func segments(
        after floor: UInt64, _ snapshot: Snapshot, _ infos: [UInt32: SegmentInfo]
    ) throws(StoreError) -> Set<UInt32> {
        guard floor < snapshot.sequence else { return [] }
        if floor < start || floor > end { self = ReplacedRows(start: floor, end: floor) }
        let inOrder = infos.values.sorted { $0.segment < $1.segment }
        // Who asks with an older snapshot does not know the newest segments.
        let newestKnown = inOrder.last?.segment ?? 0
        last = last.filter { infos[$0.key] != nil || $0.key > newestKnown }
        // Later transactions may have replaced rows of the segment that the log goes on in, which has no `SegmentInfo`
        // yet: they are looked at again when it has.
        let sealed = inOrder.last?.lastSequence ?? 0
        var newest: [UInt32: UInt64]?
        var history = try HistoryReader(snapshot: snapshot, after: end)
        while let transaction = try history.next() {
            if transaction.sequence <= sealed {
                Self.record(transaction, snapshot.layout, inOrder, &last)
                end = transaction.sequence
            } else {
                var changed = newest.take() ?? last
                Self.record(transaction, snapshot.layout, inOrder, &changed)
                newest = changed
            }
        }
        return Set((newest ?? last).lazy.filter { $0.value > floor }.map(\.key))
    }

    init() {}

    private init(start: UInt64, end: UInt64) {
        self.start = start
        self.end = end
    }

    private static func record(
        _ transaction: HistoryTransaction, _ layout: StoreLayout, _ segments: [SegmentInfo],
        _ last: inout [UInt32: UInt64]
    ) {
        for group in transaction.groups where group.kind != .insert {
            guard let root = layout.root(ofEntity: group.entity) else { continue }
            for (key, replaced) in zip(group.keys, group.replacedSequences) {
                for info in segments where last[info.segment] != transaction.sequence {
                    // The segment that the row was written in, or, if that is gone, any that it may have been moved to.
                    let isHome = info.previousSequence < replaced && replaced <= info.lastSequence
                    if isHome || info.mayHaveRow(root: root, key: key) { last[info.segment] = transaction.sequence }
                }
            }
        }
    }
}
