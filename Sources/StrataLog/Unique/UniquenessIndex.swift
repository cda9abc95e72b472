/// Finds the object that has given values, for every constraint of a store, and refuses transactions that would make
/// two.
///
/// What is stored an ordered index over the constraint's slots knows, which is in the checkpoint and needs no memory of
/// its own; a table of hashes holds what transactions of the group being committed add. Where there is no such index,
/// or not yet, since it is being built, the table holds the values of all rows: a scan of their columns makes it when
/// the first transaction touches the constraint, and it is dropped when the index is there. It belongs to the thread
/// that commits.
final class UniquenessIndex {
    private let rules: UniqueRules
    private var tables: [Box?]
    /// Admitted, but not yet in the snapshot that commits are based on.
    private var pending: [UniqueChanges] = []
    /// Where the store's ordered indexes have those of the constraints.
    private var indexPositions: (rules: OrderedRules, positions: [Int?])
    /// Ordered indexes that could not be read.
    private var unreadable: [OrderedIndex.Lineage] = []
    private let key = OrderedBatch()

    private final class Box {
        var table: UniqueTable
        /// Whether it has the values of stored rows, too.
        let isWhole: Bool

        init(minimumCapacity: Int, isWhole: Bool) {
            table = UniqueTable(minimumCapacity: minimumCapacity)
            self.isWhole = isWhole
        }
    }

    init(_ rules: UniqueRules) {
        self.rules = rules
        tables = rules.constraints.map { _ in nil }
        indexPositions = (.none, tables.map { _ in nil })
    }

    /// Bytes that the tables take.
    var memoryByteCount: Int { tables.reduce(0) { $0 + ($1?.table.memoryByteCount ?? 0) } }

    /// Takes a transaction's changes in, to follow those admitted before; unless it has conflicts, and then nothing
    /// changes.
    ///
    /// - Parameter base: the state before the transactions that are pending.
    /// - Complexity: O(n log m) for n rows of the transaction and m of the store. Without an ordered index O(n), and
    ///   O(m) the first time for a constraint.
    func admit(_ changes: UniqueChanges, over base: Snapshot) throws(StoreError) -> [UniqueConflict] {
        let constraints = changes.constraints
        while true {
            let count = changes.added.count / max(constraints.count, 1)
            for constraint in constraints { try prepare(constraint, count, base) }
            let unreadableCount = unreadable.count
            do throws(StoreError) {
                return try admitPrepared(changes, base)
            } catch {
                // A damaged index is no reason not to save: the rows themselves say what is in the way.
                if unreadable.count == unreadableCount { throw error }
            }
        }
    }

    private func admitPrepared(_ changes: UniqueChanges, _ base: Snapshot) throws(StoreError) -> [UniqueConflict] {
        for entry in changes.removed {
            if let box = tables[entry.constraint], box.isWhole { box.table.remove(entry.hash, entry.ref) }
        }
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
        for (constraint, box) in tables.enumerated() {
            if let box, !box.isWhole { tables[constraint] = nil }
        }
    }

    private func revert(_ changes: UniqueChanges) {
        for (index, entry) in changes.added.enumerated() where entry.isAdmitted {
            tables[entry.constraint]?.table.remove(entry.hash, entry.ref)
            changes.setAdmitted(index, false)
        }
        for entry in changes.removed {
            if let box = tables[entry.constraint], box.isWhole { box.table.insert(entry.hash, entry.ref) }
        }
    }

    // MARK: Finding

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
        if other == nil, !box.isWhole, let index = index(of: entry.constraint, base) {
            do throws(StoreError) {
                other = try storedHolder(of: entry, in: changes, index, base)
            } catch {
                unreadable.append(index.lineage)
                throw error
            }
        }
        return other.map { ($0, true) } ?? own.map { ($0, false) }
    }

    /// The object that has an entry's values in the store and keeps them.
    private func storedHolder(
        of entry: UniqueChanges.Entry, in changes: UniqueChanges, _ index: OrderedIndex, _ base: Snapshot
    ) throws(StoreError) -> ObjectRef? {
        let values = changes.values(entry)
        let isWhole = values.withUnsafeBytes { UniqueKey.makeOrdered($0, index.definition.elements, in: key) }
        var holder: ObjectRef?
        try index.forEach(prefix: key.pendingBytes) { candidate throws(StoreError) in
            if candidate == entry.ref || changes.givesUp(entry.constraint, candidate) { return true }
            for earlier in pending where earlier.givesUp(entry.constraint, candidate) { return true }
            if !isWhole, try self.values(entry.constraint, of: candidate, over: base) != values { return true }
            holder = candidate
            return false
        }
        return holder
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

    // MARK: Where to look

    /// The ordered index that knows what is stored; nil when there is none that can be read.
    private func index(of constraint: Int, _ base: Snapshot) -> OrderedIndex? {
        if indexPositions.rules !== base.ordered.rules {
            let definitions = base.ordered.rules.definitions
            indexPositions = (
                base.ordered.rules,
                rules.constraints.map { constraint in definitions.firstIndex { constraint.isServed(by: $0) } }
            )
        }
        guard let position = indexPositions.positions[constraint] else { return nil }
        let index = base.ordered.list[position]
        return index.isReady && !unreadable.contains { $0 === index.lineage } ? index : nil
    }

    /// Makes the table that belongs to the way in which stored values are found.
    ///
    /// - Parameter count: about how many values are to be added.
    private func prepare(_ constraint: Int, _ count: Int, _ base: Snapshot) throws(StoreError) {
        if index(of: constraint, base) != nil {
            // A table of all rows may hold what is pending; it goes when there is nothing.
            if tables[constraint] == nil || pending.isEmpty && tables[constraint]?.isWhole == true {
                tables[constraint] = Box(minimumCapacity: count, isWhole: false)
            }
            return
        }
        if tables[constraint]?.isWhole == true { return }
        let box = try build(constraint, from: base)
        for changes in pending {
            for entry in changes.removed where entry.constraint == constraint {
                box.table.remove(entry.hash, entry.ref)
            }
            for entry in changes.added where entry.constraint == constraint { box.table.insert(entry.hash, entry.ref) }
        }
        tables[constraint] = box
    }

    private func build(_ index: Int, from base: Snapshot) throws(StoreError) -> Box {
        let constraint = rules.constraints[index]
        let box = Box(
            minimumCapacity: constraint.entities.reduce(0) { $0 + base.count(entity: $1) }, isWhole: true)
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

extension UniqueConstraint {
    /// Whether an ordered index has every row that the constraint binds, by the constraint's values.
    fileprivate func isServed(by definition: OrderedIndexDefinition) -> Bool {
        definition.root == root && definition.filter == nil && definition.elements.map(\.slot) == slots
            && definition.entities == entities.sorted()
    }
}
