internal import StrataSupport
internal import SystemPackage

// Opening a store for reading while another process may be writing it.
extension StoreOpener {
    /// Where reading the log ends.
    enum Bound: Hashable {
        /// With the last complete record; what follows must be a torn tail.
        case complete
        /// Exactly there, whatever follows.
        case announced(LogPosition)
        /// With what something in the log, or the manifest, says is durable.
        case proven

        init(_ state: LogTail.State) {
            self =
                switch state {
                case .announced(let announcement): .announced(announcement.end)
                case .unannounced: .proven
                case .idle: .complete
                }
        }
    }

    /// A writer may be anywhere in its work: what does not fit together is looked at again so many times.
    private static let attemptMaximum = 12
    /// After so many attempts an announcement that cannot be reached and that no living writer stands for is left
    /// aside: the files may have been put back from a backup around it.
    private static let trustedAttempts = 6

    /// - Throws: `.notFound`; otherwise as ``open(schema:)``.
    mutating func openBeside() throws(StoreError) -> OpenedStore {
        var attempt = 0
        while true {
            attempt += 1
            do throws(StoreError) {
                if let opened = try openBesideOnce(attempt) { return opened }
                // Without a break for a writer that is just starting there might be no end to it.
                guard attempt < Self.attemptMaximum * 10 else {
                    throw StoreError(
                        .io, "the store's writers change too quickly to read it",
                        errno: .resourceTemporarilyUnavailable,
                        path: files.directory.string)
                }
            } catch {
                guard error.mayPass, attempt < Self.attemptMaximum else { throw error }
            }
            if attempt > 2 { pause(milliseconds: 1) }
        }
    }

    /// Nil when another writer came while the store was read.
    private mutating func openBesideOnce(_ attempt: Int) throws(StoreError) -> OpenedStore? {
        files = try files.holding()
        let listing = try files.list()
        if listing.isVoid { throw noStore }
        let uuid = try identity(Manifest.read(files), listing) ?? .random()
        let tail = LogTail(files, storeUUID: uuid)
        let state = try tail.state()
        var assumed = state
        if attempt > Self.trustedAttempts, case .announced = state, try !tail.isLocked() { assumed = .idle }
        let source = BlockSource(files: files, storeUUID: uuid, cacheMaximumBytes: options.cacheMaximumBytes)
        var opened = try read(source, Bound(assumed))
        // The directory may have been replaced, by one of which some of what was read is.
        guard try tail.isStill(state), !files.isElsewhere else { return nil }
        opened.tail = tail
        return opened
    }

    /// Reads the store as it is now: the newest checkpoint and what came after it, as far as the bound lets.
    mutating func read(_ source: BlockSource, _ bound: Bound) throws(StoreError) -> OpenedStore {
        report = RecoveryReport()
        self.bound = bound
        let manifest = Manifest.read(files)
        var listing = try files.list()
        try dropSegments(&listing, manifest, source)
        guard !listing.segments.isEmpty else {
            // Nothing but a store that was never complete is none.
            try checkIsNoStore(try files.list(), manifest)
            throw noStore
        }
        // What is open stays readable, whatever becomes of its name.
        source.hold(listing.segments)
        return try recover(listing, manifest, source, nil)
    }

    /// Leaves out segments that a writer may be making just now.
    private mutating func dropSegments(
        _ listing: inout StoreFiles.Listing, _ manifest: Manifest?, _ source: BlockSource
    ) throws(StoreError) {
        switch bound {
        case .complete: try dropUnfinishedSegments(&listing, manifest, source)
        case .announced(let end): listing.segments.removeAll { $0 > end.segment }
        case .proven:
            guard let last = listing.segments.last, last > manifest?.segment ?? 0 else { return }
            if try damage(of: last, source) != nil { listing.segments.removeLast() }
        }
    }

    /// Replays from the checkpoint up to the bound.
    func replay(
        _ chain: [SegmentHeader], _ holes: SegmentHoles, _ source: BlockSource, _ replayer: inout LogReplayer,
        upTo bound: LogPosition
    ) throws(StoreError) {
        // The checkpoint may be newer than what was announced before it was found.
        let end = max(bound, replayer.end.position)
        guard chain.contains(where: { $0.segment == end.segment }) else {
            throw StoreError(
                .corruption, "the log goes on to segment \(end.segment), which is missing",
                path: files.segment(end.segment).string, segment: end.segment)
        }
        let start = replayer.end.position.segment
        for (index, header) in chain.enumerated() where header.segment >= start && header.segment <= end.segment {
            if header.segment > start {
                try replayer.goOn(to: header, after: index > 0 ? chain[index - 1] : nil)
            }
            let limit =
                header.segment == end.segment
                ? end.offset
                : holes.hole(at: header.segment + 1)?.previousValidByteCount ?? chain[index + 1].previousValidByteCount
            try replayWhole(header.segment, to: limit, source, &replayer)
        }
    }

    /// Replays the rest of a segment whose end is known.
    func replayWhole(
        _ segment: UInt32, to limit: Int, _ source: BlockSource, _ replayer: inout LogReplayer
    ) throws(StoreError) {
        let reader = try RecordReader(
            files: files, storeUUID: source.storeUUID, segment: segment, file: try source.file(segment: segment),
            limit: limit)
        try replayer.replayWhole(reader, to: limit)
    }

    /// How far manifest, checkpoint and the records of the newest segment prove the log to be durable.
    func proven(
        _ chain: [SegmentHeader], from start: LogPosition, _ source: BlockSource
    ) throws(StoreError) -> LogPosition {
        guard let last = chain.last, last.segment >= start.segment else { return start }
        // A segment is made when everything before it has been flushed, and is named when its preamble has been.
        var offset = last.segment == start.segment ? start.offset : SegmentHeader.byteCount
        var proven = max(start, LogPosition(segment: last.segment, offset: offset))
        let reader = try reader(last.segment, source)
        while let header = try reader.header(at: offset) {
            proven = max(proven, header.durable)
            let start = offset
            offset += header.byteCount
            if header.kind == .retirement, try isCarriedOut(header, at: start, in: reader, source) {
                proven = max(proven, LogPosition(segment: last.segment, offset: offset))
            }
        }
        return proven
    }

    /// Whether a segment that a record retires is gone: files are removed only once the record is durable.
    private func isCarriedOut(
        _ header: RecordHeader, at offset: Int, in reader: RecordReader, _ source: BlockSource
    ) throws(StoreError) -> Bool {
        guard let bytes = try reader.record(header, at: offset) else { return false }
        let contents: RecordContents
        do throws(StoreError) {
            contents = try RecordContents(
                bytes, header: header, segment: reader.segment, offset: offset, source: source)
        } catch {
            guard error.code != .io else { throw error }
            return false
        }
        guard case .retirement(let retirement) = contents.payload else { return false }
        for entry in retirement.segments {
            let path = files.segment(entry.segment)
            let found = try io("look for", path) { () throws(Errno) in try files.attributes(path) }
            if found == nil { return true }
        }
        return false
    }
}

extension StoreError {
    /// Whether it may be gone in a moment, because a writer was in the middle of something.
    var mayPass: Bool {
        code == .corruption || code == .io && errno == .noSuchFileOrDirectory
    }
}
