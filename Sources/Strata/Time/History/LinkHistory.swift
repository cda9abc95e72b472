import StrataLog

/// What the transactions of a store's history changed of relationships that are kept as links. Belongs to one thread.
///
/// It remembers what compaction has moved, so that a long history is read in time by its length.
final class LinkHistory {
    private let map: StoreMap
    private let log: LogStore
    private var snapshot: Snapshot
    private var movedRows: MovedRowFinder

    init(_ map: StoreMap, _ log: LogStore) {
        (self.map, self.log, snapshot) = (map, log, log.snapshot)
        movedRows = MovedRowFinder(snapshot: snapshot)
    }

    /// The relationships that a transaction changed by links coming, going or moving, of the objects at their ends.
    func changed(by entry: HistoryTransaction) throws(StoreError) -> [ObjectRef: Set<NSPropertyDescription>] {
        if entry.sequence > snapshot.sequence {
            snapshot = log.snapshot
            movedRows = MovedRowFinder(snapshot: snapshot)
        }
        var linked: [ObjectRef: Set<NSPropertyDescription>] = [:]
        for group in entry.groups {
            guard let ends = LinkEnds(map, group.entity) else { continue }
            var refs: [UInt64: [ObjectRef]] = [:]
            for (index, key) in group.keys.enumerated() {
                let sequence = group.kind == .delete ? group.replacedSequences[index] : entry.sequence
                refs[sequence, default: []].append(ObjectRef(entity: group.entity, key: key))
            }
            func add(_ row: Row) throws(StoreError) {
                for side in 0...1 {
                    guard let end = try ends.end(row, side) else { continue }
                    linked[end.ref, default: []].insert(end.relationship.description)
                }
            }
            var finder = RowFinder(snapshot: snapshot)
            var moved: [ObjectRef: UInt64] = [:]
            for (sequence, refs) in refs.sorted(by: { $0.key < $1.key }) {
                for ref in try finder.find(refs, of: sequence, add) {
                    // Compaction has moved it. Whatever else has become of a link since, its ends are the same.
                    if let row = try snapshot.row(ref) { try add(row) } else { moved[ref] = sequence }
                }
            }
            if !moved.isEmpty { _ = try movedRows.find(moved, add) }
        }
        return linked
    }
}
