internal import SystemPackage

/// An object that two states of a store have differently.
public struct RowDifference: Sendable {
    /// The object.
    public var ref: ObjectRef
    /// The row in the first state; nil when the object was not there.
    public var before: Row?
    /// The row in the second state; nil when the object is not there.
    public var after: Row?
}

/// Goes through the objects whose rows differ between two states of a store, in the order in which they first changed.
///
/// Reads the change tables between the two and nothing else but the rows themselves. An object comes where it was
/// changed first: that is an insertion, or the one change whose replaced row was not written after the earlier state.
/// So nothing is remembered of the objects that have come; memory is that of one transaction's change table.
public struct StoreDifference {
    /// The states that are compared.
    public let from: Snapshot
    /// The state that is called the second, or after; it may be the earlier one.
    public let to: Snapshot
    private let last: UInt64
    private let first: UInt64
    private var reader: HistoryReader
    private var rowsBefore: RowReader
    private var rowsAfter: RowReader
    private var groups: ArraySlice<ChangeGroup> = []
    private var index = 0

    init(from: Snapshot, to: Snapshot, _ reader: HistoryReader) {
        self.from = from
        self.to = to
        rowsBefore = RowReader(from)
        rowsAfter = RowReader(to)
        first = min(from.sequence, to.sequence)
        last = max(from.sequence, to.sequence)
        self.reader = reader
    }

    /// The next object; nil at the end. Rows that were written anew with the same values come, too.
    ///
    /// - Parameter mayGoOn: asked before each change that is looked at. After false, the next call goes on there.
    /// - Throws: `.cancelled` when `mayGoOn` was false; `.io` or `.corruption`.
    public mutating func next(while mayGoOn: () -> Bool = { true }) throws(StoreError) -> RowDifference? {
        while true {
            guard mayGoOn() else { throw StoreError(.cancelled, "going through the differences was stopped") }
            guard let group = groups.first else {
                guard first < last, let transaction = try reader.next(), transaction.sequence <= last else {
                    return nil
                }
                groups = transaction.groups[...]
                index = 0
                continue
            }
            guard index < group.keys.count else {
                groups.removeFirst()
                index = 0
                continue
            }
            defer { index += 1 }
            if group.kind != .insert, group.replacedSequences[index] > first { continue }
            let ref = ObjectRef(entity: group.entity, key: group.keys[index])
            let before = try rowsBefore.row(ref)
            let after = try rowsAfter.row(ref)
            if before == nil && after == nil { continue }
            return RowDifference(ref: ref, before: before, after: after)
        }
    }
}

extension LogStore {
    /// What differs between the store as it was after one transaction and after another.
    ///
    /// - Parameters:
    ///   - from: the transaction before; 0 for the empty store.
    ///   - to: the transaction after; may be the earlier one.
    /// - Throws: as ``snapshot(at:)``.
    /// - Complexity: opens both states; then reads the changes between them as they are asked for.
    public func difference(from: UInt64, to: UInt64) throws(StoreError) -> StoreDifference {
        try difference(from: try snapshot(at: from), to: try snapshot(at: to))
    }

    /// As ``difference(from:to:)-(UInt64,_)`` for states of this store that are there already.
    ///
    /// - Throws: `.expired` when the history does not go back to the earlier one any more; `.io`, `.corruption`.
    public func difference(from: Snapshot, to: Snapshot) throws(StoreError) -> StoreDifference {
        let later = from.sequence > to.sequence ? from : to
        let first = min(from.sequence, to.sequence)
        // What a state has kept may be gone from the newest, whose log is the better one otherwise.
        for base in [snapshot, later]
        where first >= base.epoch.compaction.historyFloor || from.sequence == to.sequence {
            return StoreDifference(from: from, to: to, try HistoryReader(snapshot: base, after: first))
        }
        throw StoreError(
            .expired,
            "the changes after transaction \(first) are no longer retained: the history begins behind transaction "
                + "\(later.epoch.compaction.historyFloor)", path: files.directory.string)
    }
}
