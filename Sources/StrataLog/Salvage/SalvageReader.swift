internal import StrataIO
internal import StrataSupport
internal import SystemPackage

/// Reads a log as far as it is sound, wherever that is, and finds the newest readable row of each object.
struct SalvageReader {
    private let files: StoreFiles
    private let source: BlockSource
    /// Those that were not compacted away.
    private var segments: [UInt32]
    private(set) var storeState = StoreState()
    private(set) var report = SalvageReport()
    private var edit: SnapshotEdit?
    private var last: UInt64 = 0

    /// Blocks are read once; a cache would only hold what is not asked for again.
    private static let cacheByteCount = 8 << 20

    init(_ files: StoreFiles) throws(StoreError) {
        self.files = files
        segments = try files.list().segments
        var identity: StoreUUID?
        for segment in segments where identity == nil {
            identity = try? Self.header(files, segment)?.storeUUID
        }
        guard let identity else {
            throw StoreError(.corruption, "no segment has a sound header", path: files.directory.string)
        }
        source = BlockSource(files: files, storeUUID: identity, cacheMaximumBytes: Self.cacheByteCount)
    }

    private static func header(_ files: StoreFiles, _ segment: UInt32) throws(StoreError) -> SegmentHeader? {
        let path = files.segment(segment)
        let file = try io("open", path) { () throws(Errno) in try files.open(path, .read) }
        let reader = try RecordReader(
            files: files, storeUUID: StoreUUID(high: 0, low: 0), segment: segment, file: file)
        return try reader.segmentHeader()
    }

    /// - Throws: `.io`. Damage is noted in the report.
    mutating func run(_ progress: (Int, Int) -> Void) throws(StoreError) {
        // Rows are read with schemas that a later segment's preamble may be the first to tell.
        var total = 0
        for segment in segments {
            try readState(segment)
            total += (try? source.file(segment: segment).byteCount()).map(Int.init) ?? 0
        }
        // What is left of retired segments contradicts what is gone of them.
        let holes = storeState.compaction.holes
        segments.removeAll { holes.contains($0) }
        source.setSchemas(storeState.schemas)
        let layout = StoreLayout(storeState.schemas)
        let start = LogWriter.End(position: LogPosition(segment: 0, offset: 0), sequence: 0, checksum: 0)
        edit = SnapshotEdit(base: .empty(layout: layout, source: source, end: start))
        var done = 0
        for (index, segment) in segments.enumerated() {
            let next = index + 1 < segments.count ? try? Self.header(files, segments[index + 1]) : nil
            let limit =
                holes.hole(at: segment + 1)?.previousValidByteCount
                ?? next.flatMap { $0.previousSegment == segment ? $0.previousValidByteCount : nil }
            try read(segment, limit: limit)
            done += (try? source.file(segment: segment).byteCount()).map(Int.init) ?? 0
            progress(done, total)
        }
        report.segments = segments.count
    }

    /// What was found, as a state of the store.
    mutating func snapshot() throws(StoreError) -> Snapshot {
        guard let edit else { throw StoreError(.corruption, "nothing was read", path: files.directory.string) }
        let end = LogPosition(segment: segments.last ?? 0, offset: 0)
        var migrated = SnapshotEdit(base: try edit.finish(end: end, checksum: 0))
        if let newest = storeState.schemas.last, storeState.schemas.contains(where: \.schema.isMigration) {
            migrated.retire(by: [newest.schema])
        }
        return try migrated.finish(end: end, checksum: 0)
    }

    private mutating func readState(_ segment: UInt32) throws(StoreError) {
        let reader = try RecordReader(
            files: files, storeUUID: source.storeUUID, segment: segment, file: try source.file(segment: segment))
        var offset = SegmentHeader.byteCount
        while let header = try Self.recordHeader(reader, offset) {
            // A retirement or a schema may be the last thing that was written; every later preamble repeats it.
            if [.retirement, .schema, .migration].contains(header.kind)
                || header.kind == .preamble && offset == SegmentHeader.byteCount
            {
                try take(header, at: offset, in: reader)
            }
            offset += header.byteCount
        }
    }

    private static func recordHeader(_ reader: RecordReader, _ offset: Int) throws(StoreError) -> RecordHeader? {
        do throws(StoreError) {
            return try reader.header(at: offset)
        } catch {
            guard error.code != .io else { throw error }
            return nil
        }
    }

    private mutating func read(_ segment: UInt32, limit: Int?) throws(StoreError) {
        let reader = try RecordReader(
            files: files, storeUUID: source.storeUUID, segment: segment, file: try source.file(segment: segment),
            limit: limit)
        var offset = SegmentHeader.byteCount
        var skipped = 0
        while offset + RecordHeader.byteCount <= reader.limit {
            guard let header = try Self.recordHeader(reader, offset), isLater(header) else {
                // Reserved space is zeros, which nobody lost.
                if skipped == 0, try reader.isZero(from: offset) { break }
                skipped += Location.alignmentBytes
                offset += Location.alignmentBytes
                continue
            }
            reportGap(&skipped, before: LogPosition(segment: segment, offset: offset))
            try take(header, at: offset, in: reader)
            offset += header.byteCount
        }
        reportGap(&skipped, before: LogPosition(segment: segment, offset: offset))
    }

    private mutating func reportGap(_ byteCount: inout Int, before end: LogPosition) {
        guard byteCount > 0 else { return }
        report.skippedByteCount += byteCount
        report.record(
            StoreError(
                .corruption, "\(byteCount) bytes in which no record can be read",
                path: files.segment(end.segment).string, segment: end.segment, offset: end.offset - byteCount))
        byteCount = 0
    }

    /// Records that a failed write left behind have numbers that were given out again.
    private func isLater(_ header: RecordHeader) -> Bool {
        header.kind == .transaction ? header.sequence > last : header.sequence >= last
    }

    private mutating func take(_ header: RecordHeader, at offset: Int, in reader: RecordReader) throws(StoreError) {
        let record = LogRecord(header: header, offset: offset, reader: reader, source: source)
        do throws(StoreError) {
            if header.kind == .transaction {
                last = header.sequence
                try apply(record, try record.body())
                edit?.record(sequence: header.sequence, timestampNanoseconds: header.timestampNanoseconds)
                report.transactions += 1
            } else {
                try takeSummary(header.kind, record)
            }
        } catch {
            guard error.code != .io else { throw error }
            report.record(error)
        }
    }

    private mutating func takeSummary(_ kind: RecordHeader.Kind, _ record: LogRecord) throws(StoreError) {
        let bytes = try record.bodyBytes()
        do {
            var reader = ByteReader(bytes)
            switch kind {
            case .preamble:
                var new = try StoreState(from: &reader)
                new.compaction = try CompactionState(fromPreamble: &reader)
                if new.schemas.count >= storeState.schemas.count { storeState = new }
            case .schema, .migration:
                let schema = try NumberedSchema(from: &reader)
                if schema.version > storeState.schemas.last?.version ?? 0 { storeState.schemas.append(schema) }
            case .metadata: storeState.metadata = [UInt8](bytes)
            case .retirement: storeState.compaction.apply(try Retirement(from: &reader))
            case .compaction: try applyCompaction(record, try CompactionBody(bytes))
            case .transaction: break
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw record.corrupt("a record's body contradicts itself: \((error as? MalformedBytes)?.reason ?? "")")
        }
    }

    /// Rows and absent keys that compaction said again.
    private mutating func applyCompaction(
        _ record: LogRecord, _ body: CompactionBody
    ) throws(StoreError) {
        let locations = zip(body.blocks, try record.blocks(of: RecordPieces(body))).filter { $0.0.role == .updated }
        for ((piece, location), table) in zip(locations, body.rows) {
            do throws(StoreError) {
                let block = try record.block(at: location, byteCount: piece.byteCount)
                try block.verify()
                guard block.entity == table.entity, block.rowCount == table.rowCount else {
                    throw record.corrupt("a compaction's rows are not those it names")
                }
                let keys = (0..<block.rowCount).map { block.key($0) }
                try edit?.setRows(of: block.entity, keys: keys, at: location, excluding: table.excluded)
            } catch {
                guard error.code != .io else { throw error }
                report.lostRows += table.rowCount - table.excluded.count
                report.record(error)
            }
        }
        for group in body.absent { try edit?.setAbsent(group.keys, entity: group.entity) }
    }

    private mutating func apply(_ record: LogRecord, _ body: TransactionBody) throws(StoreError) {
        var readable: Set<ObjectRef> = []
        var damaged = 0
        let locations = try record.blocks(of: RecordPieces(body))
        for (piece, location) in zip(body.blocks, locations) where piece.role != .tombstone {
            do throws(StoreError) {
                let block = try record.block(at: location, byteCount: piece.byteCount)
                try block.verify()
                let keys = (0..<block.rowCount).map { block.key($0) }
                try edit?.setRows(of: block.entity, keys: keys, at: location, isInsertion: piece.role == .inserted)
                for key in keys { readable.insert(ObjectRef(entity: block.entity, key: key)) }
            } catch {
                guard error.code != .io else { throw error }
                damaged += 1
                report.record(error)
            }
        }
        for change in body.changes {
            if change.kind == .delete {
                try edit?.remove(change.keys, entity: change.entity)
            } else if damaged > 0 {
                let missing = change.keys.count { !readable.contains(ObjectRef(entity: change.entity, key: $0)) }
                if change.kind == .insert { report.lostRows += missing } else { report.staleRows += missing }
            }
        }
    }
}
