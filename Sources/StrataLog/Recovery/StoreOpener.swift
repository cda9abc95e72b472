internal import StrataIO
internal import SystemPackage

/// What opening a store found and did.
public struct RecoveryReport: Sendable, Hashable {
    /// Whether the store was made by this opening.
    public internal(set) var isNew = false
    /// The checkpoint that was used; nil when the index was rebuilt from the whole log.
    public internal(set) var checkpoint: UInt32?
    /// Checkpoints that were there but damaged, with what was wrong.
    public internal(set) var damagedCheckpoints: [String] = []
    public internal(set) var replayedRecords = 0
    public internal(set) var replayedTransactions = 0
    public internal(set) var replayedByteCount = 0
    /// Bytes behind the last complete record: of commits that were never acknowledged.
    public internal(set) var tornByteCount = 0
    /// Segments that were being made when the process died.
    public internal(set) var unfinishedSegments = 0
}

/// Everything a ``LogStore`` starts from.
struct OpenedStore {
    var files: StoreFiles
    var source: BlockSource
    var lock: (any File)?
    var snapshot: Snapshot
    var facts: StoreFacts
    var checkpoint: UInt32
    var checkpointEnd: LogPosition
    var manifestNumber: UInt64
    var report: RecoveryReport
    /// The newest segment's file and length, for stores that can be written.
    var writable: (file: any File, byteCount: Int)?
    var end: LogWriter.End

    /// The writing end, nil for read-only stores.
    func makeWriter(_ options: LogOptions) -> LogWriter? {
        guard let writable else { return nil }
        return LogWriter(
            files: files, source: source, options: options, file: writable.file, fileByteCount: writable.byteCount,
            end: end, facts: facts)
    }
}

/// Opens stores: reads the manifest, loads the newest sound checkpoint, replays the log's tail, and cuts a torn one.
struct StoreOpener {
    let files: StoreFiles
    let options: LogOptions
    private var report = RecoveryReport()
    private var hasMadeDirectory = false

    init(files: StoreFiles, options: LogOptions) {
        self.files = files
        self.options = options
    }

    private var isWritable: Bool {
        if case .readWrite = options.access { true } else { false }
    }

    mutating func open(schema: Schema?) throws(StoreError) -> OpenedStore {
        try prepareDirectory()
        let lock = isWritable ? try takeLock() : nil
        do throws(StoreError) {
            let manifest = Manifest.read(files)
            var listing = try files.list()
            let source = BlockSource(
                files: files, storeUUID: try identity(manifest, listing), cacheMaximumBytes: options.cacheMaximumBytes)
            try dropUnfinishedSegments(&listing, manifest, source)
            if listing.segments.isEmpty {
                return try createOrAbandon(schema, manifest, lock)
            }
            return try recover(listing, manifest, source, lock)
        } catch {
            try? lock?.close()
            throw error
        }
    }

    // MARK: Directory and lock

    private mutating func prepareDirectory() throws(StoreError) {
        let path = files.directory
        let attributes = try io("look for", path) { () throws(Errno) in try files.fileSystem.attributes(path) }
        if let attributes {
            guard attributes.isDirectory else {
                throw StoreError(
                    .unsupportedFormat, "a Strata store is a directory, and this is a file of another kind",
                    path: path.string)
            }
            return
        }
        guard isWritable, options.createsIfMissing else {
            throw StoreError(.notFound, "there is no store", path: path.string)
        }
        try io("create directory", path) { () throws(Errno) in try files.fileSystem.createDirectory(path) }
        hasMadeDirectory = true
    }

    private func takeLock() throws(StoreError) -> any File {
        let path = files.lock
        let file = try io("open", path) { () throws(Errno) in try files.fileSystem.open(path, .createIfMissing) }
        let isTaken = try io("lock", path) { () throws(Errno) in try file.tryLockExclusively() }
        guard isTaken else {
            let holder = LockHolder.read(file)
            try? file.close()
            throw StoreError(
                .locked,
                holder.map { "the store is being written by process \($0)" }
                    ?? "the store is being written by another process",
                path: files.directory.string)
        }
        // Only for the message that a second writer gets: a full disk must not keep the first one out.
        try? LockHolder.write(file)
        return file
    }

    // MARK: Segments

    private func identity(_ manifest: Manifest?, _ listing: StoreFiles.Listing) throws(StoreError) -> StoreUUID {
        if let manifest { return manifest.storeUUID }
        var failure: StoreError?
        for segment in listing.segments {
            do throws(StoreError) {
                return try header(of: segment).storeUUID
            } catch {
                if failure == nil { failure = error }
            }
        }
        // One segment whose header is damaged may be the start of a store that was never finished: judged when its
        // records are looked for.
        if let failure, listing.segments.count > 1 { throw failure }
        return options.newStoreUUID ?? .random()
    }

    private func header(of segment: UInt32) throws(StoreError) -> SegmentHeader {
        let path = files.segment(segment)
        let file = try io("open", path) { () throws(Errno) in try files.fileSystem.open(path, .read) }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: SegmentHeader.byteCount, alignment: 16)
        defer { bytes.deallocate() }
        guard try io("read", path, { () throws(Errno) in try file.readAll(into: bytes, at: 0) }) else {
            throw StoreError(
                .corruption, "segment header: the file ends inside it", path: path.string, segment: segment)
        }
        return try SegmentHeader(UnsafeRawBufferPointer(bytes), segment: segment)
    }

    /// A crash while a segment is being made leaves a file without sound header and preamble. Nothing was committed
    /// to it, so it is removed; but only when nothing says that something was.
    private mutating func dropUnfinishedSegments(
        _ listing: inout StoreFiles.Listing, _ manifest: Manifest?, _ source: BlockSource
    ) throws(StoreError) {
        guard let last = listing.segments.last, let failure = try damage(of: last, source) else { return }
        let isNamed = (manifest?.segment ?? 0) >= last
        if isNamed { throw failure }
        if try containsRecords(last, source) {
            // A reader may have come while the segment was being made.
            if !isWritable, try damage(of: last, source) == nil { return }
            throw failure
        }
        if isWritable {
            let path = files.segment(last)
            try io("remove an unfinished", path) { () throws(Errno) in try files.fileSystem.unlink(path) }
        }
        listing.segments.removeLast()
        report.unfinishedSegments += 1
    }

    /// What is wrong with a segment's header or preamble; nil when they are sound.
    private func damage(of segment: UInt32, _ source: BlockSource) throws(StoreError) -> StoreError? {
        let reader = try reader(segment, source)
        do throws(StoreError) {
            let header = try reader.segmentHeader()
            guard header.storeUUID == source.storeUUID else {
                return StoreError(
                    .corruption, "the segment belongs to another store", path: files.segment(segment).string,
                    segment: segment)
            }
            let offset = SegmentHeader.byteCount
            guard let record = try reader.header(at: offset), record.kind == .preamble,
                let bytes = try reader.record(record, at: offset)
            else {
                return StoreError(
                    .corruption, "the segment has no preamble", path: files.segment(segment).string, segment: segment,
                    offset: offset)
            }
            // Otherwise replaying would take it for a torn tail and cut it off.
            guard record.sequence == header.previousSequence, record.previousChecksum == header.previousChecksum else {
                return StoreError(
                    .corruption, "the segment's preamble does not follow its header",
                    path: files.segment(segment).string,
                    segment: segment, offset: offset)
            }
            _ = try RecordContents(bytes, header: record, segment: segment, offset: offset, source: source)
            return nil
        } catch {
            guard error.code == .corruption else { throw error }
            return error
        }
    }

    private func containsRecords(_ segment: UInt32, _ source: BlockSource) throws(StoreError) -> Bool {
        let reader = try reader(segment, source)
        // Without looking at checksums: when in doubt, nothing is removed.
        for offset in stride(from: SegmentHeader.byteCount, to: reader.limit, by: Location.alignmentBytes) {
            if let bytes = try reader.bytes(at: offset, count: 8), RecordHeader.looksLikeContents(bytes) { return true }
        }
        return false
    }

    private func reader(_ segment: UInt32, _ source: BlockSource, limit: Int? = nil) throws(StoreError) -> RecordReader
    {
        let path = files.segment(segment)
        let file = try io("open", path) { () throws(Errno) in try files.fileSystem.open(path, .read) }
        return try RecordReader(
            files: files, storeUUID: source.storeUUID, segment: segment, file: file, limit: limit)
    }

    // MARK: A new store

    /// Makes a new store or leaves nothing of it: after a failed flush of a directory only names that are made anew
    /// can become durable.
    private mutating func createOrAbandon(
        _ schema: Schema?, _ manifest: Manifest?, _ lock: (any File)?
    ) throws(StoreError) -> OpenedStore {
        do throws(StoreError) {
            return try create(schema, manifest, lock)
        } catch {
            if error.code == .io {
                for path in [files.segment(1), files.manifest] { try? files.fileSystem.unlink(path) }
                if hasMadeDirectory {
                    try? files.fileSystem.unlink(files.lock)
                    try? files.fileSystem.removeDirectory(files.directory)
                }
            }
            throw error
        }
    }

    private mutating func create(
        _ schema: Schema?, _ manifest: Manifest?, _ lock: (any File)?
    ) throws(StoreError) -> OpenedStore {
        if let manifest {
            throw StoreError(
                .corruption, "the manifest names segment \(manifest.segment), and there are none",
                path: files.directory.string)
        }
        guard isWritable, options.createsIfMissing else {
            throw StoreError(.notFound, "there is no store in the directory", path: files.directory.string)
        }
        // An earlier attempt may have died between making the directory and flushing its name.
        try syncNames(isNew: true)
        let source = BlockSource(
            files: files, storeUUID: options.newStoreUUID ?? .random(), cacheMaximumBytes: options.cacheMaximumBytes)
        var facts = StoreFacts()
        if let schema { facts.schemas = [NumberedSchema(version: 1, schema: schema)] }
        source.setSchemas(facts.schemas)
        var mayReappear = false
        let created = try LogWriter.createSegment(
            1, after: .start, files: files, source: source, options: options, facts: facts, mayReappear: &mayReappear)
        let first = Manifest(
            number: 1, storeUUID: source.storeUUID, segment: 1, checkpoint: 0, durable: created.end.position)
        try first.write(files)
        report.isNew = true
        let layout = StoreLayout(facts.schemas)
        let snapshot = Snapshot.empty(layout: layout, source: source, end: created.end)
        return OpenedStore(
            files: files, source: source, lock: lock, snapshot: snapshot, facts: facts, checkpoint: 0,
            checkpointEnd: created.end.position, manifestNumber: 1, report: report,
            writable: (created.file, created.byteCount), end: created.end)
    }

    // MARK: An existing store

    private mutating func recover(
        _ listing: StoreFiles.Listing, _ manifest: Manifest?, _ source: BlockSource, _ lock: (any File)?
    ) throws(StoreError) -> OpenedStore {
        let chain = try chain(of: listing.segments, source)
        var checkpoints = listing.checkpoints
        while true {
            let base = try loadCheckpoint(&checkpoints, chain, source)
            do throws(StoreError) {
                return try recover(listing, base, manifest, chain, source, lock)
            } catch {
                // A page of the checkpoint that the tail touches is damaged: an older one, or the log alone, will do.
                guard report.checkpoint != nil, error.path?.hasSuffix(".chk") == true else { throw error }
                report.damagedCheckpoints.append(error.description)
                report.checkpoint = nil
            }
        }
    }

    private mutating func recover(
        _ listing: StoreFiles.Listing, _ base: (snapshot: Snapshot, facts: StoreFacts), _ manifest: Manifest?,
        _ chain: [SegmentHeader], _ source: BlockSource, _ lock: (any File)?
    ) throws(StoreError) -> OpenedStore {
        source.setSchemas(base.facts.schemas)
        var replayer = LogReplayer(
            base: base.snapshot, facts: base.facts,
            durable: max(manifest?.durable ?? base.snapshot.end, base.snapshot.end))
        let torn = try replay(chain, source, &replayer)
        report.replayedRecords = replayer.recordCount
        report.replayedTransactions = replayer.transactionCount
        report.replayedByteCount = replayer.byteCount
        report.tornByteCount = torn
        let snapshot = try replayer.finish()
        var opened = OpenedStore(
            files: files, source: source, lock: lock, snapshot: snapshot, facts: replayer.facts,
            checkpoint: listing.checkpoints.last ?? 0, checkpointEnd: base.snapshot.end,
            manifestNumber: manifest?.number ?? 0, report: report, end: replayer.end)
        if report.checkpoint == nil || report.checkpoint != listing.checkpoints.last {
            // The newest file is not the one in use: the next checkpoint is due at once.
            opened.checkpointEnd = LogPosition(segment: 0, offset: 0)
        }
        if isWritable {
            opened.writable = try makeWritable(replayer, isTorn: torn > 0, manifest, source)
            // A manifest that cannot be read must not come back later with a higher number than the new ones.
            if manifest == nil { try? files.fileSystem.unlink(files.manifest) }
            removeLeftovers(listing)
        }
        return opened
    }

    /// The segments' headers, in order, each naming the one before.
    private func chain(of segments: [UInt32], _ source: BlockSource) throws(StoreError) -> [SegmentHeader] {
        var chain: [SegmentHeader] = []
        for segment in segments {
            let header = try header(of: segment)
            guard header.storeUUID == source.storeUUID, header.previousSegment == chain.last?.segment ?? 0 else {
                throw StoreError(
                    .corruption,
                    header.storeUUID == source.storeUUID
                        ? "segment \(header.previousSegment), which comes before this one, is missing"
                        : "the segment belongs to another store",
                    path: files.segment(segment).string, segment: segment)
            }
            chain.append(header)
        }
        return chain
    }

    /// The newest sound checkpoint of those left in `candidates`, which loses what was tried; an empty start when
    /// there is none.
    private mutating func loadCheckpoint(
        _ candidates: inout [UInt32], _ chain: [SegmentHeader], _ source: BlockSource
    ) throws(StoreError) -> (snapshot: Snapshot, facts: StoreFacts) {
        while let number = candidates.popLast() {
            do throws(StoreError) {
                let checkpoint = try Checkpoint.open(number: number, source: source, removesDamaged: isWritable)
                let end = checkpoint.snapshot.end
                guard chain.contains(where: { $0.segment == end.segment }) else {
                    throw StoreError(
                        .corruption,
                        "checkpoint \(number) was made when the log reached segment \(end.segment), which is missing",
                        path: files.segment(end.segment).string, segment: end.segment)
                }
                report.checkpoint = number
                return (checkpoint.snapshot, checkpoint.facts)
            } catch {
                if error.segment != nil { throw error }
                report.damagedCheckpoints.append(error.description)
            }
        }
        guard let first = chain.first else {
            throw StoreError(.corruption, "the store has no segments", path: files.directory.string)
        }
        let start = LogWriter.End(
            position: LogPosition(segment: first.segment, offset: SegmentHeader.byteCount),
            sequence: first.previousSequence, checksum: first.previousChecksum)
        let layout = StoreLayout([])
        return (.empty(layout: layout, source: source, end: start), StoreFacts())
    }

    /// Replays from the checkpoint to the end of the log; returns how many bytes behind it are torn.
    private func replay(
        _ chain: [SegmentHeader], _ source: BlockSource, _ replayer: inout LogReplayer
    ) throws(StoreError) -> Int {
        let start = replayer.end.position.segment
        guard let first = chain.firstIndex(where: { $0.segment == start }) else { return 0 }
        for index in first..<chain.count {
            let next = index + 1 < chain.count ? chain[index + 1] : nil
            if index > first { try replayer.enter(chain[index]) }
            let reader = try reader(chain[index].segment, source, limit: next?.previousValidByteCount)
            guard replayer.end.position.offset <= reader.limit else {
                throw StoreError(
                    .corruption,
                    "the segment has \(reader.limit) bytes, and the log was durable up to \(replayer.end.position.offset)",
                    path: files.segment(reader.segment).string, segment: reader.segment, offset: reader.limit)
            }
            let stop = try replayer.replay(reader)
            if let next {
                if case .bad(let error) = stop { throw error }
                guard replayer.end.position.offset == next.previousValidByteCount else {
                    throw StoreError(
                        .corruption,
                        "the segment ends at \(replayer.end.position.offset), the next one says at \(next.previousValidByteCount)",
                        path: files.segment(chain[index].segment).string, segment: chain[index].segment,
                        offset: replayer.end.position.offset)
                }
            } else {
                return try judge(stop, reader, source, &replayer)
            }
        }
        return 0
    }

    private func judge(
        _ stop: LogReplayer.Stop, _ reader: RecordReader, _ source: BlockSource, _ replayer: inout LogReplayer
    ) throws(StoreError) -> Int {
        guard replayer.end.position.offset <= reader.limit else {
            throw StoreError(
                .corruption, "the segment is shorter than when the checkpoint was written",
                path: files.segment(reader.segment).string, segment: reader.segment, offset: reader.limit)
        }
        var stop = stop
        var attempts = isWritable ? 1 : 5
        while true {
            let bad: StoreError
            switch stop {
            case .bad(let error): bad = error
            case .end:
                bad = StoreError(
                    .corruption, "the log ends too early", path: files.segment(reader.segment).string,
                    segment: reader.segment, offset: replayer.end.position.offset)
            }
            do throws(StoreError) {
                return try TailRule(durable: replayer.durable).judge(bad, at: replayer.end.position, in: reader)
            } catch {
                // A reader may have seen a record while its writer was writing it: then it is sound a moment later.
                attempts -= 1
                guard attempts > 0 else { throw error }
                stop = try replayer.replay(try self.reader(reader.segment, source))
            }
        }
    }

    /// Brings the newest segment in order, so that the log can go on behind its last complete record.
    private func makeWritable(
        _ replayer: LogReplayer, isTorn: Bool, _ manifest: Manifest?, _ source: BlockSource
    ) throws(StoreError) -> (file: any File, byteCount: Int) {
        let end = replayer.end.position
        let path = files.segment(end.segment)
        let file = try io("open", path) { () throws(Errno) in try files.fileSystem.open(path, .readWrite) }
        var byteCount = Int(try io("measure", path) { () throws(Errno) in try file.byteCount() })
        if isTorn {
            // Cut, and made durable before anything is appended: what stays behind could later pass for the next
            // record.
            try io("truncate", path) { () throws(Errno) in try file.truncate(to: Int64(end.offset)) }
            byteCount = end.offset
        }
        if isTorn || manifest?.durable != end {
            // What was replayed may be in the page cache only, the names of files too; from here on it counts as
            // durable. (Without flushing the directory a segment that a killed process had just made was lost with
            // the power, and every later commit in it.)
            try rewrite(replayer, file, path)
            try io("flush", path) { () throws(Errno) in try file.sync() }
            try syncNames(isNew: manifest == nil)
        }
        source.register(file, segment: end.segment)
        return (file, byteCount)
    }

    /// Writes the end of the log again, as far as nothing proves that it was durable.
    ///
    /// After a flush that failed, the page cache holds bytes that the disk does not have, marked clean: another flush
    /// would succeed without writing them. Written again, they are dirty.
    private func rewrite(_ replayer: LogReplayer, _ file: any File, _ path: FilePath) throws(StoreError) {
        let end = replayer.end.position
        // A segment with nothing in it that is known to be durable is written again with its header.
        let isKnown = replayer.durable.segment == end.segment && replayer.durable.offset > SegmentHeader.byteCount
        let start = isKnown ? min(replayer.durable.offset, end.offset) : 0
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
        defer { piece.deallocate() }
        var offset = start
        while offset < end.offset {
            let bytes = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(piece.count, end.offset - offset)])
            try io("write again", path) { () throws(Errno) in
                guard try file.readAll(into: bytes, at: Int64(offset)) else { throw .ioError }
                try file.writeAll([UnsafeRawBufferPointer(bytes)], at: Int64(offset))
            }
            offset += bytes.count
        }
    }

    private func syncNames(isNew: Bool) throws(StoreError) {
        let directory = files.directory
        let above = directory.removingLastComponent()
        let parent = above.isEmpty ? FilePath(".") : above
        try io("flush directory", directory) { () throws(Errno) in
            try files.fileSystem.syncDirectory(directory)
            // The manifest is written last: without one the store's own name may not have been flushed either.
            if isNew { try files.fileSystem.syncDirectory(parent) }
        }
    }

    /// Files of interrupted work. What cannot be removed only takes space.
    private func removeLeftovers(_ listing: StoreFiles.Listing) {
        for number in listing.unfinished {
            try? files.fileSystem.unlink(files.unfinishedCheckpoint(number))
        }
    }
}
