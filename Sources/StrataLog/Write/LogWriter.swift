internal import StrataIO
internal import StrataSupport
internal import SystemPackage

/// The writing end of the log: the open segment, what is durable, and what to do when the disk refuses.
///
/// Used by one thread at a time: ``LogStore`` keeps it in a mutex, which is held while the disk works. Readers never
/// wait for it.
final class LogWriter: @unchecked Sendable {
    // Unchecked: reached only through that mutex. No access to its state calls out.
    /// Room kept free in a segment of maximal length for what stands at its head.
    static let preambleReserveByteCount = 16 << 20
    /// Unflushed commits are kept in memory, to be written again if a flush fails; at this many bytes they are
    /// flushed whatever the durability.
    static let unsyncedMaximumByteCount = 64 << 20

    /// A record that a failed flush would lose.
    enum UnsyncedRecord {
        case transaction(TransactionRecord, sequence: UInt64, timestampNanoseconds: Int64)
        case plain(RecordHeader.Kind, body: [UInt8])
        case compaction(PreparedCompaction)
    }

    /// A record that has its place, and its bytes.
    struct PlacedRecord {
        let record: UnsyncedRecord
        let image: RecordImage
    }

    /// Where the log ends, in the terms that the next record needs.
    struct End {
        var position: LogPosition
        var sequence: UInt64
        var checksum: UInt32

        /// Before the first segment of a new store.
        static let start = End(position: LogPosition(segment: 0, offset: 0), sequence: 0, checksum: 0)
    }

    let files: StoreFiles
    /// What its events are about.
    private let eventStores: [EventStore]
    let source: BlockSource
    let options: LogOptions
    @exclusivity(unchecked) private(set) var end: End
    /// Everything before is flushed. Always in the current segment.
    @exclusivity(unchecked) private(set) var durable: End
    @exclusivity(unchecked) private(set) var storeState: StoreState { didSet { storeStateVersion += 1 } }
    /// Counts the changes of ``storeState``.
    @exclusivity(unchecked) private(set) var storeStateVersion = 0
    /// Why nothing can be written any more until the store is opened again.
    @exclusivity(unchecked) private(set) var failure: StoreError?
    @exclusivity(unchecked) private(set) var counters = Counters()
    /// What of the store's keys ``storeState`` has; see ``LogStore/SharedState/keysVersion``.
    @exclusivity(unchecked) private(set) var keysVersion = -1
    @exclusivity(unchecked) private(set) var unsynced: [UnsyncedRecord] = []
    @exclusivity(unchecked) private var unsyncedByteCount = 0
    @exclusivity(unchecked) private var segment: OpenSegment
    /// Length at which a segment is left, if that is less than the options say.
    @exclusivity(unchecked) var segmentLength = SegmentLength()
    /// Rows written to the current segment since the store was opened.
    @exclusivity(unchecked) private(set) var segmentRowCount = 0
    /// Where processes beside this one say that the store has been replaced.
    @exclusivity(unchecked) var tail: TailPage?
    /// Nil when the store has no constraints.
    @exclusivity(unchecked) var uniqueness: UniquenessIndex?
    @exclusivity(unchecked) var conflictKeys = ConflictKeys()
    /// The segment's end could not be put in order after a failed write: go on in a new one.
    @exclusivity(unchecked) private var mustLeaveSegment = false
    /// A flush of the segment failed: it must not be flushed again.
    private var hasFailedFlush = false
    /// The end of the current segment while nothing but its preamble is in it; nil when that is not known.
    private var segmentStart: LogPosition?

    struct Counters {
        var commits = 0
        var flushes = 0
        var writtenBytes = 0
        var segmentsCreated = 0
        var relocations = 0
    }

    /// Continues a log that recovery has brought in order.
    init(
        files: StoreFiles, source: BlockSource, options: LogOptions, segment: OpenSegment, end: End,
        storeState: StoreState
    ) {
        self.files = files
        eventStores = [.at(files.directory.string)]
        self.source = source
        self.options = options
        self.segment = segment
        self.end = end
        durable = end
        source.setDurable(end.position)
        self.storeState = storeState
    }

    // MARK: Segments

    /// Goes on in a new segment. The current one must be flushed up to `durable`; what lies behind does not count any
    /// more.
    private func startSegment() throws(StoreError) {
        var mayReappear = false
        defer {
            // A segment that was written but could not be flushed or removed may be there after a crash, and its
            // header says where this one ends: nothing may be added here. (Acknowledged commits that followed in the
            // old segment were lost that way.)
            if mayReappear { mustLeaveSegment = true }
        }
        let created = try OpenSegment.create(
            durable.position.segment + 1, after: durable, files: files, source: source, options: options,
            storeState: storeState, mayReappear: &mayReappear)
        mayReappear = false
        if durable.position == end.position {
            // Space reserved behind the end is given back; if that fails, only space is lost. (After a failed flush
            // the bytes behind stay: snapshots may still be reading them.)
            try? segment.cut(to: durable.position.offset)
        } else {
            source.abandon(behind: durable.position)
        }
        segmentLength.recordSegment(durable.position.offset)
        segment.move(to: created.segment)
        end = created.end
        durable = created.end
        source.setDurable(created.end.position)
        segmentStart = created.end.position
        segmentRowCount = 0
        mustLeaveSegment = false
        hasFailedFlush = false
        counters.segmentsCreated += 1
    }

    /// Leaves the current segment, so that it can be compacted; unless there is nothing in it.
    func leaveSegment() throws(StoreError) {
        if let failure { throw failure }
        try checkIsInPlace()
        try flush()
        if end.position != segmentStart { try startSegment() }
    }

    /// Makes sure that a record of this length can be written at `end`, in this segment or a new one.
    ///
    /// - Throws: `.io` with `ESTALE` when the store is no longer at its path; it may be there again for the next one.
    func makeRoom(for byteCount: Int) throws(StoreError) {
        if failure == nil, let tail, tail.isReplaced {
            failure = StoreError(
                .readOnly,
                "a shipper of this store says that another machine has taken its place: nothing is written until the store is "
                    + "opened again", path: files.directory.string)
        }
        if let failure { throw failure }
        try checkIsInPlace()
        if mustLeaveSegment || !fits(byteCount, at: end.position) {
            try flush()
            if mustLeaveSegment || !fits(byteCount, at: end.position) { try startSegment() }
            guard fits(byteCount, at: end.position) else {
                throw StoreError(
                    .tooLarge,
                    "a record of \(byteCount) bytes does not fit into a segment behind \(end.position.offset) bytes of preamble"
                )
            }
        }
    }

    /// What is acknowledged has to be found at the store's path. Where records are flushed it is also looked whether
    /// the segment is still the file that has the name, and as long as it was: a backup may have been put back over it.
    private func checkIsInPlace() throws(StoreError) {
        try io("write the store", files.directory) { () throws(Errno) in
            try files.checkIsInPlace()
            guard options.durability == .full, let identity = segment.identity, !files.fileSystem.isPrivate else {
                return
            }
            let found: FileAttributes?
            do throws(Errno) {
                found = try files.attributes(segment.path)
            } catch {
                return
            }
            guard let found, found.identity == identity, found.byteCount >= Int64(end.position.offset) else {
                throw .staleNFSFileHandle
            }
        }
    }

    /// Whether a record fits behind a position of the current segment. One that is longer than a whole segment fits
    /// into an empty one.
    func fits(_ byteCount: Int, at position: LogPosition) -> Bool {
        let limit = min(options.segmentMaximumBytes, segmentLength.minimumByteCount)
        if position.offset + byteCount <= limit { return true }
        if position.offset + byteCount <= segmentLimit { return true }
        return position == segmentStart && position.offset + byteCount <= Location.segmentMaximumBytes
    }

    /// Where the current segment is left.
    var segmentLimit: Int { min(options.segmentMaximumBytes, segmentLength.byteCount(files)) }

    // MARK: Writing

    /// Writes records that were placed at `end` and following. On an error the log ends where it did.
    func write(_ records: [PlacedRecord], newEnd: End) throws(StoreError) {
        let offset = end.position.offset
        let byteCount = newEnd.position.offset - offset
        do throws(StoreError) {
            try segment.reserve(
                to: newEnd.position.offset, minimum: options.preallocationMinimumBytes, limit: segmentLimit)
            try segment.write(
                records, at: offset, to: newEnd.position.offset, touchesAhead: options.durability == .full)
        } catch {
            rollBack()
            throw error
        }
        end = newEnd
        counters.writtenBytes += byteCount
        for placed in records { unsynced.append(placed.record) }
        unsyncedByteCount += byteCount
    }

    /// Lets the disk begin with what was written last, so that the commit which flushes it has less to wait for.
    func beginFlushing(_ byteCount: Int) {
        guard options.durability == .full else { return }
        segment.file.beginWriting(from: Int64(end.position.offset - byteCount), byteCount: Int64(byteCount))
    }

    /// After a failed write: takes away what may have been written behind the end, so that a later recovery cannot
    /// mistake it for a commit.
    private func rollBack() {
        // Where this fails the bytes may stay: then the next segment's header says that they do not count.
        do throws(Errno) {
            try segment.cut(to: end.position.offset)
        } catch {
            mustLeaveSegment = true
            return
        }
        do throws(Errno) {
            try segment.file.syncData()
            recordFlush()
        } catch {
            mustLeaveSegment = true
            hasFailedFlush = true
        }
    }

    private func recordFlush() {
        counters.flushes += 1
        durable = end
        source.setDurable(end.position)
        unsynced = []
        unsyncedByteCount = 0
    }

    /// Whether enough is unflushed that waiting longer would cost too much memory.
    var mustFlushSoon: Bool { unsyncedByteCount >= Self.unsyncedMaximumByteCount }

    /// Makes everything written durable. After a failed flush the unflushed records are written again, from memory,
    /// into a new segment (never flushed again where they were: the page cache may claim what the disk does not have).
    ///
    /// - Returns: whether the records had to be written again, so that their rows now lie elsewhere.
    @discardableResult
    func flush() throws(StoreError) -> Bool {
        if let failure { throw failure }
        guard durable.position != end.position else { return false }
        guard EventHub.wants(.flush) else { return try flushNow() }
        let (records, bytes, began) = (unsynced.count, unsyncedByteCount, EventInstant.now)
        do throws(StoreError) {
            let isWrittenAgain = try flushNow()
            EventHub.tell(
                FlushEvent(work: StoreWork(stores: eventStores, since: began), records: records, bytes: bytes))
            return isWrittenAgain
        } catch {
            let work = StoreWork(stores: eventStores, since: began, error: error)
            EventHub.tell(FlushEvent(work: work, records: records, bytes: bytes))
            throw error
        }
    }

    private func flushNow() throws(StoreError) -> Bool {
        do throws(Errno) {
            if hasFailedFlush { throw .ioError }
            try segment.file.syncData()
            recordFlush()
            return false
        } catch {
            do throws(StoreError) {
                try relocate()
                return true
            } catch let second {
                let failure = StoreError(
                    .readOnly,
                    "a flush failed (\(error)) and so did writing the log on in a new segment: \(second). "
                        + "The store refuses writes until it is opened again; the outcome of the commits in flight is unknown until then",
                    errno: error, path: segment.path.string)
                self.failure = failure
                throw failure
            }
        }
    }

    /// Writes the unflushed records again in a new segment and flushes it.
    private func relocate() throws(StoreError) {
        let records = unsynced
        let total = unsyncedByteCount
        try startSegment()
        guard end.position.offset + total <= Location.segmentMaximumBytes else {
            throw StoreError(.tooLarge, "\(total) unflushed bytes do not fit into one segment")
        }
        var placed: [PlacedRecord] = []
        var next = end
        for record in records {
            placed.append(place(record, at: &next))
        }
        unsynced = []
        unsyncedByteCount = 0
        try write(placed, newEnd: next)
        try io("flush", segment.path) { () throws(Errno) in try segment.file.syncData() }
        recordFlush()
        counters.relocations += 1
        relocated += records
    }

    /// Records that the last failed flush moved, for the store to correct its index.
    @exclusivity(unchecked) private(set) var relocated: [UnsyncedRecord] = []

    func takeRelocated() -> [UnsyncedRecord] {
        defer { relocated = [] }
        return relocated
    }

    /// Places a record at `next` and moves that behind it.
    func place(_ record: UnsyncedRecord, at next: inout End) -> PlacedRecord {
        var placement = RecordPlacement(
            storeUUID: source.storeUUID, position: next.position, sequence: next.sequence, timestampNanoseconds: 0,
            previousChecksum: next.checksum, durable: durable.position)
        let image: RecordImage
        switch record {
        case .transaction(let transaction, let sequence, let timestamp):
            placement.sequence = sequence
            placement.timestampNanoseconds = timestamp
            image = transaction.place(placement)
            next.sequence = sequence
        case .compaction(let compaction):
            placement.timestampNanoseconds = options.clock()
            image = compaction.place(placement)
        case .plain(let kind, let body):
            placement.timestampNanoseconds = options.clock()
            image = RecordImage.plain(kind, body: body, placement: placement)
        }
        next.position.offset += image.bytes.count
        next.checksum = image.checksum
        return PlacedRecord(record: record, image: image)
    }

    func countCommits(_ count: Int, rows: Int) {
        counters.commits += count
        segmentRowCount += rows
    }

    func countRelocated(rows: Int) {
        segmentRowCount += rows
    }

    func refuse(_ failure: StoreError) {
        self.failure = failure
    }

    // MARK: The store's state

    /// Records where archived transactions are, in place of where they were before a failed flush.
    func recordArchive(of compaction: PreparedCompaction) {
        guard let archive = compaction.archive else { return }
        if let replaced = compaction.replacedPosition { storeState.compaction.removeArchive(at: replaced) }
        storeState.compaction.add(archive)
    }

    /// Takes over which keys are free, as far as they have changed.
    func raiseNextKeys(_ keys: NumberTable<UInt64>, version: Int) {
        keysVersion = version
        for (root, next) in zip(keys.numbers, keys.values) {
            storeState.raiseNextKey(root: UInt16(root), to: min(next, ObjectRef.maximumKey))
        }
    }

    /// Metadata and schemas are repeated at the head of each segment and so may not be longer than this.
    static let stateMaximumByteCount = 4 << 20

    /// Appends a record that changes the store's state and makes it durable.
    ///
    /// - Precondition: there is room for it, see ``makeRoom(for:)``.
    func append(
        _ kind: RecordHeader.Kind, body: [UInt8], updating update: (inout StoreState) -> Void
    ) throws(StoreError) {
        var next = end
        let record = UnsyncedRecord.plain(kind, body: body)
        let placed = place(record, at: &next)
        try write([placed], newEnd: next)
        try flush()
        update(&storeState)
    }

    /// Before the store is closed: leaves a segment whose end could not be put in order, as its header alone would
    /// not say where it ends.
    func putEndInOrder() throws(StoreError) {
        if failure == nil, mustLeaveSegment { try startSegment() }
    }

    /// Gives back the space reserved behind the end.
    func trim() {
        try? segment.cut(to: end.position.offset)
    }
}
