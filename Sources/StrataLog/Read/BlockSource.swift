internal import StrataIO
internal import StrataSupport
internal import Synchronization
internal import SystemPackage

/// Where rows are read from: the open segment files behind the cache of decoded blocks.
///
/// Kept by the store and by every snapshot, so that a snapshot goes on reading after the store was closed.
final class BlockSource: MemoryHolder {
    /// What is read at least: enough for the whole of a small block, and for the header of a large one.
    private static let firstReadByteCount = 4096

    let files: StoreFiles
    let storeUUID: StoreUUID
    let cache: BlockCache
    /// Nil when the cache is small.
    private let memory: BlockMemory?
    let segments: SegmentFiles
    /// What may be read now; see ``SegmentEpoch``.
    private let currentEpoch: AdaptiveMutex<SegmentEpoch>
    let references = SegmentReferences()
    /// What could not be read.
    let damage = DamagedLocations()
    /// Whether a compaction has the processor that would help to encode transactions.
    let isCrowded = Atomic<Bool>(false)
    private let schemas = AdaptiveMutex(SchemaVersions())
    private let durable = Atomic<UInt64>(0)
    /// What to read at first, going by the last block that was longer: the next is mostly about as long, and one
    /// system call does.
    private let expectedByteCount = Atomic<Int>(firstReadByteCount)
    /// Where transactions lie.
    let transactionOffsets = TransactionOffsets()
    /// By when they were committed.
    let transactionTimes = TransactionTimes()
    /// Where the valid bytes end of segments that a failed flush made the log leave.
    private let abandoned = AdaptiveMutex(NumberTable<Int>())

    /// What the cache shares with those of other stores.
    private let budget: MemoryBudget
    private let notedLookUps = Atomic<UInt64>(0)

    convenience init(
        files: StoreFiles, storeUUID: StoreUUID, cacheMaximumBytes: Int, budget: MemoryBudget = .shared
    ) {
        let segments = SegmentFiles()
        self.init(
            files: files, storeUUID: storeUUID, cacheMaximumBytes: cacheMaximumBytes, budget: budget,
            segments: segments, epoch: SegmentEpoch(compaction: CompactionState(), files: segments))
    }

    private init(
        files: StoreFiles, storeUUID: StoreUUID, cacheMaximumBytes: Int, budget: MemoryBudget, segments: SegmentFiles,
        epoch: SegmentEpoch
    ) {
        self.files = files
        self.storeUUID = storeUUID
        self.budget = budget
        cache = BlockCache(budgetBytes: cacheMaximumBytes, sharing: budget)
        memory = BlockMemory(budgetBytes: cacheMaximumBytes)
        self.segments = segments
        currentEpoch = AdaptiveMutex(epoch)
        budget.register(self)
    }

    /// Another source of the same rows, which shows them as an earlier schema version had them.
    ///
    /// - Parameter epoch: what it may read, and keeps.
    func showing(version: UInt16, in epoch: SegmentEpoch, cacheMaximumBytes: Int) -> BlockSource {
        let past = BlockSource(
            files: files, storeUUID: storeUUID, cacheMaximumBytes: cacheMaximumBytes, budget: budget,
            segments: segments, epoch: epoch)
        past.schemas.withLock { past in
            _ = past.set(schemas.withLock { $0.list })
            past.pin(at: version)
        }
        past.abandoned.withLock { past in past = abandoned.withLock { $0 } }
        return past
    }

    deinit {
        budget.unregister(ObjectIdentifier(self), heldBytes: cache.heldBytes)
    }

    /// Keeps everything readable that is now, as long as it is held. O(1).
    var epoch: SegmentEpoch { currentEpoch.withLock { $0 } }

    /// Goes on with what reading the log has told: the epoch in which the log is so.
    func enterEpoch(_ compaction: CompactionState) -> SegmentEpoch {
        currentEpoch.withLock { epoch in
            let before = epoch.compaction
            guard before != compaction else { return epoch }
            let retired = segments.open.filter { compaction.holes.contains($0) && !before.holes.contains($0) }
            epoch = epoch.end(retiring: retired, compaction: compaction)
            transactionOffsets.forget(retired)
            return epoch
        }
    }

    /// Ends the epoch: snapshots made from now on do not keep these segments.
    func retire(_ retired: [UInt32], compaction: CompactionState) {
        currentEpoch.withLock { $0 = $0.end(retiring: retired, compaction: compaction) }
        transactionOffsets.forget(retired)
    }

    /// Adds to the schemas that are known. As long as the store is being opened, rows are read as the newest has them.
    func setSchemas(_ new: [NumberedSchema]) {
        if schemas.withLock({ $0.set(new) }) { cache.removeAll() }
    }

    /// From now on rows are read as the newest schema has them, until this is called again.
    func pinSchema() {
        if schemas.withLock({ $0.pin() }) { cache.removeAll() }
    }

    func schema(version: UInt16) -> Schema? {
        schemas.withLock { $0.schema(version: version) }
    }

    /// How blocks of a schema version and entity are shown; see ``SchemaVersions/shape(version:entity:)``.
    func shape(version: UInt16, entity: UInt16) throws(StoreError) -> BlockShape? {
        try schemas.withLock { schemas throws(StoreError) in try schemas.shape(version: version, entity: entity) }
    }

    /// How the rows of an entity that a version wrote are shown; nil where they are as they were.
    func plan(version: UInt16, entity: UInt16) throws(StoreError) -> LiftPlan? {
        try shape(version: version, entity: entity)?.plan
    }

    /// Called by the writer after each flush.
    func setDurable(_ position: LogPosition) {
        durable.store(UInt64(position.segment) << 32 | UInt64(position.offset), ordering: .releasing)
    }

    /// Whether everything up to a value stored out of line has been flushed: then its place is final.
    func isDurable(_ value: ExternalValue) -> Bool {
        guard UInt64(value.segment) << 32 | UInt64(value.byteOffset) < durable.load(ordering: .acquiring) else {
            return false
        }
        return abandoned.withLock { $0[value.segment] }.map { Int(value.byteOffset) < $0 } ?? true
    }

    /// Called by the writer when what lies behind a position of a segment is given up.
    func abandon(behind position: LogPosition) {
        abandoned.withLock { $0[position.segment] = position.offset }
        transactionOffsets.forget(behind: position)
        transactionTimes.forget()
    }

    /// Whether a place lies behind the valid bytes of a segment that a failed flush made the log leave.
    func isAbandoned(_ block: Location) -> Bool {
        abandoned.withLock { $0[block.segment] }.map { block.byteOffset >= $0 } ?? false
    }

    func register(_ file: any File, segment: UInt32) {
        segments.set(file, segment: segment)
    }

    /// The open file of a segment, opened on first use.
    func file(segment: UInt32) throws(StoreError) -> any File {
        if let file = segments[segment] { return file }
        let path = files.segment(segment)
        let opened = try io("open", path) { () throws(Errno) in try files.open(path, .read) }
        // Whoever still goes by a place in a segment that is being removed must not keep its space.
        if epoch.compaction.holes.contains(segment) { return opened }
        return segments.insert(opened, segment: segment)
    }

    /// Opens segments, so that they can be read even when their names go. Where the process may have no more files
    /// open, the rest is opened when it is needed.
    func hold(_ numbers: [UInt32]) {
        for number in numbers {
            do throws(StoreError) {
                _ = try file(segment: number)
            } catch {
                if error.errno == .tooManyOpenFiles || error.errno == .tooManyOpenFilesInSystem { return }
            }
        }
    }

    func block(at location: Location) throws(StoreError) -> Block {
        let block = location.block
        if let block = cache.get(block) { return block }
        return cache.insert(try load(block))
    }

    func block(at location: Location, wasCached: inout Bool) throws(StoreError) -> Block {
        let block = location.block
        if let block = cache.get(block) {
            wasCached = true
            return block
        }
        wasCached = false
        return cache.insert(try load(block))
    }

    func row(at location: Location) throws(StoreError) -> Row {
        try block(at: location).row(at: location)
    }

    /// A block with its rows as they were written.
    func storedBlock(at location: Location) throws(StoreError) -> Block {
        // Those in the cache may be lifted.
        let isStored = schemas.withLock { $0.hasMigrations }
        return try isStored ? load(location.block, isStored: true) : block(at: location)
    }

    /// A block that does not enter the cache.
    ///
    /// - Parameter isStored: shows the rows as they were written instead of as those of the schema in use.
    func load(_ location: Location, isStored: Bool = false) throws(StoreError) -> Block {
        let file = try file(segment: location.segment)
        let (bytes, count, isComplete) = try read(file, location)
        guard isComplete else {
            bytes.deallocate()
            throw StoreError(
                .corruption, "the file ends inside a block", path: files.segment(location.segment).string,
                segment: location.segment, offset: location.byteOffset)
        }
        let block = try Block.load(taking: bytes, count: count, location: location, storeUUID: storeUUID) {
            (version, entity) throws(StoreError) in
            try isStored
                ? schema(version: version)?.entity(entity).map { BlockShape($0) }
                : shape(version: version, entity: entity)
        }
        // The values it refers to stay readable as long as it does.
        if block.hasExternals { block.pin(epoch) }
        block.tell(damage)
        return block
    }

    /// Reads a block as long as it says it is; mostly with one system call.
    private func read(
        _ file: any File, _ location: Location
    ) throws(StoreError) -> (bytes: BlockBytes, count: Int, isComplete: Bool) {
        let offset = Int64(location.byteOffset)
        var bytes = BlockBytes(capacity: expectedByteCount.load(ordering: .relaxed), memory: memory)
        do throws(Errno) {
            let buffer = UnsafeMutableRawBufferPointer(start: bytes.base, count: bytes.capacity)
            let count = try file.readPrefix(into: buffer, at: offset)
            let head = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            guard let byteCount = BlockHeader.unverifiedByteCount(head) else { return (bytes, count, true) }
            let usual = max(Self.firstReadByteCount, min(byteCount + byteCount / 16, 40 << 10))
            if usual > bytes.capacity || usual * 4 < bytes.capacity {
                expectedByteCount.store(usual, ordering: .relaxed)
            }
            if byteCount <= bytes.capacity { return (bytes, count, true) }
            let whole = BlockBytes(capacity: byteCount + BitPacking.slackBytes, memory: memory)
            whole.base.copyMemory(from: bytes.base, byteCount: count)
            bytes.deallocate()
            bytes = whole
            let rest = UnsafeMutableRawBufferPointer(start: whole.base + count, count: byteCount - count)
            return (whole, byteCount, try file.readAll(into: rest, at: offset + Int64(count)))
        } catch {
            bytes.deallocate()
            throw StoreError(
                .io, "could not read a block", errno: error, path: files.segment(location.segment).string,
                segment: location.segment, offset: location.byteOffset)
        }
    }

    /// Reads a value stored out of line.
    func read(_ value: ExternalValue) throws(StoreError) -> [UInt8] {
        let bytes = try loadStored(value)
        defer { bytes.deallocate() }
        guard let decoded = LargeValue.decode(UnsafeRawBufferPointer(bytes)), decoded.count == Int(value.byteCount)
        else { throw damaged(value) }
        return decoded
    }

    /// A value stored out of line as it is stored: header and bytes, padded.
    func readStored(_ value: ExternalValue) throws(StoreError) -> [UInt8] {
        let bytes = try loadStored(value)
        defer { bytes.deallocate() }
        return [UInt8](bytes)
    }

    private func damaged(_ value: ExternalValue) -> StoreError {
        StoreError(
            .corruption, "a large value is damaged", path: files.segment(value.segment).string,
            segment: value.segment, offset: Int(value.byteOffset))
    }

    /// The stored bytes, checked, for the caller to deallocate.
    private func loadStored(_ value: ExternalValue) throws(StoreError) -> UnsafeMutableRawBufferPointer {
        let limit = UInt64(LargeValue.maximumByteCount + LargeValue.headerByteCount + 4096)
        guard value.segment > 0, value.segment <= Location.maximumSegment, value.storedByteCount <= limit else {
            throw StoreError(.corruption, "a large value's block is out of range", segment: value.segment)
        }
        let file = try file(segment: value.segment)
        let path = files.segment(value.segment)
        // A length that the file cannot hold is refused before memory is taken for it.
        let fileByteCount = try io("measure", path) { () throws(Errno) in try file.byteCount() }
        guard Int64(value.byteOffset) + Int64(value.storedByteCount) <= fileByteCount else {
            throw StoreError(
                .corruption, "the file ends inside a large value", path: path.string, segment: value.segment,
                offset: Int(value.byteOffset))
        }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(value.storedByteCount), alignment: 64)
        do throws(StoreError) {
            let isComplete = try io("read a large value", path) { () throws(Errno) in
                try file.readAll(into: bytes, at: Int64(value.byteOffset))
            }
            let address = LogAddress(
                storeUUID: storeUUID, segment: value.segment, offset: Int(value.byteOffset), sequence: 0)
            guard isComplete, LargeValue.verify(UnsafeRawBufferPointer(bytes), at: address) != nil else {
                throw damaged(value)
            }
            return bytes
        } catch {
            bytes.deallocate()
            throw error
        }
    }
}

// MARK: - Giving back memory

extension BlockSource {
    var heldBytes: Int { cache.heldBytes }

    func giveBackUnused() -> Int {
        cache.removeUnused()
        memory?.giveBackFree()
        let lookUps = cache.lookUps
        return Int(truncatingIfNeeded: lookUps &- notedLookUps.exchange(lookUps, ordering: .relaxed))
    }

    func shrink(to byteCount: Int) {
        cache.shrink(to: byteCount)
        memory?.giveBackFree()
    }
}
