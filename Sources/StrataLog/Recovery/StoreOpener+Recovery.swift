internal import StrataIO
internal import SystemPackage

// A store that is there: its newest sound checkpoint, the log's tail after it, and where a writer goes on.
extension StoreOpener {
    mutating func recover(
        _ listing: StoreFiles.Listing, _ manifest: Manifest?, _ source: BlockSource, _ lock: (any File)?
    ) throws(StoreError) -> OpenedStore {
        let chain = try chain(of: listing.segments, source)
        var checkpoints = listing.checkpoints
        while true {
            let base = try loadCheckpoint(&checkpoints, chain, manifest, source)
            do throws(StoreError) {
                return try recover(listing, base, manifest, chain, source, lock)
            } catch {
                // A page of the checkpoint that the tail touches may be damaged.
                try goOn(after: report.checkpoint == nil ? .fatal(error) : RecoveryFailure(error))
                report.checkpoint = nil
            }
        }
    }

    /// An older checkpoint, or the log alone, will do where one is of no use. What is fatal is thrown.
    private mutating func goOn(after failure: RecoveryFailure) throws(StoreError) {
        switch failure {
        case .fatal(let error): throw error
        case .checkpoint(let error): report.damagedCheckpoints.append(error.description)
        }
    }

    private mutating func recover(
        _ listing: StoreFiles.Listing, _ base: (snapshot: Snapshot, storeState: StoreState), _ manifest: Manifest?,
        _ chain: [SegmentHeader], _ source: BlockSource, _ lock: (any File)?
    ) throws(StoreError) -> OpenedStore {
        source.setSchemas(base.storeState.schemas)
        // From the beginning, segments that were compacted away count for nothing, whether their files are still
        // there or not.
        let holes = report.checkpoint == nil ? try holes(in: chain, manifest, source) : SegmentHoles()
        var replayer = LogReplayer(
            base: base.snapshot, storeState: base.storeState,
            durable: max(manifest?.durable ?? base.snapshot.end, base.snapshot.end), isPartial: !holes.isEmpty)
        let rest = chain.filter { !holes.contains($0.segment) }
        var torn = 0
        switch bound {
        case .complete: torn = try replay(rest, holes, source, &replayer)
        case .announced(let end): try replay(rest, holes, source, &replayer, upTo: end)
        case .proven:
            try replay(
                rest, holes, source, &replayer, upTo: try proven(chain, from: replayer.durable, source))
        }
        try checkHoles(chain, replayer.storeState.compaction.holes)
        report.replayedRecords = replayer.recordCount
        report.replayedTransactions = replayer.transactionCount
        report.replayedByteCount = replayer.byteCount
        report.tornByteCount = torn
        var snapshot = try replayer.finish()
        if !holes.isEmpty { snapshot = try LogCensus.complete(snapshot) }
        var opened = OpenedStore(
            files: files, source: source, lock: lock, snapshot: snapshot, storeState: replayer.storeState,
            checkpoint: listing.checkpoints.last ?? 0, checkpointEnd: base.snapshot.end,
            manifestNumber: manifest?.number ?? 0, report: report, end: replayer.end)
        if report.checkpoint == nil || report.checkpoint != listing.checkpoints.last {
            // The newest file is not the one in use: the next checkpoint is due at once.
            opened.checkpointEnd = LogPosition(segment: 0, offset: 0)
        }
        if isWritable {
            opened.segment = try makeWritable(replayer, isTorn: torn > 0, manifest, source)
            // A manifest that cannot be read must not come back later with a higher number than the new ones.
            if manifest == nil { try? files.remove(files.manifest) }
            opened.leftovers = leftovers(listing, replayer.storeState.compaction.holes)
        }
        return opened
    }

    /// The newest sound checkpoint of those left in `candidates`, which loses what was tried; an empty start when
    /// there is none.
    private mutating func loadCheckpoint(
        _ candidates: inout [UInt32], _ chain: [SegmentHeader], _ manifest: Manifest?, _ source: BlockSource
    ) throws(StoreError) -> (snapshot: Snapshot, storeState: StoreState) {
        while let number = candidates.popLast() {
            do throws(RecoveryFailure) {
                let checkpoint = try open(number, chain, source)
                report.checkpoint = number
                return (checkpoint.snapshot, checkpoint.storeState)
            } catch {
                try goOn(after: error)
            }
        }
        guard !chain.isEmpty else {
            throw StoreError(.corruption, "the store has no segments", path: files.directory.string)
        }
        let holes = try holes(in: chain, manifest, source)
        guard let first = chain.first(where: { !holes.contains($0.segment) }) else {
            throw StoreError(.corruption, "all segments are retired", path: files.directory.string)
        }
        let start = LogWriter.End(
            position: LogPosition(segment: first.segment, offset: SegmentHeader.byteCount),
            sequence: first.previousSequence, checksum: first.previousChecksum)
        let layout = StoreLayout([])
        return (.empty(layout: layout, source: source, end: start), StoreState())
    }

    /// Opens a checkpoint and makes sure that the log goes on where it ends.
    private func open(
        _ number: UInt32, _ chain: [SegmentHeader], _ source: BlockSource
    ) throws(RecoveryFailure) -> Checkpoint {
        let checkpoint: Checkpoint
        do throws(StoreError) {
            checkpoint = try Checkpoint.open(number: number, source: source, removesDamaged: isWritable)
        } catch {
            throw .checkpoint(error)
        }
        let end = checkpoint.snapshot.end
        let present = chain.count { $0.segment >= end.segment }
        if let last = chain.last?.segment, last >= end.segment, present != Int(last - end.segment) + 1 {
            throw .checkpoint(
                StoreError(.corruption, "checkpoint \(number) is older than the newest compaction"))
        }
        guard chain.contains(where: { $0.segment == end.segment }) else {
            throw .fatal(
                StoreError(
                    .corruption,
                    "checkpoint \(number) was made when the log reached segment \(end.segment), which is missing",
                    path: files.segment(end.segment).string, segment: end.segment))
        }
        return checkpoint
    }

    /// Replays from the checkpoint to the end of the log; returns how many bytes behind it are torn.
    private func replay(
        _ chain: [SegmentHeader], _ holes: SegmentHoles, _ source: BlockSource, _ replayer: inout LogReplayer
    ) throws(StoreError) -> Int {
        let start = replayer.end.position.segment
        guard let first = chain.firstIndex(where: { $0.segment == start }) else { return 0 }
        for index in first..<chain.count {
            let next = index + 1 < chain.count ? chain[index + 1] : nil
            if index > first { try replayer.goOn(to: chain[index], after: chain[index - 1]) }
            let limit =
                holes.hole(at: chain[index].segment + 1)?.previousValidByteCount ?? next?.previousValidByteCount
            let reader = try reader(chain[index].segment, source, limit: limit)
            guard replayer.end.position.offset <= reader.limit else {
                throw StoreError(
                    .corruption,
                    "the segment has \(reader.limit) bytes, and the log was durable up to \(replayer.end.position.offset)",
                    path: files.segment(reader.segment).string, segment: reader.segment, offset: reader.limit)
            }
            if let limit, next != nil {
                try replayer.replayWhole(reader, to: limit)
            } else {
                let stop = try replayer.replay(reader)
                return try judge(stop, reader, source, &replayer)
            }
        }
        return 0
    }

    private func judge(
        _ stop: LogReplayer.Stop, _ reader: RecordReader, _ source: BlockSource, _ replayer: inout LogReplayer
    ) throws(StoreError) -> Int {
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
    ) throws(StoreError) -> OpenSegment {
        let end = replayer.end.position
        let path = files.segment(end.segment)
        let file = try io("open", path) { () throws(Errno) in try files.open(path, .readWrite) }
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
        return OpenSegment(file, at: path, end: end.offset, byteCount: byteCount)
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
}
