internal import StrataSupport

/// Finds the objects that a transaction deletes although rows refer to them that it leaves alone: others have committed
/// these since whoever filled the transaction looked.
struct ReferrerCheck {
    /// The relationships that lead to objects of an entity.
    private struct Rule {
        var entity: UInt16
        var postings: [UInt16]
    }

    private var rules: [Rule] = []
    /// The versions of postings in which nothing refers to what is deleted.
    private var settled: [UInt16: Postings] = [:]

    var isEmpty: Bool { rules.isEmpty }

    /// - Parameter snapshot: where all that refers to the objects was found; nil when it has yet to be looked for.
    mutating func add(_ postings: () -> [UInt16], to entity: UInt16, asOf snapshot: Snapshot?) {
        if rules.contains(where: { $0.entity == entity }) { return }
        let postings = postings()
        if postings.isEmpty { return }
        rules.append(Rule(entity: entity, postings: postings))
        guard let snapshot else { return }
        for id in postings where settled[id] == nil { settled[id] = snapshot.postings[id] }
    }

    /// The deleted objects that are referred to, looked for where the postings are others than the last time.
    ///
    /// - Complexity: O(log n) for each deleted object and relationship; reads no rows.
    mutating func referred(
        of transaction: WriteTransaction, in current: NumberTable<Postings>
    ) throws(StoreError) -> [ObjectRef] {
        var referred: [ObjectRef] = []
        var seen: [UInt16: Postings] = [:]
        var removals: [UInt16: [ObjectRef: Int]] = [:]
        for rule in rules {
            guard let writer = transaction.writers.first(where: { $0.entity == rule.entity }) else { continue }
            for id in rule.postings {
                guard let list = current[id] else { continue }
                seen[id] = list
                if settled[id] === list { continue }
                for deleted in writer.deleted {
                    let target = ObjectRef(entity: rule.entity, key: deleted.key)
                    let count = try list.count(of: target)
                    if count == 0 { continue }
                    let removed = removals[id] ?? Self.removals(id, in: transaction)
                    removals[id] = removed
                    if count > removed[target, default: 0] { referred.append(target) }
                }
            }
        }
        if referred.isEmpty { settled.merge(seen) { $1 } }
        return referred
    }

    /// How many references to each object the transaction takes away.
    private static func removals(_ id: UInt16, in transaction: WriteTransaction) -> [ObjectRef: Int] {
        var removals: [ObjectRef: Int] = [:]
        for list in transaction.accumulators where list.postingsID == id {
            for change in list.others where change.isRemoval { removals[change.target, default: 0] += 1 }
        }
        return removals
    }
}

extension WriteTransaction {
    /// Makes the commit fail with a conflict that names those deleted objects of an entity to which rows refer that the
    /// transaction neither deletes nor makes refer to something else.
    ///
    /// - Parameters:
    ///   - entity: the number of the deleted objects' entity; only the first call for it counts.
    ///   - postings: the numbers of the relationships by which nothing may refer to them; not asked for when they are
    ///     known.
    ///   - snapshot: where whoever fills the transaction has found all that refers to them; nil when that was elsewhere
    ///     or at different times.
    public func requireUnreferred(
        deleted entity: UInt16, by postings: @autoclosure () -> [UInt16], asOf snapshot: Snapshot? = nil
    ) {
        referrerCheck.add(postings, to: entity, asOf: snapshot)
    }

    /// Looks now for what ``requireUnreferred(deleted:by:asOf:)`` has asked for. The commit looks again at what has
    /// been changed by then; it is to hold others up as little as possible.
    ///
    /// - Throws: `.conflict` with the objects, and those of which others have changed the rows; `.io` or `.corruption`.
    public func checkReferrers() throws(StoreError) {
        guard !referrerCheck.isEmpty, let snapshot = currentSnapshot else { return }
        if try referrerCheck.referred(of: self, in: snapshot.postings).isEmpty { return }
        var edit = SnapshotEdit(base: snapshot)
        let conflicts = try edit.conflicts(of: self)
        if !conflicts.isEmpty { throw Self.conflict(conflicts) }
    }

    static func conflict(_ refs: [ObjectRef]) -> StoreError {
        StoreError(
            .conflict, "\(refs.count) objects were changed, deleted or referred to since they were read",
            conflicts: refs)
    }
}
