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
    /// How many references to each object the transaction takes away, by the relationship's postings. Counted once:
    /// what is deleted is looked up again wherever others have changed the postings.
    private var removals: [UInt16: Removals] = [:]

    private struct Removals {
        var counts: [ObjectRef: Int] = [:]
        /// How many changes have been counted: the transaction may get others.
        var changes = 0
    }

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
        for rule in rules {
            guard let writer = transaction.writers.first(where: { $0.entity == rule.entity }) else { continue }
            for id in rule.postings {
                guard let list = current[id] else { continue }
                seen[id] = list
                if settled[id] === list { continue }
                for deleted in writer.deleted {
                    let target = ObjectRef(entity: rule.entity, key: deleted.key)
                    let count = try list.count(of: target)
                    if count > 0, count > removed(target, id, by: transaction) { referred.append(target) }
                }
            }
        }
        if referred.isEmpty { settled.merge(seen) { $1 } }
        return referred
    }

    /// Whether postings have changed since nothing was found in them that refers to what is deleted.
    func isBehind(_ current: NumberTable<Postings>) -> Bool {
        rules.contains { rule in
            rule.postings.contains { id in current[id].map { settled[id] !== $0 } ?? false }
        }
    }

    /// How many references to an object the transaction takes away.
    private mutating func removed(_ target: ObjectRef, _ id: UInt16, by transaction: WriteTransaction) -> Int {
        guard let list = transaction.accumulators.first(where: { $0.postingsID == id }) else { return 0 }
        if removals[id]?.changes != list.others.count {
            var new = Removals(changes: list.others.count)
            for change in list.others where change.isRemoval { new.counts[change.target, default: 0] += 1 }
            removals[id] = new
        }
        return removals[id]?.counts[target] ?? 0
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

    /// How often the referrers are looked for before the commit waits for its turn. Each time takes less, and leaves
    /// less time for others to change something, than the first one.
    private static let maximumChecks = 4

    /// Looks now for what ``requireUnreferred(deleted:by:asOf:)`` has asked for, again while others change what it
    /// looks at. The commit looks at what has been changed by then, and holds others up meanwhile.
    ///
    /// - Throws: `.conflict` with the objects, and those of which others have changed the rows; `.io` or `.corruption`.
    public func checkReferrers() throws(StoreError) {
        if referrerCheck.isEmpty { return }
        for _ in 0..<Self.maximumChecks {
            guard let snapshot = currentSnapshot, referrerCheck.isBehind(snapshot.postings) else { return }
            if try referrerCheck.referred(of: self, in: snapshot.postings).isEmpty { continue }
            var edit = SnapshotEdit(base: snapshot)
            let conflicts = try edit.conflicts(of: self)
            if !conflicts.isEmpty { throw Self.conflict(conflicts) }
        }
    }

    static func conflict(_ refs: [ObjectRef]) -> StoreError {
        StoreError(
            .conflict, "\(refs.count) objects were changed, deleted or referred to since they were read",
            conflicts: refs)
    }
}
