internal import Dispatch
internal import StrataSupport
internal import Synchronization
internal import SystemPackage

/// Moves what is still needed out of some segments and retires them. Used once; one at a time in a store.
///
/// See docs/compaction.md for the rules that are named here.
final class Compactor {
    private let store: LogStore
    private var source: BlockSource { store.source }
    let victims: Set<UInt32>
    /// The victims again, for the index, which asks for each run of rows.
    private let victimSet: SegmentSet
    private let infos: [UInt32: SegmentInfo]
    private let retention: LogRetention
    private let builder: CompactionBuilder
    /// Blocks of the victims: in the order of keys, one is needed again and again.
    private var blocks: [UInt64: CompactionBuilder.Source] = [:]
    private var latest: CompactionBuilder.Source?
    private var blockByteCount = 0
    private static let blockMaximumByteCount = 64 << 20
    /// Live rows that are going to be copied next.
    private var gathered: [(run: RowRun, source: CompactionBuilder.Source)] = []
    private static let gatheredMaximum = 16
    /// The newest transaction that is dropped from the history.
    private var droppedHistory: UInt64 = 0

    /// - Parameter infos: of all segments that the log has left.
    init(store: LogStore, victims: Set<UInt32>, infos: [UInt32: SegmentInfo], retention: LogRetention) {
        self.store = store
        self.victims = victims
        self.infos = infos
        self.retention = retention
        victimSet = SegmentSet(victims)
        builder = CompactionBuilder(store: store, victims: victimSet)
    }

    /// Compacts the victims away.
    ///
    /// - Parameter onStep: called after each record with the bytes it took; throws to stop.
    /// - Returns: the segments that are gone; fewer than asked for when transactions that are being built refer to
    ///   values in them.
    /// - Throws: errors of reading and writing, and what `onStep` throws. The store is as good as before, and what was
    ///   moved stays moved.
    func run(onStep: @escaping (Int) throws(StoreError) -> Void) throws(StoreError) -> Set<UInt32> {
        builder.onRecord = { record throws(StoreError) in try onStep(record.byteCount) }
        source.references.close(victims)
        do throws(StoreError) {
            try moveAll()
            try repeatDeletions()
            try archiveHistory()
            guard waitForReferences() else {
                source.references.reopen(victims)
                return []
            }
            // Transactions that were waited for may have written rows that refer to large values.
            try moveAll()
            // Ordered indexes are brought from the checkpoint to the log's end by the rows that it shows: none of them
            // may lie in a victim.
            if let last = victims.max(),
                store.state.withLock({ $0.checkpointEnd.segment }) <= last || !store.snapshot.ordered.list.isEmpty
            {
                try store.writeCheckpoint()
            }
            try retire()
        } catch {
            source.references.reopen(victims)
            throw error
        }
        return victims
    }

    // MARK: Rows

    /// Moves live rows until the index names none in a victim (rule 2).
    private func moveAll() throws(StoreError) {
        while try moveRows() {}
        blocks = [:]
        latest = nil
        blockByteCount = 0
    }

    /// True when there was something to move.
    private func moveRows() throws(StoreError) -> Bool {
        let snapshot = store.snapshot
        var isDone = true
        for root in snapshot.layout.roots {
            try snapshot.forEachRun(root: root, in: victimSet) { run throws(StoreError) in
                isDone = false
                gathered.append((run, try rows(at: run.location)))
                if gathered.count == Self.gatheredMaximum { try moveGathered(of: root, snapshot) }
                return true
            }
            try moveGathered(of: root, snapshot)
        }
        if try moveReferring(snapshot) { isDone = false }
        try builder.commit()
        return !isDone
    }

    /// Copies the runs that were gathered. Neighbouring keys lie in blocks far apart, so that each step to a row waits
    /// for memory: the processor is asked for one step of all before the first of them goes on.
    private func moveGathered(of root: UInt16, _ snapshot: Snapshot) throws(StoreError) {
        defer { gathered.removeAll(keepingCapacity: true) }
        for (run, source) in gathered { source.block.prefetchKey(run.location.row) }
        for (run, source) in gathered { source.block.prefetchValues(run.location.row, .max) }
        for (run, source) in gathered { source.block.prefetchBytes(run.location.row, .max) }
        for (run, source) in gathered {
            try check(source.block, has: run, of: root, snapshot)
            try builder.append(source, rows: run.location.row..<run.location.row + run.count)
        }
    }

    /// Moves rows that lie elsewhere but refer to large values in a victim (rule 7).
    private func moveReferring(_ snapshot: Snapshot) throws(StoreError) -> Bool {
        var refs: Set<ObjectRef> = []
        for victim in victims { for value in infos[victim]?.largeValues ?? [] { refs.insert(value.ref) } }
        var hasMoved = false
        for ref in refs.sorted() {
            let location = try snapshot.locate(ref)
            guard !location.isAbsent, !victims.contains(location.segment) else { continue }
            let source = try rows(at: location)
            let root = snapshot.layout.root(ofEntity: ref.entity) ?? ref.entity
            try check(
                source.block, has: RowRun(firstKey: ref.key, count: 1, location: location), of: root, snapshot)
            guard try refers(source.block, location.row) else { continue }
            try builder.append(source, rows: location.row..<location.row + 1)
            hasMoved = true
        }
        return hasMoved
    }

    /// The rows must be those of the objects whose places they are: another's row would be moved without end, since
    /// that changes nothing in these places.
    private func check(
        _ block: Block, has run: RowRun, of root: UInt16, _ snapshot: Snapshot
    ) throws(StoreError) {
        let first = run.location.row
        guard first + run.count <= block.rowCount, snapshot.layout.root(ofEntity: block.entity) == root,
            (0..<run.count).allSatisfy({ block.key(first + $0) == run.firstKey + UInt64($0) })
        else {
            throw StoreError(
                .corruption, "the index names rows for object \(run.firstKey) that are not its own",
                segment: block.location.segment, offset: block.location.byteOffset)
        }
    }

    private func refers(_ block: Block, _ row: Int) throws(StoreError) -> Bool {
        guard block.hasExternals else { return false }
        for slot in 0..<block.slotCount where block.layout.slots[slot].kind.fixedWidth == 0 {
            let column = try block.column(slot)
            if !column.isNull(row), column.isExternal(row), victims.contains(column.external(row).segment) {
                return true
            }
        }
        return false
    }

    private func rows(at location: Location) throws(StoreError) -> CompactionBuilder.Source {
        let location = location.block
        if let latest, latest.block.location == location { return latest }
        if let known = blocks[location.rawValue] {
            latest = known
            return known
        }
        let block: CompactionBuilder.Source
        if let cached = source.cache.peek(location) {
            block = try .init(cached, isCached: true)
        } else {
            block = try .init(try source.load(location), isCached: false)
        }
        if blockByteCount > Self.blockMaximumByteCount {
            blocks = [:]
            blockByteCount = 0
        }
        blocks[location.rawValue] = block
        latest = block
        blockByteCount += block.block.estimatedByteCount
        return block
    }

    // MARK: Deletions

    /// Repeats deletions that a segment which stays still needs (rule 3).
    private func repeatDeletions() throws(StoreError) {
        for victim in victims.sorted() where infos[victim]?.deletionCount ?? 0 > 0 {
            let older = infos.values.filter { $0.segment < victim && !victims.contains($0.segment) }
            guard !older.isEmpty else { continue }
            let layout = store.snapshot.layout
            var deletions: [UInt16: Set<UInt64>] = [:]
            var runs: [UInt16: [ClosedRange<UInt64>]] = [:]
            func add(_ keys: IntegerList, _ entity: UInt16) {
                guard let root = layout.root(ofEntity: entity) else { return }
                if let range = keys.consecutiveRange {
                    runs[entity, default: []] += KeyCover.parts(of: range, in: older.compactMap { $0.cover[root] })
                    return
                }
                for key in keys where older.contains(where: { $0.mayHaveRow(root: root, key: key) }) {
                    deletions[entity, default: []].insert(key)
                }
            }
            try SegmentScan.forEachRecord(try reader(victim)) { _, _, body, _ in
                switch body {
                case .transaction(let body):
                    for change in body.changes where change.kind == .delete { add(change.keys, change.entity) }
                case .compaction(let body):
                    for group in body.absent { add(group.keys, group.entity) }
                }
            }
            for (entity, keys) in deletions.sorted(by: { $0.key < $1.key }) {
                try builder.append(absent: IntegerList(keys.sorted()), entity: entity)
            }
            for (entity, ranges) in runs.sorted(by: { $0.key < $1.key }) {
                for range in ranges {
                    let keys = IntegerList(from: range.lowerBound, step: 1, count: range.count)
                    try builder.append(absent: keys, entity: entity)
                }
            }
        }
        try builder.commit()
    }

    private func reader(_ segment: UInt32) throws(StoreError) -> RecordReader {
        try RecordReader(
            files: source.files, storeUUID: source.storeUUID, segment: segment, file: try source.file(segment: segment),
            limit: infos[segment]?.byteCount)
    }

    // MARK: History

    /// A transaction whose change tables have to be written down again.
    private struct ArchivedEntry {
        var transaction: CompactionBody.ArchivedTransaction
        var segment: UInt32
        /// Where the blocks that its changes name lie.
        var tombstones: [Int]
        var byteCount: Int
    }

    private func archiveHistory() throws(StoreError) {
        let compaction = store.state.withLock { $0.storeState.compaction }
        let floor = min(retention.historyFloor, store.snapshot.sequence)
        var entries: [ArchivedEntry] = []
        for victim in victims.sorted() {
            guard let info = infos[victim] else { continue }
            try SegmentScan.forEachRecord(try reader(victim)) { header, offset, body, blocks in
                let positions = blocks.map { offset + $0.lowerBound }
                switch body {
                case .transaction(let body):
                    guard header.sequence > floor else {
                        droppedHistory = max(droppedHistory, header.sequence)
                        return
                    }
                    guard !isArchived(header.sequence, compaction) else { return }
                    let transaction = CompactionBody.ArchivedTransaction(
                        sequence: header.sequence, timestampNanoseconds: header.timestampNanoseconds,
                        author: body.author, contextName: body.contextName, changes: body.changes)
                    entries.append(Self.entry(transaction, info.segment, positions))
                case .compaction(let body):
                    for transaction in body.transactions {
                        guard transaction.sequence > floor else {
                            droppedHistory = max(droppedHistory, transaction.sequence)
                            continue
                        }
                        guard !isInLog(transaction.sequence), !isArchived(transaction.sequence, compaction) else {
                            continue
                        }
                        entries.append(Self.entry(transaction, info.segment, positions))
                    }
                }
            }
        }
        entries.sort { $0.transaction.sequence < $1.transaction.sequence }
        var last: UInt64 = 0
        for entry in entries where entry.transaction.sequence > last {
            last = entry.transaction.sequence
            var tombstones: [Block] = []
            for position in entry.tombstones {
                tombstones.append(
                    try source.load(
                        Location(segment: entry.segment, byteOffset: position, row: 0), isStored: true))
            }
            try builder.append(entry.transaction, tombstones: tombstones, byteCount: entry.byteCount)
        }
        try builder.commit()
    }

    /// The transaction with its blocks of preserved values counted from the first of them.
    ///
    /// - Parameter positions: where the record's blocks lie in its segment.
    private static func entry(
        _ transaction: CompactionBody.ArchivedTransaction, _ segment: UInt32, _ positions: [Int]
    ) -> ArchivedEntry {
        var transaction = transaction
        var tombstones: [Int] = []
        var byteCount = 64
        for index in transaction.changes.indices {
            byteCount += 32 + transaction.changes[index].keys.count * 4
            transaction.changes[index].tombstoneBlocks = transaction.changes[index].tombstoneBlocks.map {
                tombstones.append(positions[$0])
                return tombstones.count - 1
            }
        }
        return ArchivedEntry(transaction: transaction, segment: segment, tombstones: tombstones, byteCount: byteCount)
    }

    /// Whether an archive outside of the victims has the transaction.
    private func isArchived(_ sequence: UInt64, _ compaction: CompactionState) -> Bool {
        compaction.archives.contains {
            $0.first <= sequence && sequence <= $0.last && !victims.contains($0.position.segment)
        }
    }

    /// Whether the transaction's own record is there (be it in a victim, which archives it by itself).
    private func isInLog(_ sequence: UInt64) -> Bool {
        infos.values.contains { $0.previousSequence < sequence && sequence <= $0.lastSequence }
    }

    // MARK: Retirement

    /// Waits until no transaction that is being built refers to values in a victim; false when it takes too long.
    private func waitForReferences() -> Bool {
        for _ in 0..<store.options.compactionWaitMilliseconds / 10 {
            if !source.references.areHeld(victims) { return true }
            DispatchSemaphore(value: 0).waitShortly()
        }
        return !source.references.areHeld(victims)
    }

    private func retire() throws(StoreError) {
        var retirement = Retirement()
        retirement.historyFloor = droppedHistory
        for victim in victims.sorted() {
            // Snapshots go on reading from files that are open.
            let header = try reader(victim).segmentHeader()
            retirement.segments.append(
                .init(segment: victim, previousValidByteCount: header.previousValidByteCount))
        }
        try store.retire(retirement)
        for victim in victims.sorted() {
            try? store.files.remove(store.files.segment(victim))
        }
        source.cache.removeRetired(victimSet)
        store.removeUselessCheckpoint(victims)
    }
}

extension DispatchSemaphore {
    /// Sleeps for ten milliseconds.
    fileprivate func waitShortly() {
        _ = wait(timeout: .now() + .milliseconds(10))
    }
}
