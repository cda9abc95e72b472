internal import StrataSupport

/// Takes the new rows of one entity in one transaction, column by column.
///
/// Rows are begun, their slots set in any order (those not set are null), and ended; nothing is allocated per row.
/// Belongs to its ``WriteTransaction`` and shares its thread rule: one thread at a time.
public final class EntityWriter {
    /// Names a row so that ``WriteTransaction/location(of:)`` can tell where it went.
    public struct RowTicket: Hashable, Sendable {
        var job: UInt32
        var row: UInt32
    }

    /// An object whose row a transaction replaces or removes, and that row.
    struct Replacement {
        var key: UInt64
        var version: RowVersion
    }

    let entity: UInt16
    private let layout: WriterLayout
    unowned let transaction: WriteTransaction
    @exclusivity(unchecked) private var openBlocks: OpenBlocks
    @exclusivity(unchecked) private(set) var insertedKeys: [UInt64] = []
    @exclusivity(unchecked) private(set) var updated: [Replacement] = []
    /// By number of the update.
    @exclusivity(unchecked) private(set) var changedSlots = ChangedSlots()
    @exclusivity(unchecked) private(set) var deleted: [Replacement] = []
    /// Jobs that hold the values preserved of deleted objects, as indexes into the transaction's jobs: a list for
    /// each group of deletes in the change table.
    @exclusivity(unchecked) private(set) var tombstoneJobs: [[Int]] = []

    // The row that was begun, in a buffer that its open block retains: not counting references to it saves a retain and
    // release for each value set. A writer belongs to one thread and no access to its state calls out while it lasts:
    // the run-time checks for overlapping accesses are turned off here, where they cost more than the work.
    @exclusivity(unchecked) @usableFromInline var current: OpenRow?
    @exclusivity(unchecked) private var open: OpenBlock?
    @exclusivity(unchecked) private var currentKey: UInt64 = 0
    @exclusivity(unchecked) private var isInserting = false
    /// The job of the block of inserted rows while it is the one that was begun last, else -1: what every row of an
    /// import asks for, without references.
    @exclusivity(unchecked) private var insertJob = -1
    /// Nil when no relationship of the entity is listed from the other end.
    @exclusivity(unchecked) var postings: PostingsRowWriter?
    /// Nil when no constraint binds the entity's rows.
    @exclusivity(unchecked) private var unique: UniqueRowWriter?
    /// Nil when no ordered index has rows of the entity.
    private let ordered: OrderedRowWriter?
    @exclusivity(unchecked) private var lastReplaced: Block?

    init(_ layout: WriterLayout, transaction: WriteTransaction) {
        self.layout = layout
        entity = layout.layout.id
        self.transaction = transaction
        openBlocks = OpenBlocks(layout)
        postings = PostingsRowWriter(layout)
        unique = UniqueRowWriter(layout.layout.id, transaction.uniqueChanges)
        ordered = OrderedRowWriter(layout.layout.id, transaction.orderedChanges)
    }

    /// How many objects the transaction changes here.
    var changeCount: Int { insertedKeys.count + updated.count + deleted.count }

    /// The row that was begun, for values that need neither postings nor a place out of line.
    @inlinable
    public var row: OpenRow {
        guard let current else { Self.stopWithoutRow() }
        return current
    }

    @usableFromInline
    static func stopWithoutRow() -> Never {
        programmerError("EntityWriter", "no row was begun", "Begin a row before setting its values")
    }

    /// Begins a row for a new object. `key` comes from ``LogStore/allocateKeys(root:count:)``.
    public func beginInsert(key: UInt64) {
        if insertJob >= 0, let current {
            currentKey = key
            current.begin(key: key)
        } else {
            let block = openBlocks.insertedOrNew()
            begin(block, key: key)
            insertJob = block.job ?? -1
        }
        insertedKeys.append(reservingOne: key)
        isInserting = true
        unique?.beginInsert()
        ordered?.beginInsert()
    }

    /// Begins the whole new row of an object, in place of the row that was read as `replacing`.
    ///
    /// ```swift
    /// let update = store.makeTransaction()
    /// let changed = update.writer(for: 1)
    /// try changed.beginUpdate(key: key, replacing: row.version, changed: SlotSet([1]))
    /// changed.set(0, "The Dispossessed")
    /// changed.set(1, Int64(387))
    /// changed.endRow()
    /// _ = try store.commit(update)
    /// ```
    ///
    /// - Parameters:
    ///   - key: the object's primary key.
    ///   - replacing: the version of the row that was read; the commit throws `.conflict` if it is not the newest then.
    ///   - changed: the slots whose values differ: they enter the history, and only their postings are changed.
    /// - Throws: `.io` or `.corruption` when the replaced row has to be read (a relationship changes) and cannot be;
    ///   nothing was begun.
    public func beginUpdate(key: UInt64, replacing: RowVersion, changed: SlotSet) throws(StoreError) {
        try postings?.beginUpdate(changed: changed) { () throws(StoreError) in try replacedRow(key, replacing) }
        try unique?.beginUpdate(key, changed: changed, reading: transaction.source) { () throws(StoreError) in
            try replacedRow(key, replacing)
        }
        if let ordered, ordered.begin(changing: changed), let row = try replacedRow(key, replacing) {
            try ordered.giveUp(row, ObjectRef(entity: entity, key: key), reading: transaction.source)
        }
        begin(openBlocks.updatedOrNew(), key: key)
        updated.append(reservingOne: Replacement(key: key, version: replacing))
        changedSlots.append(changed)
        isInserting = false
    }

    /// Hands over the block of the row that is going to be replaced or deleted next, so that it need not be looked up.
    package func willReplace(rowOf block: Block) { lastReplaced = block }

    private func begin(_ block: OpenBlock, key: UInt64) {
        if open !== block {
            open = block
            current = block.buffer.row
        }
        if block.job == nil {
            block.job = transaction.addJob(role: block.role, entity: entity)
        }
        currentKey = key
        insertJob = -1
        block.buffer.beginRow(key: key)
    }

    /// Rows that are replaced or deleted mostly come in the order in which they lie. Nil for a row that is gone: then
    /// the commit will be a conflict.
    private func replacedRow(_ key: UInt64, _ version: RowVersion) throws(StoreError) -> Row? {
        if let lastReplaced, lastReplaced.location == version.location.block {
            return Row(block: lastReplaced, index: version.location.row)
        }
        guard let row = try transaction.row(ObjectRef(entity: entity, key: key), at: version) else { return nil }
        lastReplaced = row.block
        return row
    }

    /// Ends the open row, which becomes part of the transaction.
    ///
    /// - Returns: what ``WriteTransaction`` tells the row's place by once it is committed.
    /// - Precondition: a row is being written.
    @discardableResult
    public func endRow() -> RowTicket {
        let ref = ObjectRef(entity: entity, key: currentKey)
        if isInserting {
            postings?.endInsert(ref, in: transaction)
        } else {
            postings?.endUpdate(ref, changed: changedSlots.last, in: transaction)
        }
        unique?.take(row.memory.pointee, currentKey, in: transaction)
        ordered?.take(row.memory.pointee, ref, in: transaction)
        if insertJob >= 0, let current {
            let ticket = RowTicket(job: UInt32(insertJob), row: UInt32(current.rowCount))
            current.end()
            if current.shouldCut, let open { cut(open) }
            return ticket
        }
        guard let open else { Self.stopWithoutRow() }
        let ticket = RowTicket(job: UInt32(open.job ?? 0), row: UInt32(open.buffer.rowCount))
        open.buffer.endRow()
        if open.buffer.shouldCut { cut(open) }
        return ticket
    }

    /// Records a deletion; see ``WriteTransaction/delete(_:replacing:)``.
    public func delete(key: UInt64, replacing: RowVersion) throws(StoreError) {
        if postings != nil || !layout.preservedSlots.isEmpty {
            var index: Int? = replacing.location.row
            if lastReplaced?.location != replacing.location.block { index = try replacedRow(key, replacing)?.index }
            if let row = index, let block = lastReplaced {
                try postings?.delete(ObjectRef(entity: entity, key: key), row, of: block, in: transaction)
                if !layout.preservedSlots.isEmpty { try preserve(Row(block: block, index: row), key: key) }
            }
        }
        if unique != nil { try unique?.delete(key, replacedRow(key, replacing), reading: transaction.source) }
        if let ordered, ordered.begin(changing: nil), let row = try replacedRow(key, replacing) {
            try ordered.giveUp(row, ObjectRef(entity: entity, key: key), reading: transaction.source)
        }
        deleted.append(reservingOne: Replacement(key: key, version: replacing))
        // Rows of preserved values are parallel to the keys of their group.
        if deleted.count % TransactionBody.groupMaximumCount == 0, let open = openBlocks.tombstones { cut(open) }
    }

    /// See ``WriteTransaction/reserve(deletions:of:)``.
    func reserve(deletions count: Int) {
        deleted.reserveCapacity(deleted.count + count)
        postings?.reserve(deletions: count, in: transaction)
    }

    private func preserve(_ row: Row, key: UInt64) throws(StoreError) {
        // Columns are decoded first, so that an error leaves no half-made row behind.
        for slot in layout.preservedSlots where slot < row.block.slotCount { _ = try row.block.column(slot) }
        let tombstones = openBlocks.tombstonesOrNew()
        if tombstones.job == nil {
            let job = transaction.addJob(role: .tombstone, entity: entity)
            tombstones.job = job
            let group = deleted.count / TransactionBody.groupMaximumCount
            while tombstoneJobs.count <= group { tombstoneJobs.append([]) }
            tombstoneJobs[group].append(job)
        }
        tombstones.buffer.beginRow(key: key)
        for slot in layout.preservedSlots where slot < row.block.slotCount {
            // Values of their own: the history may outlive the segment that the object's values lie in.
            try copy(slot, from: row, slot: slot, to: tombstones.buffer.row, mayRefer: false)
        }
        tombstones.buffer.endRow()
        if tombstones.buffer.shouldCut { cut(tombstones) }
    }

    /// A key that was inserted, updated or deleted more than once; nil in a transaction that is right.
    ///
    /// - Complexity: O(n) for keys in ascending order, O(n log n) otherwise.
    var firstRepeatedKey: UInt64? {
        let count = changeCount
        // Mostly of a transaction that changes one object.
        if count <= 1 { return nil }
        func isAscending(_ key: (Int) -> UInt64) -> Bool {
            for index in 1..<count where key(index - 1) >= key(index) { return false }
            return true
        }
        let isInOrder =
            switch count {
            case insertedKeys.count: isAscending { insertedKeys[$0] }
            case updated.count: isAscending { updated[$0].key }
            case deleted.count: isAscending { deleted[$0].key }
            default: false
            }
        if isInOrder { return nil }
        let sorted = (insertedKeys + updated.map(\.key) + deleted.map(\.key)).sorted()
        return zip(sorted, sorted.dropFirst()).first { $0 == $1 }?.0
    }

    private func cut(_ block: OpenBlock, isLast: Bool = false) {
        guard let job = block.job else { return }
        transaction.submit(job: job, isLast ? block.buffer.takeLast() : block.buffer.take())
        block.job = nil
        insertJob = -1
    }

    /// Hands on the blocks that are not full: no more rows follow.
    func finish() {
        if let block = openBlocks.inserted { cut(block, isLast: true) }
        if let block = openBlocks.updated { cut(block, isLast: true) }
        if let block = openBlocks.tombstones { cut(block, isLast: true) }
    }
}
