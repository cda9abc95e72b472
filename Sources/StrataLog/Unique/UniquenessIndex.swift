/// Finds the object that has given values, for every constraint of a store, and refuses transactions that would make
/// two.
///
/// Hashes lead to objects, whose rows are read to compare the values. A constraint's table is built by a scan of its
/// columns when the first transaction touches it, and kept up to date by each commit after. It belongs to the thread
/// that commits.
final class UniquenessIndex {
    private let rules: UniqueRules
    private var tables: [Box?]
    /// Admitted, but not yet in the snapshot that commits are based on.
    private var pending: [UniqueChanges] = []

    private final class Box {
        var table: UniqueTable

        init(minimumCapacity: Int) {
            table = UniqueTable(minimumCapacity: minimumCapacity)
        }
    }

    init(_ rules: UniqueRules) {
        self.rules = rules
        tables = rules.constraints.map { _ in nil }
    }

    /// Takes a transaction's changes in, to follow those admitted before; unless it has conflicts, and then nothing
    /// changes.
    ///
    /// - Parameter base: the state before the transactions that are pending.
    /// - Complexity: O(n) in the rows of the transaction; the first time for a constraint, O(n) in those of the store.
    func admit(_ changes: UniqueChanges, over base: Snapshot) throws(StoreError) -> [UniqueConflict] {
        for entry in changes.added + changes.removed where tables[entry.constraint] == nil {
            tables[entry.constraint] = try build(entry.constraint, from: base)
        }
        for entry in changes.removed { tables[entry.constraint]?.table.remove(entry.hash, entry.ref) }
        var conflicts: [UniqueConflict] = []
        do throws(StoreError) {
            for index in changes.added.indices {
                if let holder = try holder(of: changes.added[index], in: changes, over: base) {
                    let entry = changes.added[index]
                    conflicts.append(
                        UniqueConflict(
                            constraint: entry.constraint, ref: entry.ref, holder: holder.ref,
                            isHolderStored: holder.isStored))
                } else {
                    tables[changes.added[index].constraint]?.table.insert(
                        changes.added[index].hash, changes.added[index].ref)
                    changes.setAdmitted(index, true)
                }
            }
        } catch {
            revert(changes)
            throw error
        }
        if conflicts.isEmpty { pending.append(changes) } else { revert(changes) }
        return conflicts
    }

    /// What was admitted has been committed, or will never be.
    func settle(isCommitted: Bool) {
        if !isCommitted { for changes in pending.reversed() { revert(changes) } }
        pending = []
    }

    private func revert(_ changes: UniqueChanges) {
        for (index, entry) in changes.added.enumerated() where entry.isAdmitted {
            tables[entry.constraint]?.table.remove(entry.hash, entry.ref)
            changes.setAdmitted(index, false)
        }
        for entry in changes.removed { tables[entry.constraint]?.table.insert(entry.hash, entry.ref) }
    }

    /// The object that has an entry's values; one in the store rather than one of the same transaction.
    private func holder(
        of entry: UniqueChanges.Entry, in changes: UniqueChanges, over base: Snapshot
    ) throws(StoreError) -> (ref: ObjectRef, isStored: Bool)? {
        guard let box = tables[entry.constraint] else { return nil }
        var own: ObjectRef?
        var other: ObjectRef?
        let values = changes.values(entry)
        try box.table.forEach(entry.hash) { candidate throws(StoreError) in
            if let position = changes.position(entry.constraint, candidate) {
                if own == nil, changes.values(changes.added[position]) == values { own = candidate }
                return true
            }
            guard try self.values(entry.constraint, of: candidate, over: base) == values else { return true }
            other = candidate
            return false
        }
        return other.map { ($0, true) } ?? own.map { ($0, false) }
    }

    private func values(
        _ constraint: Int, of ref: ObjectRef, over base: Snapshot
    ) throws(StoreError) -> ArraySlice<UInt8>? {
        for changes in pending.reversed() {
            if let position = changes.position(constraint, ref) { return changes.values(changes.added[position]) }
        }
        guard let row = try base.row(ref) else { return nil }
        var bytes: [UInt8] = []
        let slots = rules.constraints[constraint].slots
        return try UniqueKey.append(slots, of: row, reading: base.source, to: &bytes) ? bytes[...] : nil
    }

    private func build(_ index: Int, from base: Snapshot) throws(StoreError) -> Box {
        let constraint = rules.constraints[index]
        let box = Box(minimumCapacity: constraint.entities.reduce(0) { $0 + base.count(entity: $1) })
        let entities = Set(constraint.entities)
        var block: Block?
        var bytes: [UInt8] = []
        try base.forEachRun(root: constraint.root) { run throws(StoreError) in
            if block?.location != run.location.block { block = try base.source.block(at: run.location) }
            guard let block, entities.contains(block.entity) else { return true }
            for offset in 0..<run.count {
                let row = Row(block: block, index: run.location.row + offset)
                bytes.removeAll(keepingCapacity: true)
                guard try UniqueKey.append(constraint.slots, of: row, reading: base.source, to: &bytes) else {
                    continue
                }
                box.table.insert(bytes.withUnsafeBytes(UniqueKey.hash), row.ref)
            }
            return true
        }
        return box
    }
}
