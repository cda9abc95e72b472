internal import StrataRuntime
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

    /// What a relationship's slot refers to, where it is listed from the other end.
    private struct Reference {
        /// Nil until something changes.
        var list: PostingsAccumulator?
        /// What the row being replaced refers to; null where that stays.
        var replaced = ObjectRef.null
        /// What the row being written refers to.
        var new = ObjectRef.null
    }

    let entity: UInt16
    private let layout: WriterLayout
    private unowned let transaction: WriteTransaction
    /// Blocks that rows are being added to, by role; made when they are first needed, since a small transaction needs
    /// one of them.
    @exclusivity(unchecked) private var openBlocks: (inserted: OpenBlock?, updated: OpenBlock?, tombstones: OpenBlock?)
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
    /// Parallel to the layout's posting slots.
    @exclusivity(unchecked) private var references: [Reference] = []
    /// The constraints that bind the entity's rows.
    private let constraints: [Int]
    /// Nil when no ordered index has rows of the entity.
    private let ordered: OrderedRowWriter?
    /// Whether the row being written may have other values than before, as far as constraints go.
    @exclusivity(unchecked) private var changesUnique = false
    @exclusivity(unchecked) private var lastReplaced: Block?
    @exclusivity(unchecked) private var changedConstraints: [Int] = []
    @usableFromInline let keepsPostings: Bool

    init(_ layout: WriterLayout, transaction: WriteTransaction) {
        self.layout = layout
        entity = layout.layout.id
        self.transaction = transaction
        constraints = transaction.uniqueChanges?.rules.constraints(of: entity) ?? []
        ordered = transaction.orderedChanges.flatMap { [entity] in OrderedRowWriter(entity, $0) }
        keepsPostings = !layout.postingSlots.isEmpty
        if keepsPostings {
            for _ in layout.postingSlots { references.append(reservingOne: Reference()) }
        }
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

    private func makeBlock(_ role: TransactionBody.BlockRole) -> OpenBlock {
        OpenBlock(role: role, layout: layout.layout, schemaVersion: layout.schemaVersion)
    }

    private var inserts: OpenBlock {
        if let block = openBlocks.inserted { return block }
        let block = makeBlock(.inserted)
        openBlocks.inserted = block
        return block
    }

    private var updates: OpenBlock {
        if let block = openBlocks.updated { return block }
        let block = makeBlock(.updated)
        openBlocks.updated = block
        return block
    }

    private var tombstones: OpenBlock {
        if let block = openBlocks.tombstones { return block }
        let block = makeBlock(.tombstone)
        openBlocks.tombstones = block
        return block
    }

    /// Begins a row for a new object. `key` comes from ``LogStore/allocateKeys(root:count:)``.
    public func beginInsert(key: UInt64) {
        if insertJob >= 0, let current {
            currentKey = key
            current.begin(key: key)
        } else {
            let block = inserts
            begin(block, key: key)
            insertJob = block.job ?? -1
        }
        insertedKeys.append(reservingOne: key)
        isInserting = true
        changesUnique = !constraints.isEmpty
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
        if keepsPostings {
            try readReplacedTargets(key, replacing, changed: changed)
        }
        changesUnique = false
        changedConstraints = []
        if !constraints.isEmpty { try giveUpValues(key, replacing, changed: changed) }
        if let ordered, ordered.begin(changing: changed), let row = try replacedRow(key, replacing) {
            try ordered.giveUp(row, ObjectRef(entity: entity, key: key), reading: transaction.source)
        }
        begin(updates, key: key)
        updated.append(reservingOne: Replacement(key: key, version: replacing))
        changedSlots.append(changed)
        isInserting = false
    }

    /// Hands over the block of the row that is going to be replaced or deleted next, so that it need not be looked up.
    package func willReplace(rowOf block: Block) { lastReplaced = block }

    /// Notes the values that must be unique and that an update (or, without `changed`, a deletion) gives up.
    private func giveUpValues(_ key: UInt64, _ version: RowVersion, changed: SlotSet?) throws(StoreError) {
        guard let changes = transaction.uniqueChanges else { return }
        var row: Row?
        for constraint in constraints {
            let slots = changes.rules.constraints[constraint].slots
            if let changed, !slots.contains(where: { changed.contains($0) }) { continue }
            if row == nil { row = try replacedRow(key, version) }
            guard let row else { return }
            try changes.remove(
                constraint, ObjectRef(entity: entity, key: key), row, reading: transaction.source)
            changedConstraints.append(constraint)
            changesUnique = true
        }
    }

    /// Notes the values of the row being written that must be unique.
    private func takeValues() {
        changesUnique = false
        guard let changes = transaction.uniqueChanges else { return }
        let ref = ObjectRef(entity: entity, key: currentKey)
        for constraint in isInserting ? constraints : changedConstraints {
            changes.add(constraint, ref, openRow: row.memory.pointee, in: transaction)
        }
    }

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

    private func readReplacedTargets(
        _ key: UInt64, _ version: RowVersion, changed: SlotSet
    ) throws(StoreError) {
        var row: Row?
        for index in references.indices {
            references[index].replaced = .null
            let slot = layout.postingSlots[index].slot
            guard changed.contains(slot) else { continue }
            if row == nil { row = try replacedRow(key, version) }
            guard let row, slot < row.block.slotCount else { continue }
            let column = try row.block.column(slot)
            if !column.isNull(row.index) { references[index].replaced = column.reference(row.index) }
        }
    }

    /// Sets a slot of the open row.
    ///
    /// - Precondition: a row is being written, and the slot is a Bool.
    @inlinable
    public func set(_ slot: Int, _ value: Bool) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for 16-bit integers.
    @inlinable
    public func set(_ slot: Int, _ value: Int16) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for 32-bit integers.
    @inlinable
    public func set(_ slot: Int, _ value: Int32) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for 64-bit integers.
    @inlinable
    public func set(_ slot: Int, _ value: Int64) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for floats.
    @inlinable
    public func set(_ slot: Int, _ value: Float) { row.set(slot, value) }

    /// For doubles and dates (seconds since 2001-01-01).
    @inlinable
    public func set(_ slot: Int, _ value: Double) { row.set(slot, value) }

    /// As ``set(_:_:)-(Int,Bool)``, for UUIDs: 16 bytes as two words, the first eight bytes first, each as loaded from
    /// memory.
    @inlinable
    public func set(_ slot: Int, uuid value: (UInt64, UInt64)) { row.set(slot, uuid: value) }

    /// The null reference makes the slot null.
    public func set(_ slot: Int, _ value: ObjectRef) {
        if value.isNull {
            row.setNull(slot)
        } else {
            row.set(slot, value)
        }
        guard keepsPostings else { return }
        let index = layout.postingIndexes[slot]
        if index >= 0 { references[index].new = value }
    }

    /// UTF-8 of any length; over 64 KiB it is stored out of line.
    @inlinable
    public func set(_ slot: Int, _ value: String) {
        if row.fitsInline(value.utf8.count) {
            row.set(slot, value)
        } else {
            setLarge(slot, value)
        }
    }

    @usableFromInline
    func setLarge(_ slot: Int, _ value: String) {
        var value = value
        value.withUTF8 { set(slot, bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Bytes of any length up to 512 MiB; over 64 KiB they are stored out of line.
    public func set(_ slot: Int, bytes: UnsafeRawBufferPointer) {
        if row.fitsInline(bytes.count) {
            row.set(slot, bytes: bytes)
        } else {
            row.set(slot, external: transaction.addLargeValue(bytes))
        }
    }

    /// Copies a stored value; one stored out of line stays where it is.
    ///
    /// - Precondition: the slots are of the same kind.
    public func copy(_ slot: Int, from row: Row, slot source: Int) throws(StoreError) {
        if keepsPostings, layout.postingIndexes[slot] >= 0 {
            let column = try row.block.column(source)
            if !column.isNull(row.index) { set(slot, column.reference(row.index)) }
            return
        }
        try copy(slot, from: row, slot: source, to: self.row)
    }

    private func copy(
        _ slot: Int, from row: Row, slot source: Int, to target: OpenRow, mayRefer: Bool = true
    ) throws(StoreError) {
        let column = try row.block.column(source)
        if column.kind.fixedWidth == 0, !column.isNull(row.index), column.isExternal(row.index) {
            let value = column.external(row.index)
            if !mayRefer || !transaction.source.isDurable(value) || !transaction.hold(value.segment) {
                // A failed flush could still move the value (or has done so), and a reference to it would be left
                // behind; or compaction is about to move it. So it is copied.
                try transaction.source.read(value).withBytes { bytes throws(StoreError) in
                    target.set(slot, external: transaction.addLargeValue(bytes))
                }
                return
            }
        }
        target.copy(slot, from: column, row: row.index)
    }

    /// Ends the open row, which becomes part of the transaction.
    ///
    /// - Returns: what ``WriteTransaction`` tells the row's place by once it is committed.
    /// - Precondition: a row is being written.
    @discardableResult
    public func endRow() -> RowTicket {
        if keepsPostings { changePostings() }
        if changesUnique { takeValues() }
        if let ordered {
            ordered.take(row.memory.pointee, ObjectRef(entity: entity, key: currentKey), in: transaction)
        }
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

    /// Notes what the row's final values change in the relationships' other direction.
    private func changePostings() {
        let referrer = ObjectRef(entity: entity, key: currentKey)
        for index in references.indices {
            let (old, new) = (references[index].replaced, references[index].new)
            references[index].new = .null
            if isInserting {
                if new.isNull { continue }
                // SAFETY: the writer holds the list.
                list(index).withBorrowed { $0.inserted.append(PostingChange(target: new, referrer: referrer)) }
                continue
            }
            guard old != new, changedSlots.last.contains(layout.postingSlots[index].slot) else { continue }
            // SAFETY: as above.
            list(index).withBorrowed { list in
                if !new.isNull { list.others.append(PostingChange(target: new, referrer: referrer)) }
                if !old.isNull { list.others.append(PostingChange(target: old, referrer: referrer, isRemoval: true)) }
            }
        }
    }

    /// Where changes of a posting slot are gathered, without counting references to it.
    @inline(__always)
    private func list(_ index: Int) -> Unmanaged<PostingsAccumulator> {
        if let list = references[index].list { return .passUnretained(list) }
        let list = transaction.accumulator(for: layout.postingSlots[index].postingsID)
        references[index].list = list
        return .passUnretained(list)
    }

    /// Records a deletion; see ``WriteTransaction/delete(_:replacing:)``.
    public func delete(key: UInt64, replacing: RowVersion) throws(StoreError) {
        if keepsPostings || !layout.preservedSlots.isEmpty {
            var index: Int? = replacing.location.row
            if lastReplaced?.location != replacing.location.block { index = try replacedRow(key, replacing)?.index }
            if let row = index, let block = lastReplaced {
                let referrer = ObjectRef(entity: entity, key: key)
                for index in references.indices where layout.postingSlots[index].slot < block.slotCount {
                    let column = try block.column(layout.postingSlots[index].slot)
                    if column.isNull(row) { continue }
                    // SAFETY: the writer holds the list.
                    list(index).withBorrowed {
                        $0.others.append(
                            PostingChange(target: column.reference(row), referrer: referrer, isRemoval: true))
                    }
                }
                if !layout.preservedSlots.isEmpty { try preserve(Row(block: block, index: row), key: key) }
            }
        }
        if !constraints.isEmpty {
            try giveUpValues(key, replacing, changed: nil)
            changesUnique = false
        }
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
        for index in references.indices {
            // SAFETY: the writer holds the list.
            list(index).withBorrowed { $0.others.reserveCapacity($0.others.count + count) }
        }
    }

    private func preserve(_ row: Row, key: UInt64) throws(StoreError) {
        // Columns are decoded first, so that an error leaves no half-made row behind.
        for slot in layout.preservedSlots where slot < row.block.slotCount { _ = try row.block.column(slot) }
        let tombstones = tombstones
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

/// A block that rows are being added to.
private final class OpenBlock {
    let role: TransactionBody.BlockRole
    let buffer: RowBuffer
    /// Index of the job that will encode it; nil while it has no rows.
    @exclusivity(unchecked) var job: Int?

    init(role: TransactionBody.BlockRole, layout: EntityLayout, schemaVersion: UInt16) {
        self.role = role
        buffer = RowBuffer(layout: layout, schemaVersion: schemaVersion)
    }
}

/// Relationship changes under one postings number. Those of inserted rows can be read from their blocks; the others
/// are written down.
final class PostingsAccumulator {
    let postingsID: UInt16
    @exclusivity(unchecked) var inserted: [PostingChange] = []
    @exclusivity(unchecked) var others: [PostingChange] = []

    init(postingsID: UInt16) {
        self.postingsID = postingsID
    }
}
