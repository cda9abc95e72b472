internal import Dispatch
internal import StrataIO
internal import StrataSupport
internal import Synchronization
internal import SystemPackage

/// An append-only store of rows: the engine under the object graph.
///
/// Entities are numbers, properties are slots, rows are bytes. A commit appends one record to the log; with full
/// durability, commits that wait together share one flush. Readers hold a ``Snapshot`` and wait for nothing. Safe to
/// use from any thread.
///
/// ```swift
/// let store = try LogStore.open("/store", in: fileSystem, schema: schema)
/// let transaction = store.makeTransaction()
/// let books = transaction.writer(for: 1)
/// let key = try store.allocateKeys(root: 1, count: 1)
/// books.beginInsert(key: key)
/// books.set(0, "The Dispossessed")
/// books.set(1, Int64(341))
/// books.endRow()
/// let receipt = try store.commit(transaction)
/// ```
public final class LogStore: Sendable {
    let files: StoreFiles
    let source: BlockSource
    let options: LogOptions
    /// Nil for read-only stores and after ``close()``. Held while the disk works.
    let writer: Mutex<LogWriter?>
    let published: AdaptiveMutex<Snapshot>
    let state: AdaptiveMutex<SharedState>
    private let queue: CommitQueue
    let gate = CommitGate()
    /// The store itself, as events name it.
    let eventStores: [EventStore]
    let lock: (any File)?
    /// Held while a checkpoint is being written.
    let checkpointing = Mutex<Void>(())
    /// Held while segments are being compacted.
    let compacting = Mutex<Void>(())
    /// What is known of segments that the log has left; see ``SegmentInfo``.
    let segmentInfos = AdaptiveMutex<[UInt32: SegmentInfo]>([:])
    /// What ``LogRetention/rowsFloor`` keeps, as far as the history has been read for it.
    let replacedRows = AdaptiveMutex(ReplacedRows())
    /// Tells those who follow the store how far its log counts; nil where that cannot be told, and for readers.
    let announcer: TailPage?
    /// Where the log of a store that somebody else writes ends; nil for stores that are open for writing.
    let tail: LogTail?
    /// Held while the log is read on, of a store that somebody else writes.
    let following = Mutex(FollowState())
    private let quiet = StoreRest()
    /// What opening the store had to do: records replayed, a torn tail cut off, files that were left behind.
    public let recovery: RecoveryReport
    /// The rows and pages that could not be read since the store was opened.
    public var damage: DamagedLocations { source.damage }

    /// What many threads ask for and few change.
    struct SharedState {
        var storeState: StoreState
        /// Which one of the writer's it is, if it is one; see ``LogWriter/storeStateVersion``.
        var storeStateVersion: Int?
        /// Nil before the first transaction.
        private var knownWriterSchema: WriterSchema?
        var uniqueRules: UniqueRules?
        var orderedRules = OrderedRules.none
        var isBuildingIndexes = false
        /// Next primary key by root entity, beyond those only reserved.
        var nextKeys: NumberTable<UInt64> { didSet { keysVersion += 1 } }
        /// Counts the changes of ``nextKeys``.
        private(set) var keysVersion = 0
        var isClosed = false
        var isFlushScheduled = false
        var isCheckpointing = false
        var checkpoint: UInt32
        /// Where the newest checkpoint ends.
        var checkpointEnd: LogPosition
        /// The ordered indexes that were ready for it.
        var checkpointIndexes: [OrderedIndex.Lineage]
        /// Where the one before ends, which is kept beside it; nil when that is not known.
        var previousCheckpointEnd: LogPosition?
        var bytesSinceCheckpoint: Int
        var manifestNumber: UInt64
        var counters = LogWriter.Counters()
        var retention = LogRetention()
        var compactionSchedule = CompactionSchedule()
        /// Token of the last compaction that another process asked for, and that was begun.
        var askedCompaction: UInt64 = 0
        var freshRows: FreshRowSchedule

        init(_ opened: OpenedStore, options: LogOptions) {
            storeState = opened.storeState
            nextKeys = NumberTable()
            for range in opened.storeState.nextKeys { nextKeys[range.root] = range.next }
            orderedRules = opened.snapshot.ordered.rules
            checkpoint = opened.checkpoint
            checkpointEnd = opened.checkpointEnd
            checkpointIndexes = opened.snapshot.ordered.readyLineages
            bytesSinceCheckpoint = opened.report.replayedByteCount
            manifestNumber = opened.manifestNumber
            retention = options.retention
            freshRows = FreshRowSchedule(options, openedAt: opened.snapshot.sequence)
        }

        var newestSchema: NumberedSchema {
            storeState.schemas.last ?? NumberedSchema(version: 0, schema: Schema(entities: []))
        }

        /// What rows are written by in the newest schema.
        mutating func writerSchema() -> WriterSchema {
            if let known = knownWriterSchema, known.version == newestVersion { return known }
            let made = WriterSchema(newestSchema)
            knownWriterSchema = made
            return made
        }

        private var newestVersion: UInt16 {
            storeState.schemas.isEmpty ? 0 : storeState.schemas[storeState.schemas.count - 1].version
        }
    }

    init(_ opened: OpenedStore, options: LogOptions) {
        files = opened.files
        eventStores = [.at(opened.files.directory.string)]
        queue = CommitQueue(eventStores)
        source = opened.source
        self.options = options
        lock = opened.lock
        recovery = opened.report
        published = AdaptiveMutex(opened.snapshot)
        opened.source.pinSchema()
        state = AdaptiveMutex(SharedState(opened, options: options))
        isReadOnly = opened.segment == nil
        writer = Mutex(opened.makeWriter(options))
        tail = opened.tail
        announcer =
            isReadOnly
            ? nil : TailPage.begin(files, storeUUID: opened.source.storeUUID, at: opened.end.position)
        writer.withLock { [announcer] in $0?.tail = announcer }
        // What cannot be removed only takes space.
        for path in opened.leftovers { try? files.remove(path) }
        if !isReadOnly, options.checkpointsInBackground {
            quiet.store.set(self)
            MemoryBudget.shared.listen(quiet)
        }
    }

    /// The store's identity, drawn when it was created.
    public var storeUUID: StoreUUID { source.storeUUID }

    /// The newest schema: the shape of rows written from now on.
    public var schema: Schema { newestSchema.schema }

    /// The number of ``schema`` in this store; rows say under which they were written.
    public var schemaVersion: UInt16 { newestSchema.version }

    var newestSchema: NumberedSchema {
        state.withLock { $0.newestSchema }
    }

    /// The schema that blocks of this version were written with.
    public func schema(version: UInt16) -> Schema? {
        source.schema(version: version)
    }

    /// All schemas that the store has had, by version, the newest last.
    public var schemas: [(version: UInt16, schema: Schema)] {
        state.withLock { $0.storeState.schemas.map { ($0.version, $0.schema) } }
    }

    /// The slots that an entity's had in rows of a schema version, in the order of the newest; nil for those that are
    /// new. Nil if that version does not have the entity.
    ///
    /// - Throws: `.schemaMismatch` for a version that is newer than what the store is read by.
    public func slots(of entity: UInt16, inVersion version: UInt16) throws(StoreError) -> [Int?]? {
        guard let shape = try source.shape(version: version, entity: entity) else { return nil }
        return shape.plan.map { $0.sources.map { $0 < 0 ? nil : $0 } } ?? Array(0..<shape.layout.slots.count)
    }

    /// The object graph's own data about the store.
    public var metadata: [UInt8] { state.withLock { $0.storeState.metadata } }

    /// Whether a snapshot was made by this opening of the store.
    public func owns(_ snapshot: Snapshot) -> Bool { snapshot.source === source }

    /// The newest committed state. O(1).
    public var snapshot: Snapshot { published.withLock { $0 } }

    private let publications = Atomic<UInt64>(1)

    /// How many snapshots have been published: as long as it stays the same, so does what ``snapshot`` returns.
    public var publicationCount: UInt64 { publications.load(ordering: .acquiring) }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    func publish(_ snapshot: Snapshot) {
        source.transactionOffsets.recordEnd(snapshot.end, after: snapshot.sequence)
        published.withLock { $0 = snapshot }
        publications.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// Whether the store was opened for reading only.
    public let isReadOnly: Bool

    // MARK: Reading

    /// The block at a location, from the cache or the disk. A snapshot that shows the location has to be held
    /// meanwhile: compaction takes away what none shows.
    ///
    /// - Throws: `.io`, or `.corruption` with segment and offset.
    public func block(at location: Location) throws(StoreError) -> Block {
        try source.block(at: location)
    }

    /// The block at a location if it is in the cache.
    package func cachedBlock(at location: Location) -> Block? { source.cache.get(location.block) }

    /// For loops over many blocks, which would count references to what lies between here and the cache.
    package var blockCache: BlockCache { source.cache }

    /// Asks the processor for where ``cachedBlock(at:)`` looks.
    package func prefetchLocation(at location: Location) { source.cache.prefetchLocation(of: location) }

    /// Asks the processor for the beginning of the block at a location, if it is in the cache.
    package func prefetchBlock(at location: Location) { source.cache.prefetch(location) }

    /// As ``block(at:)``; says whether the block was in the cache.
    public func block(at location: Location, wasCached: inout Bool) throws(StoreError) -> Block {
        try source.block(at: location, wasCached: &wasCached)
    }

    /// The row at a place, whether it is still the newest of its object or not.
    ///
    /// - Throws: `.corruption` when there is none; `.io` when it cannot be read.
    public func row(at location: Location) throws(StoreError) -> Row {
        try source.row(at: location)
    }

    /// The row that was read as this version, wherever compaction has moved it; nil when it was replaced or deleted
    /// since and is gone.
    ///
    /// - Throws: `.io`, or `.corruption` with segment and offset.
    public func row(_ ref: ObjectRef, at version: RowVersion) throws(StoreError) -> Row? {
        do throws(StoreError) {
            return try source.row(at: version.location)
        } catch {
            guard source.epoch.compaction.holes.contains(version.location.segment) else { throw error }
            guard let row = try snapshot.row(ref), row.version.sequence == version.sequence else { return nil }
            return row
        }
    }

    /// The bytes of a value stored out of line. They are not cached.
    public func read(_ value: ExternalValue) throws(StoreError) -> [UInt8] {
        try source.read(value)
    }

    // MARK: Writing

    /// Reserves consecutive primary keys of a root entity and returns the first. A key is never handed out twice by
    /// this process, and never again at all once an object with it was committed.
    ///
    /// - Precondition: `count` is positive.
    /// - Throws: `.tooLarge` when fewer of the 2^48 keys are left, as a log may claim whatever its author wrote.
    public func allocateKeys(root: UInt16, count: Int) throws(StoreError) -> UInt64 {
        guard count > 0 else {
            programmerError("LogStore", "\(count) primary keys were asked for", "Ask for at least one")
        }
        let directory = files.directory
        return try state.withLock { state throws(StoreError) in
            let first = state.nextKeys[root] ?? 1
            let left = first < ObjectRef.maximumKey ? ObjectRef.maximumKey - first : 0
            guard UInt64(count) <= left else {
                throw StoreError(
                    .tooLarge,
                    "entity \(root) has \(left) of its 2^48 primary keys left, and new objects need \(count): copy what is "
                        + "needed into a new store",
                    path: directory.string)
            }
            state.nextKeys[root] = first + UInt64(count)
            return first
        }
    }

    /// The key that the next new object of a root entity would get.
    package func nextKey(root: UInt16) -> UInt64 { state.withLock { $0.nextKeys[root] ?? 1 } }

    /// Keeps the keys up to this one, which it includes, from being given to new objects of a root entity.
    package func reserveKeys(root: UInt16, through key: UInt64) {
        state.withLock { $0.nextKeys[root] = max($0.nextKeys[root] ?? 1, key + 1) }
    }

    /// A transaction to fill and ``commit(_:ticket:)``. Rows are written in the newest schema.
    public func makeTransaction() -> WriteTransaction {
        let (schema, unique, ordered) = state.withLock { state in
            (state.writerSchema(), state.uniqueRules, state.orderedRules)
        }
        return WriteTransaction(
            source: source, schema: schema, uniqueRules: unique, orderedRules: ordered, store: self)
    }

    /// From now on no commit may give two objects the same values in the slots of a constraint. Constraints are not
    /// stored: whoever opens the store says what they are. Objects that are alike already stay.
    ///
    /// Call it before the first ``makeTransaction()``.
    public func enforce(_ constraints: [UniqueConstraint]) {
        guard !constraints.isEmpty else { return }
        let rules = UniqueRules(constraints)
        writer.withLock { $0?.uniqueness = UniquenessIndex(rules) }
        state.withLock { $0.uniqueRules = rules }
    }

    /// Commits all of the transaction or nothing, as durably as the options say.
    ///
    /// Commits from several threads at once share a flush. An empty transaction is not written.
    ///
    /// ```swift
    /// let receipt = try store.commit(transaction)
    /// ```
    ///
    /// - Parameters:
    ///   - transaction: one that was not committed before, whether that succeeded or not.
    ///   - ticket: lets another thread take the commit back while it waits for other commits.
    /// - Throws: `.conflict` when rows are no longer those the transaction read; `.io` when the disk refused (nothing
    ///   became visible, the log ends where it did, and a later commit can succeed); `.readOnly` when the store cannot
    ///   be written any more until it is opened again (then the outcome is known only after that); `.tooLarge`;
    ///   `.closed`; `.cancelled` when the ticket was taken back before the commit's turn came.
    /// - Complexity: O(n) in the rows of the transaction, and one flush, which commits that wait together share.
    public func commit(
        _ transaction: WriteTransaction, ticket: CommitTicket? = nil
    ) throws(StoreError) -> CommitReceipt {
        guard !transaction.isSpent else {
            programmerError(
                "WriteTransaction", "the transaction was committed before", "Make a new one for each commit")
        }
        transaction.isSpent = true
        defer { transaction.releaseSegments() }
        if transaction.isEmpty {
            let snapshot = snapshot
            var stale: [ObjectRef] = []
            for (ref, version) in transaction.required where try snapshot.locate(ref) != version.location {
                // Compaction moves rows without changing them.
                if let row = try snapshot.row(ref), row.version.sequence == version.sequence { continue }
                stale.append(ref)
            }
            guard stale.isEmpty else {
                throw StoreError(
                    .conflict, "\(stale.count) objects were changed or deleted since they were read", conflicts: stale)
            }
            return CommitReceipt(
                sequence: snapshot.sequence, timestampNanoseconds: snapshot.timestampNanoseconds, snapshot: snapshot)
        }
        let began = ContinuousClock.now
        try transaction.checkReferrers()
        let prepared = try PreparedTransaction(transaction)
        try gate.pass(transaction.hold, ticket)
        // It has taken a while.
        try transaction.checkReferrers()
        let request = CommitRequest(prepared)
        queue.submit(request, ticket: ticket) { process($0) }
        ticket?.end()
        guard let result = request.result else { preconditionFailure("a commit was left without a result") }
        var receipt = try result.get()
        receipt.waited = request.waited
        transaction.keepRows(in: source.cache, sequence: receipt.sequence)
        // Before the commit may wait for compaction, which may wait for these.
        transaction.releaseSegments()
        afterCommit(request.prepared, began: began)
        return receipt
    }

    /// Whether a commit waits for the disk.
    public var flushesCommits: Bool { options.durability == .full }

    /// Whether the disk has failed so that nothing is written until the store is opened again. While something is being
    /// written it has not.
    package var refusesWrites: Bool { writer.withLockIfAvailable { $0?.failure != nil } ?? false }

    /// How many commits wait for others to be written.
    var waitingCommits: Int { queue.waitingCount }

    private func process(_ group: [CommitRequest]) {
        writer.withLock { writer in
            guard let writer else {
                let failure = refusal
                for request in group { request.result = .failure(failure) }
                return
            }
            let (keys, version) = state.withLock { state in
                (writer.keysVersion == state.keysVersion ? NumberTable() : state.nextKeys, state.keysVersion)
            }
            writer.raiseNextKeys(keys, version: version)
            var commit = GroupCommit(writer: writer, base: snapshot, durability: options.durability)
            commit.run(group) { snapshot in publish(snapshot) }
            recordProgress(of: writer)
        }
    }

    /// Why there is no writer.
    var refusal: StoreError {
        state.withLock { $0.isClosed }
            ? StoreError(.closed, "the store is closed", path: files.directory.string)
            : StoreError(.readOnly, "the store was opened read-only", path: files.directory.string)
    }

    /// Copies what the writer counted to where others can see it.
    func recordProgress(of writer: LogWriter) {
        state.withLock { state in
            let written = writer.counters.writtenBytes - state.counters.writtenBytes
            state.bytesSinceCheckpoint += written
            state.compactionSchedule.newByteCount += written
            state.counters = writer.counters
            if state.storeStateVersion != writer.storeStateVersion {
                state.storeState = writer.storeState
                state.storeStateVersion = writer.storeStateVersion
            }
        }
        // Whatever is written has been acknowledged, or is about to be, unless the writer has given up.
        if writer.failure == nil { announcer?.announce(writer.end.position) }
    }

    private func afterCommit(_ commit: PreparedTransaction, began: ContinuousClock.Instant) {
        if case .interval(let milliseconds) = options.durability { scheduleFlush(milliseconds) }
        MemoryBudget.shared.recordUse()
        mergeIfDue(after: commit)
        if options.compaction.isAutomatic {
            compactIfDue(after: commit, took: (ContinuousClock.now - began) / .nanoseconds(1))
        }
        compactIfAsked()
        let isDue = state.withLock { state in
            guard state.bytesSinceCheckpoint >= options.checkpointTailBytes, !state.isCheckpointing, !state.isClosed
            else { return false }
            state.isCheckpointing = true
            return true
        }
        guard isDue else { return }
        // On a thread of its own, since it waits for the disk; by itself where the system has none to give.
        let isElsewhere =
            options.checkpointsInBackground && PoolThread.start("strata.checkpoint") { [self] in runCheckpoint() }
        if !isElsewhere { runCheckpoint() }
    }

    /// Writes a checkpoint that has fallen due, or that there is time for. A failure costs nothing but the time a later
    /// opening takes, so it is only counted.
    func runCheckpoint(letsPagesGo: Bool = false) {
        defer { state.withLock { $0.isCheckpointing = false } }
        do {
            try writeCheckpoint(letsPagesGo: letsPagesGo)
        } catch {
            state.withLock { $0.bytesSinceCheckpoint = 0 }
        }
    }

    private func scheduleFlush(_ milliseconds: Int) {
        let isNeeded = state.withLock { state in
            defer { state.isFlushScheduled = true }
            return !state.isFlushScheduled
        }
        guard isNeeded else { return }
        DispatchQueue.global(qos: .userInitiated).asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
            [weak self] in
            // A store that is let go before flushes as it goes.
            guard let self else { return }
            state.withLock { $0.isFlushScheduled = false }
            // A failure is kept by the writer and thrown by the next commit.
            try? sync()
        }
    }

    /// Flushes: every commit that has returned is durable when this returns.
    public func sync() throws(StoreError) {
        try withWriter { writer throws(StoreError) in
            try GroupCommit.flush(writer, base: snapshot) { snapshot in publish(snapshot) }
        }
    }

    func withWriter<Result>(_ body: (LogWriter) throws(StoreError) -> Result) throws(StoreError) -> Result {
        try writer.withLock { writer throws(StoreError) in
            guard let writer else { throw refusal }
            defer { recordProgress(of: writer) }
            return try body(writer)
        }
    }

    /// Replaces the object graph's own data about the store; durable when it returns.
    public func setMetadata(_ bytes: [UInt8]) throws(StoreError) {
        try append(.metadata, body: bytes) { $0.metadata = bytes }
    }

    /// Appends a record that changes the store's state; durable when it returns.
    func append(
        _ kind: RecordHeader.Kind, body: [UInt8], updating update: (inout StoreState) -> Void
    ) throws(StoreError) {
        guard body.count <= LogWriter.stateMaximumByteCount else {
            throw StoreError(
                .tooLarge, "\(kind) of \(body.count) bytes: a store takes at most \(LogWriter.stateMaximumByteCount)",
                path: files.directory.string)
        }
        try withWriter { writer throws(StoreError) in
            let publish = { (snapshot: Snapshot) in self.publish(snapshot) }
            try writer.makeRoom(for: RecordImage.byteCount(body: body.count, pieces: 0))
            try GroupCommit.publishRelocated(writer, base: snapshot, publish: publish)
            try writer.append(kind, body: body, updating: update)
            try GroupCommit.publishRelocated(writer, base: snapshot, publish: publish)
        }
    }

    /// Writes a checkpoint: the next opening replays nothing that was committed before.
    public func checkpoint() throws(StoreError) {
        try writeCheckpoint()
    }

    /// Flushes, writes a checkpoint and gives the lock back. Snapshots go on reading; writes throw `.closed`.
    ///
    /// When the flush fails the store is closed all the same, and the error thrown. A checkpoint that cannot be
    /// written, on a full disk or because the store is not at its path any more, only makes the next opening take
    /// longer.
    public func close() throws(StoreError) {
        try finish()?.release()
    }

    /// As ``close()``, but keeps the lock: nobody can write the store, or replace or remove it, before the lock is
    /// released. For whoever puts another store in this one's place.
    ///
    /// - Returns: nil when the store was opened read-only or is closed already: then there is no lock.
    public func closeKeepingLock() throws(StoreError) -> StoreLock? {
        try finish()
    }

    private func finish() throws(StoreError) -> StoreLock? {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed, !isReadOnly else { return nil }
        MemoryBudget.shared.ignore(ObjectIdentifier(quiet))
        // A compaction ends with its next step: files must not be removed any more once another process has the store.
        compacting.withLock { _ in }
        do throws(StoreError) {
            try writeLastCheckpoint()
        } catch {
            try? lock?.close()
            throw error
        }
        return StoreLock(self)
    }

    deinit {
        quiet.store.clear()
        MemoryBudget.shared.ignore(ObjectIdentifier(quiet))
        // Without close() nothing is lost: opening again just replays more.
        writer.withLock { _ = try? $0?.flush() }
        try? lock?.close()
    }
}

/// The result of ``LogStore/commit(_:ticket:)``.
public struct CommitReceipt: Sendable {
    /// The transaction's number: one more than that before.
    public var sequence: UInt64
    /// When it was committed, in nanoseconds since 1970.
    public var timestampNanoseconds: Int64
    /// The store with the transaction in it (and perhaps others of the same group).
    public var snapshot: Snapshot
    /// For how long it waited for others, if that was measured.
    package internal(set) var waited = Duration.zero

    init(sequence: UInt64, timestampNanoseconds: Int64, snapshot: Snapshot) {
        self.sequence = sequence
        self.timestampNanoseconds = timestampNanoseconds
        self.snapshot = snapshot
    }
}
