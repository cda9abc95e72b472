import StrataLog

/// What links referred to that later transactions have deleted: compaction removes their rows, the history goes on
/// naming their ends. Belongs to one thread.
struct LaterDeletions {
    private let map: StoreMap
    private let versions: SlotVersions
    private let snapshot: Snapshot
    /// Goes on behind what is known.
    private var reader: HistoryReader?
    private var known: [ObjectRef: LinkRefs] = [:]

    init(_ map: StoreMap, _ versions: SlotVersions, _ snapshot: Snapshot) {
        (self.map, self.versions, self.snapshot) = (map, versions, snapshot)
    }

    /// Tells the ends of links by their deletions, as far as the history has them.
    ///
    /// - Parameters:
    ///   - wanted: links that were there after a transaction.
    ///   - sequence: the transaction; not below that of an earlier call.
    /// - Complexity: reads the change tables behind the transaction up to the deletions, once for all calls.
    mutating func find(
        _ wanted: some Sequence<ObjectRef>, after sequence: UInt64, _ body: (LinkRefs) -> Void
    ) throws(StoreError) {
        var missing = Set(wanted)
        for ref in missing {
            guard let refs = known[ref] else { continue }
            body(refs)
            missing.remove(ref)
        }
        if reader == nil, !missing.isEmpty { reader = try HistoryReader(snapshot: snapshot, after: sequence) }
        while !missing.isEmpty, let entry = try reader?.next() {
            for group in entry.groups where group.kind == .delete && map.linkIndex(group.entity) != nil {
                var preserved = PreservedLinks(group, versions)
                for key in group.keys {
                    guard let refs = try preserved.next() else { continue }
                    let ref = ObjectRef(entity: group.entity, key: key)
                    known[ref] = refs
                    if missing.remove(ref) != nil { body(refs) }
                }
            }
        }
    }

    /// A deletion has been come to: no earlier transaction is asked for.
    mutating func forget(_ ref: ObjectRef) {
        if !known.isEmpty { known[ref] = nil }
    }
}
