import StrataLog

/// What the transactions of a store's history changed of relationships that are kept as links. Belongs to one thread.
///
/// It remembers what compaction has moved and which links later transactions delete, so that a long history is read in
/// time by its length.
package final class LinkHistory {
    private let map: StoreMap
    private let log: LogStore
    private let versions: SlotVersions
    private var snapshot: Snapshot
    private var movedRows: MovedRowFinder
    private var deletions: LaterDeletions
    /// The transaction asked for last.
    private var last: UInt64 = 0

    package init(_ map: StoreMap, _ log: LogStore) {
        (self.map, self.log, snapshot) = (map, log, log.snapshot)
        versions = SlotVersions(log)
        movedRows = MovedRowFinder(snapshot: snapshot)
        deletions = LaterDeletions(map, versions, snapshot)
    }

    /// The relationships that a transaction changed by links coming, going or moving, of the objects at their ends.
    package func changed(by entry: HistoryTransaction) throws(StoreError) -> [ObjectRef: Set<NSPropertyDescription>] {
        if entry.sequence > snapshot.sequence {
            snapshot = log.snapshot
            movedRows = MovedRowFinder(snapshot: snapshot)
            deletions = LaterDeletions(map, versions, snapshot)
        } else if entry.sequence < last {
            deletions = LaterDeletions(map, versions, snapshot)
        }
        last = entry.sequence
        var linked: [ObjectRef: Set<NSPropertyDescription>] = [:]
        for group in entry.groups {
            guard let ends = LinkEnds(map, group.entity) else { continue }
            try forEachLink(of: group, in: entry.sequence) { refs in
                for side in 0...1 {
                    guard let end = ends.end(refs[side], side) else { continue }
                    linked[end.ref, default: []].insert(end.relationship.description)
                }
            }
        }
        return linked
    }

    /// Tells what the links of a group refer to. Whatever else becomes of a link, its ends are the same.
    private func forEachLink(
        of group: ChangeGroup, in sequence: UInt64, _ body: (LinkRefs) -> Void
    ) throws(StoreError) {
        // By the transactions that wrote their rows.
        var links: [UInt64: [ObjectRef]] = [:]
        var preserved = PreservedLinks(group, versions)
        for (index, key) in group.keys.enumerated() {
            let ref = ObjectRef(entity: group.entity, key: key)
            guard group.kind == .delete else {
                links[sequence, default: []].append(ref)
                continue
            }
            deletions.forget(ref)
            if let refs = try preserved.next() {
                body(refs)
            } else {
                links[group.replacedSequences[index], default: []].append(ref)
            }
        }
        func tell(_ row: Row) throws(StoreError) {
            if let refs = try LinkEnds.refs(row) { body(refs) }
        }
        var finder = RowFinder(snapshot: snapshot)
        var moved: [ObjectRef: UInt64] = [:]
        for (sequence, refs) in links.sorted(by: { $0.key < $1.key }) {
            for ref in try finder.find(refs, of: sequence, tell) {
                // Compaction has moved or removed it.
                if let row = try snapshot.row(ref) { try tell(row) } else { moved[ref] = sequence }
            }
        }
        guard !moved.isEmpty else { return }
        let gone = try movedRows.find(moved, tell)
        if group.kind != .delete, !gone.isEmpty { try deletions.find(gone.keys, after: sequence, body) }
    }
}
