internal import StrataSupport
internal import Synchronization

/// Changes gathered for one atomic commit.
///
/// Made by ``LogStore/makeTransaction()``, filled by one thread at a time, used for one
/// ``LogStore/commit(_:ticket:)``. Full blocks are encoded on another core while it is being filled.
public final class WriteTransaction {
    /// Names a row that was written.
    public typealias RowTicket = EntityWriter.RowTicket

    /// Who made the changes, for the history.
    @exclusivity(unchecked) public var author: String?
    /// Name of the context that made the changes, for the history.
    @exclusivity(unchecked) public var contextName: String?

    /// Called once by the thread that commits, when all rows are encoded and the other core is free again, before the
    /// commit waits for anything.
    @exclusivity(unchecked) public var whenEncoded: (() -> Void)?

    /// What keeps others' commits waiting for this one.
    @exclusivity(unchecked) public var hold: CommitHold?

    // It belongs to one thread, and no access to its state calls out: the run-time checks for overlapping accesses are
    // turned off.
    let source: BlockSource
    private let schema: WriterSchema
    @exclusivity(unchecked) private(set) var writers: [EntityWriter] = []
    @exclusivity(unchecked) private(set) var jobs: [EncodingJob] = []
    /// The rows of so many blocks enter the cache when they are committed.
    private static let keptBlocksMaximum = 64
    @exclusivity(unchecked) private(set) var accumulators: [PostingsAccumulator] = []
    @exclusivity(unchecked) private(set) var largeValues: [(bytes: [UInt8], rawByteCount: Int)] = []
    /// Nil as long as there is nothing to be encoded elsewhere.
    @exclusivity(unchecked) private var pool: EncodingPool?
    /// Nil when the store has no constraints.
    let uniqueChanges: UniqueChanges?
    /// Nil when the store has no ordered indexes.
    let orderedChanges: OrderedChanges?
    /// Rows that must still be there when the transaction is committed, though it leaves them alone.
    @exclusivity(unchecked) private(set) var required: [(ref: ObjectRef, version: RowVersion)] = []
    /// Objects that must exist when the transaction is committed, whatever their rows are.
    @exclusivity(unchecked) private(set) var referenced: [ObjectRef] = []
    @exclusivity(unchecked) private(set) var conflictKeys: Set<ConflictKey> = []
    /// The oldest snapshot that the keys go by.
    @exclusivity(unchecked) private(set) var basis: UInt64 = .max
    /// What may not be referred to when it is deleted.
    @exclusivity(unchecked) var referrerCheck = ReferrerCheck()
    @exclusivity(unchecked) var isSpent = false

    /// Segments whose large values the transaction's rows go on referring to.
    @exclusivity(unchecked) private var heldSegments: [UInt32] = []
    /// Nil once the transaction was committed: it may be held for longer than the store is.
    @exclusivity(unchecked) private var store: LogStore?

    init(
        source: BlockSource, schema: WriterSchema, uniqueRules: UniqueRules? = nil,
        orderedRules: OrderedRules = .none, store: LogStore
    ) {
        orderedChanges = orderedRules.isEmpty ? nil : OrderedChanges(orderedRules)
        self.source = source
        self.store = store
        self.schema = schema
        uniqueChanges = uniqueRules.map { UniqueChanges($0) }
    }

    deinit {
        source.references.release(heldSegments)
    }

    /// Committed or not, the transaction refers to nothing more.
    func releaseSegments() {
        source.references.release(heldSegments)
        heldSegments = []
        store = nil
    }

    /// Whether a row may refer to a value in a segment; otherwise it has to copy it.
    func hold(_ segment: UInt32) -> Bool {
        if heldSegments.last == segment { return true }
        guard source.references.hold(segment) else { return false }
        heldSegments.append(segment)
        return true
    }

    /// The row that was read as this version, wherever it is now; nil when it was replaced or deleted and is gone.
    func row(_ ref: ObjectRef, at version: RowVersion) throws(StoreError) -> Row? {
        guard let store else { return try source.row(at: version.location) }
        return try store.row(ref, at: version)
    }

    /// What the store shows now; nil once the transaction was committed.
    var currentSnapshot: Snapshot? { store?.snapshot }

    /// Whether nothing has been inserted, updated or deleted: there is nothing to commit then.
    public var isEmpty: Bool {
        for writer in writers where writer.changeCount > 0 { return false }
        return true
    }

    /// The writer for an entity's rows. Keep it while adding rows of that entity.
    ///
    /// - Precondition: the entity is in the newest schema.
    /// - Complexity: O(number of entities in the transaction).
    public func writer(for entity: UInt16) -> EntityWriter {
        for writer in writers where writer.entity == entity { return writer }
        guard let layout = schema.layout(of: entity) else {
            programmerError(
                "WriteTransaction", "entity \(entity) is not in the store's schema",
                "Open the store with a schema that has it")
        }
        let writer = EntityWriter(layout, transaction: self)
        writers.append(reservingOne: writer)
        return writer
    }

    /// Records a deletion of the object whose row was read as `replacing`.
    ///
    /// - Throws: `.io` or `.corruption` when the row's relationships or preserved values cannot be read; the deletion
    ///   was not recorded.
    public func delete(_ ref: ObjectRef, replacing: RowVersion) throws(StoreError) {
        try writer(for: ref.entity).delete(key: ref.key, replacing: replacing)
    }

    /// Takes the memory for that many deletions of one entity's objects at once.
    public func reserve(deletions count: Int, of entity: UInt16) { writer(for: entity).reserve(deletions: count) }

    /// Makes the commit fail with a conflict if the object's row is no longer the one that was read, though the
    /// transaction does not write it.
    public func require(_ ref: ObjectRef, at version: RowVersion) {
        required.append((ref, version))
    }

    /// Makes the commit fail with a conflict if there is no such object any more.
    public func requireExistence(of ref: ObjectRef) {
        referenced.append(ref)
    }

    /// Makes the commit fail with a conflict that names no object if another commit has used the key since the snapshot
    /// with this sequence number. Any number of transactions may read what a key names; only one may change it.
    ///
    /// A transaction without changes is not checked.
    public func hold(_ key: ConflictKey, asOf sequence: UInt64) {
        conflictKeys.insert(key)
        basis = min(basis, sequence)
    }

    /// Where a row was written.
    ///
    /// - Precondition: the transaction was committed.
    public func location(of ticket: RowTicket) -> Location {
        let block = jobs[Int(ticket.job)].location
        guard !block.isAbsent else {
            programmerError("WriteTransaction", "the transaction was not committed", "Ask for places after the commit")
        }
        return Location(rawValue: block.rawValue | UInt64(ticket.row))
    }

    /// As ``location(of:)`` for many rows, which mostly come in runs of one block.
    ///
    /// - Precondition: the transaction was committed.
    /// - Complexity: O(n).
    public func locations(of tickets: ContiguousArray<RowTicket>) -> ContiguousArray<Location> {
        var locations = ContiguousArray<Location>()
        locations.reserveCapacity(tickets.count)
        var job: UInt32?
        var block = Location.absent
        for ticket in tickets {
            if ticket.job != job {
                job = ticket.job
                block = jobs[Int(ticket.job)].location
                guard !block.isAbsent else {
                    programmerError(
                        "WriteTransaction", "the transaction was not committed", "Ask for places after the commit")
                }
            }
            locations.append(Location(rawValue: block.rawValue | UInt64(ticket.row)))
        }
        return locations
    }

    func accumulator(for postingsID: UInt16) -> PostingsAccumulator {
        if let list = accumulators.first(where: { $0.postingsID == postingsID }) { return list }
        let list = PostingsAccumulator(postingsID: postingsID)
        accumulators.append(reservingOne: list)
        return list
    }

    func addJob(role: TransactionBody.BlockRole, entity: UInt16) -> Int {
        // Of a transaction that changes very much, most would be driven out of the cache by the rest.
        let keepsRows = role == .updated && jobs.count < Self.keptBlocksMaximum
        jobs.append(reservingOne: EncodingJob(role: role, entity: entity, keepsRows: keepsRows))
        return jobs.count - 1
    }

    /// Blocks of a transaction that is encoded without help where there is no processor free for that.
    private static let smallBlocksMaximum = 16

    /// Fewer rows than this, in few blocks, cost less to encode here than to hand over.
    private static let rowsHandedOver = 64
    private static let blocksOfFewRows = 4

    func submit(job index: Int, _ pending: PendingBlock) {
        let job = jobs[index]
        let isSmall = pending.rowCount < Self.rowsHandedOver && jobs.count <= Self.blocksOfFewRows
        let isAlone = jobs.count <= Self.smallBlocksMaximum && source.isCrowded.load(ordering: .relaxed)
        if isSmall || isAlone {
            job.encode(pending)
        } else {
            job.pending = pending
            let pool = pool ?? EncodingPool()
            self.pool = pool
            pool.submit(job)
        }
    }

    func addLargeValue(_ bytes: UnsafeRawBufferPointer) -> ExternalValue {
        // What is too long is refused with the transaction, and is not copied before that.
        let isTooLong = bytes.count > LargeValue.maximumByteCount
        largeValues.append((isTooLong ? [] : LargeValue.encode(bytes), bytes.count))
        return .pending(number: UInt32(largeValues.count - 1), byteCount: UInt64(bytes.count))
    }

    /// The bytes of a value that the transaction set aside or took over.
    func largeValue(_ value: ExternalValue) throws(StoreError) -> [UInt8] {
        guard let number = value.pendingNumber else { return try source.read(value) }
        return largeValues[Int(number)].bytes.withUnsafeBytes { LargeValue.decode($0) } ?? []
    }

    /// Puts new rows in the place of those in the cache that they replace, once they are committed.
    func keepRows(in cache: BlockCache, sequence: UInt64) {
        for job in jobs.prefix(Self.keptBlocksMaximum) {
            guard let layout = schema.layout(of: job.entity),
                let block = job.takeBlock(layout.shape, sequence: sequence, storeUUID: source.storeUUID)
            else { continue }
            cache.insert(block)
        }
    }

    /// Encodes what is left. Every job has its block when this returns.
    func finishEncoding() {
        for writer in writers { writer.finish() }
        pool?.finish()
        if let whenEncoded {
            self.whenEncoded = nil
            whenEncoded()
        }
    }
}
