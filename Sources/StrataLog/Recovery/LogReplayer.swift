internal import StrataSupport
internal import SystemPackage

/// Lays the records behind a position of the log over a snapshot: how a store is opened, followed and verified.
struct LogReplayer {
    /// Where and why reading stopped.
    enum Stop {
        /// Nothing was ever written behind.
        case end
        /// Bytes that are no record of this log: torn, or damaged.
        case bad(StoreError)
    }

    let source: BlockSource
    private(set) var edit: SnapshotEdit
    private(set) var storeState: StoreState
    private(set) var end: LogWriter.End
    /// The furthest point that anything read claims to be durable.
    private(set) var durable: LogPosition
    private(set) var recordCount = 0
    private(set) var transactionCount = 0
    private(set) var byteCount = 0
    private(set) var blockCount = 0
    private(set) var rowCount = 0
    /// References that the records have changed.
    private(set) var referenceCount = 0
    /// How often the schemas that had come made it finish what it had so far.
    private(set) var adoptionCount = 0
    private var layout: StoreLayout
    /// Of the schemas that it goes by.
    private var referencesPerObject: Int
    private var ordered: OrderedReplay
    /// Whether records are missing, since they were compacted away, so that counts and postings have to be made anew;
    /// see ``LogCensus``.
    private var isPartial: Bool
    /// The schemas that it goes by: those that have been read since come when rows do.
    private var adopted: [NumberedSchema]
    /// Those that have been the newest since.
    private var steps: [NumberedSchema] = []

    /// - Parameter isPartial: whether records before the base, which it does not have, were compacted away.
    init(base: Snapshot, storeState: StoreState, durable: LogPosition, isPartial: Bool = false) {
        source = base.source
        edit = SnapshotEdit(base: base)
        self.storeState = storeState
        layout = base.layout
        referencesPerObject = ChangeBounds.referencesPerObject(storeState.schemas)
        ordered = OrderedReplay(base)
        end = LogWriter.End(position: base.end, sequence: base.sequence, checksum: base.checksum)
        self.durable = durable
        self.isPartial = isPartial
        adopted = storeState.schemas
    }

    /// Reads one segment from the current end on, up to the reader's limit.
    mutating func replay(_ reader: RecordReader) throws(StoreError) -> Stop {
        let stop = try replayRecords(reader)
        try adoptSchemas()
        return stop
    }

    private mutating func replayRecords(_ reader: RecordReader) throws(StoreError) -> Stop {
        while end.position.offset < reader.limit {
            let offset = end.position.offset
            guard let header = try reader.header(at: offset) else {
                return try reader.isZero(from: offset)
                    ? .end : .bad(corrupt("no record where one should be", reader.segment, offset))
            }
            guard header.previousChecksum == end.checksum, isInOrder(header) else {
                return .bad(corrupt("a record does not follow the one before it", reader.segment, offset))
            }
            guard let bytes = try reader.record(header, at: offset) else {
                return .bad(corrupt("the segment ends inside a record", reader.segment, offset))
            }
            if header.kind == .transaction || header.kind == .compaction { try adoptSchemas() }
            let contents: RecordContents
            do throws(StoreError) {
                contents = try RecordContents(
                    bytes, header: header, segment: reader.segment, offset: offset, source: source)
            } catch {
                // The disk refusing to read is no damage that could be cut off.
                guard error.code != .io else { throw error }
                return .bad(error)
            }
            try apply(contents, header)
            end = LogWriter.End(
                position: LogPosition(segment: reader.segment, offset: offset + header.byteCount),
                sequence: header.sequence, checksum: contents.checksum)
            durable = max(durable, header.durable)
            recordCount += 1
            byteCount += header.byteCount
        }
        return .end
    }

    private func isInOrder(_ header: RecordHeader) -> Bool {
        header.kind == .transaction ? header.sequence == end.sequence + 1 : header.sequence == end.sequence
    }

    private func corrupt(_ what: String, _ segment: UInt32, _ offset: Int) -> StoreError {
        StoreError(
            .corruption, what, path: source.files.segment(segment).string, segment: segment, offset: offset)
    }

    /// Goes on behind the header of a segment.
    ///
    /// - Parameter before: the segment before it that is still there.
    mutating func goOn(to header: SegmentHeader, after before: SegmentHeader?) throws(StoreError) {
        if header.previousSegment == before?.segment { try enter(header) } else { try jump(to: header) }
    }

    /// Replays the rest of a segment whose end is known.
    mutating func replayWhole(_ reader: RecordReader, to limit: Int) throws(StoreError) {
        if reader.limit == limit {
            if case .bad(let error) = try replay(reader) { throw error }
            if end.position.offset == limit { return }
        }
        throw corrupt(
            "the segment ends at \(min(reader.limit, end.position.offset)) instead of \(limit)", reader.segment,
            end.position.offset)
    }

    /// Goes on behind the header of the next segment.
    mutating func enter(_ header: SegmentHeader) throws(StoreError) {
        let previous = LogPosition(segment: header.previousSegment, offset: header.previousValidByteCount)
        guard previous == end.position, header.previousSequence == end.sequence, header.previousChecksum == end.checksum
        else {
            throw corrupt(
                "segment \(header.segment) follows \(previous) with sequence \(header.previousSequence), but the log read so far ends at "
                    + "\(end.position) with \(end.sequence)", header.segment, 0)
        }
        end.position = LogPosition(segment: header.segment, offset: SegmentHeader.byteCount)
        // The segment before was flushed, or its lost end written again, before this one was made.
        durable = max(durable, end.position)
    }

    /// Goes on behind the header of a segment before which others were compacted away. Counts and postings of what is
    /// read from now on are wrong until ``LogCensus`` makes them anew.
    mutating func jump(to header: SegmentHeader) throws(StoreError) {
        guard header.previousSequence >= end.sequence else {
            throw corrupt(
                "segment \(header.segment) follows transaction \(header.previousSequence), but the log read so far ends with "
                    + "\(end.sequence)", header.segment, 0)
        }
        end = LogWriter.End(
            position: LogPosition(segment: header.segment, offset: SegmentHeader.byteCount),
            sequence: header.previousSequence, checksum: header.previousChecksum)
        durable = max(durable, end.position)
        isPartial = true
        edit.record(sequence: header.previousSequence, timestampNanoseconds: edit.timestampNanoseconds)
    }

    private mutating func apply(_ contents: RecordContents, _ header: RecordHeader) throws(StoreError) {
        switch contents.payload {
        case .preamble(var storeState):
            // A preamble repeats which segments are gone, but not where archives are.
            for archive in self.storeState.compaction.archives { storeState.compaction.add(archive) }
            if storeState.schemas != self.storeState.schemas, let newest = storeState.schemas.last {
                steps.append(newest)
            }
            self.storeState = storeState
        case .compaction(let body, let blocks):
            try apply(body, blocks, at: end.position)
        case .retirement(let retirement):
            storeState.compaction.apply(retirement)
        case .schema(let schema):
            if let last = storeState.schemas.last, schema.version <= last.version {
                throw corrupt(
                    "schema version \(schema.version) comes after version \(last.version)", end.position.segment,
                    end.position.offset)
            }
            storeState.schemas.append(schema)
            steps.append(schema)
        case .metadata(let bytes):
            storeState.metadata = bytes
        case .transaction(let body, let blocks):
            try apply(body, blocks)
            edit.record(sequence: header.sequence, timestampNanoseconds: header.timestampNanoseconds)
            transactionCount += 1
        }
    }

    /// Goes by the schemas that have been read. This is put off until rows come: many schemas in a row cost what they
    /// are long, and not each of them what all before it are.
    private mutating func adoptSchemas() throws(StoreError) {
        guard !steps.isEmpty else { return }
        defer { steps = [] }
        let new = storeState.schemas
        source.setSchemas(new)
        let known = adopted.count
        if new.starts(with: adopted) {
            layout = layout.adding(new[known...]) ?? StoreLayout(new)
            referencesPerObject = max(referencesPerObject, ChangeBounds.referencesPerObject(new[known...]))
        } else {
            layout = StoreLayout(new)
            referencesPerObject = ChangeBounds.referencesPerObject(new)
        }
        let snapshot = try edit.finish(end: end.position, checksum: end.checksum)
        edit = SnapshotEdit(base: snapshot.with(snapshot.ordered.lifted(from: adopted, to: new)), layout: layout)
        if let first = new.first(where: \.schema.isMigration)?.version {
            edit.retire(by: steps.filter { $0.version >= first }.map(\.schema))
        }
        ordered.lift(from: adopted, to: new)
        adopted = new
        adoptionCount += 1
    }

    private mutating func apply(_ body: TransactionBody, _ blocks: [RecordContents.LocatedBlock]) throws(StoreError) {
        var references: [UInt16: [PostingChange]] = [:]
        let rowsBefore = rowCount
        for placed in blocks where placed.role != .tombstone {
            let block = placed.block
            let keys = (0..<block.rowCount).map { block.key($0) }
            try edit.setRows(of: block.entity, keys: keys, at: block.location, isInsertion: placed.role == .inserted)
            blockCount += 1
            rowCount += block.rowCount
            ordered.touch(keys, root: layout.root(ofEntity: block.entity))
            if placed.role == .inserted {
                if let highest = keys.max(), let root = layout.root(ofEntity: block.entity) {
                    storeState.raiseNextKey(root: root, to: min(highest + 1, ObjectRef.maximumKey))
                }
                try addReferences(of: block, to: &references)
            }
        }
        for (id, changes) in references { try edit.change(id, changes) }
        var objectCount = rowCount - rowsBefore
        for change in body.changes where change.kind == .delete {
            try expectKnown(change.keys, of: change.entity)
            // What is said to be gone and was not there takes nothing from here on.
            let gone = try edit.remove(present: change.keys, entity: change.entity)
            ordered.touch(gone, root: layout.root(ofEntity: change.entity))
            objectCount += gone.count
        }
        try applyPostings(of: body, objectCount: objectCount)
    }

    /// - Parameter objectCount: how many objects have come, changed or gone.
    private mutating func applyPostings(of body: TransactionBody, objectCount: Int) throws(StoreError) {
        // They are made anew.
        if isPartial { return }
        let count = body.postings.reduce(0) { $0 + $1.count }
        // Each object loses one and gets another.
        let maximum = objectCount * 2 * referencesPerObject
        guard count <= maximum else {
            throw corrupt(
                "\(count) references are said to have changed, where the objects that have can account for \(maximum)",
                end.position.segment, end.position.offset)
        }
        referenceCount += count
        for list in body.postings { try edit.change(list.postingsID, list.changes()) }
    }

    /// Keys beyond the greatest that was given out belong to no object that could go.
    private func expectKnown(_ keys: IntegerList, of entity: UInt16) throws(StoreError) {
        guard let greatest = keys.bounds?.upperBound else { return }
        let root = layout.root(ofEntity: entity)
        let next = storeState.nextKeys.first { $0.root == root }?.next ?? 1
        guard greatest < next else {
            throw corrupt(
                "object \(greatest) of entity \(entity) is said to be gone, but keys were given out up to \(next - 1)",
                end.position.segment, end.position.offset)
        }
    }

    private mutating func apply(
        _ body: CompactionBody, _ blocks: [RecordContents.LocatedBlock], at position: LogPosition
    ) throws(StoreError) {
        let rows = blocks.filter { $0.role == .updated }.map(\.block)
        for (block, table) in zip(rows, body.rows) {
            let keys = (0..<block.rowCount).map { block.key($0) }
            try edit.setRows(of: block.entity, keys: keys, at: block.location, excluding: table.excluded)
            blockCount += 1
            rowCount += block.rowCount
            if let root = layout.root(ofEntity: block.entity) {
                storeState.raiseNextKey(root: root, to: min(table.keys.upperBound + 1, ObjectRef.maximumKey))
            }
        }
        for group in body.absent {
            try expectKnown(group.keys, of: group.entity)
            try edit.setAbsent(group.keys, entity: group.entity)
        }
        if let first = body.transactions.first, let last = body.transactions.last {
            storeState.compaction.add(.init(first: first.sequence, last: last.sequence, position: position))
        }
    }

    /// The relationships of inserted rows, which the change table does not repeat. They are gathered for a transaction:
    /// each addition to postings costs a run that has to be merged with others.
    private func addReferences(
        of block: Block, to references: inout [UInt16: [PostingChange]]
    ) throws(StoreError) {
        guard let layout = source.schema(version: block.schemaVersion)?.entity(block.entity) else { return }
        for (slot, slotLayout) in layout.slots.enumerated() where slotLayout.postingsID != 0 && slot < block.slotCount {
            let column = try block.column(slot)
            var changes = references.removeValue(forKey: slotLayout.postingsID) ?? []
            for row in 0..<block.rowCount where !column.isNull(row) {
                changes.append(
                    PostingChange(target: column.reference(row), referrer: block.ref(row), isRemoval: false))
            }
            references[slotLayout.postingsID] = changes
        }
    }

    /// The snapshot of everything read so far, which keeps only the segments that are not compacted away by then.
    func finish() throws(StoreError) -> Snapshot {
        let snapshot = try edit.finish(
            end: end.position, checksum: end.checksum, epoch: source.enterEpoch(storeState.compaction))
        return snapshot.ordered.list.isEmpty ? snapshot : snapshot.with(ordered.indexes(for: snapshot))
    }
}
