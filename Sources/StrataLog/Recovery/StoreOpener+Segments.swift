internal import StrataIO
internal import StrataSupport
internal import SystemPackage

// The segments as files: their headers, and those that were being made when a process died.
extension StoreOpener {
    /// Which store it is, by the manifest or a segment; nil when none of them can be read.
    func identity(_ manifest: Manifest?, _ listing: StoreFiles.Listing) throws(StoreError) -> StoreUUID? {
        if let manifest { return manifest.storeUUID }
        var failure: StoreError?
        for segment in listing.segments {
            do throws(StoreError) {
                return try header(of: segment).storeUUID
            } catch {
                guard error.code == .corruption else { throw error }
                if failure == nil { failure = error }
            }
        }
        // One segment whose header is damaged may be the start of a store that was never finished: judged when its
        // records are looked for.
        if let failure, listing.segments.count > 1 { throw failure }
        return nil
    }

    func header(of segment: UInt32) throws(StoreError) -> SegmentHeader {
        let path = files.segment(segment)
        let file = try io("open", path) { () throws(Errno) in try files.open(path, .read) }
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
    mutating func dropUnfinishedSegments(
        _ listing: inout StoreFiles.Listing, _ manifest: Manifest?, _ source: BlockSource
    ) throws(StoreError) {
        guard let last = listing.segments.last, let failure = try damage(of: last, source) else { return }
        let isNamed = (manifest?.segment ?? 0) >= last
        if isNamed { throw failure }
        if try containsRecords(last, source, isNew: listing.segments.count == 1) {
            // A reader may have come while the segment was being made.
            if !isWritable, try damage(of: last, source) == nil { return }
            throw failure
        }
        // Its file goes once the rest has turned out to be a store.
        if isWritable { unfinishedSegment = last }
        listing.segments.removeLast()
        report.unfinishedSegments += 1
    }

    /// What is wrong with a segment's header or preamble; nil when they are sound.
    func damage(of segment: UInt32, _ source: BlockSource) throws(StoreError) -> StoreError? {
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

    /// Whether something was written to a segment behind its preamble.
    ///
    /// A file that was being made when the power went may show blocks of one that was removed before. Their records
    /// carry checksums of another place; with those of this place nothing gets here but by being written.
    ///
    /// - Parameter isNew: whether there is no other segment, so that it is not known which store this is: then
    ///   everything
    ///   that looks like a record counts.
    private func containsRecords(
        _ segment: UInt32, _ source: BlockSource, isNew: Bool
    ) throws(StoreError) -> Bool {
        let reader = try reader(segment, source)
        for offset in stride(from: SegmentHeader.byteCount, to: reader.limit, by: Location.alignmentBytes) {
            guard let bytes = try reader.bytes(at: offset, count: 8), RecordHeader.looksLikeContents(bytes) else {
                continue
            }
            if isNew { return true }
            do throws(StoreError) {
                if try reader.header(at: offset) != nil { return true }
            } catch {
                // Sound, and of a later version.
                guard error.code == .unsupportedFormat else { throw error }
                return true
            }
        }
        return false
    }

    func reader(_ segment: UInt32, _ source: BlockSource, limit: Int? = nil) throws(StoreError) -> RecordReader {
        let path = files.segment(segment)
        let file = try io("open", path) { () throws(Errno) in try files.open(path, .read) }
        return try RecordReader(
            files: files, storeUUID: source.storeUUID, segment: segment, file: file, limit: limit)
    }

    /// The segments' headers, in order. Each names the one before; those that are not there must have been compacted
    /// away, which is known once the log has been read.
    func chain(of segments: [UInt32], _ source: BlockSource) throws(StoreError) -> [SegmentHeader] {
        var chain: [SegmentHeader] = []
        for segment in segments {
            let header = try header(of: segment)
            // What a header says may be any number.
            guard header.storeUUID == source.storeUUID, header.previousSegment == header.segment &- 1 else {
                throw StoreError(
                    .corruption,
                    header.storeUUID == source.storeUUID
                        ? "the segment says that it follows segment \(header.previousSegment)"
                        : "the segment belongs to another store",
                    path: files.segment(segment).string, segment: segment)
            }
            chain.append(header)
        }
        return chain
    }

    /// Every segment that is missing must have been compacted away.
    func checkHoles(_ chain: [SegmentHeader], _ holes: SegmentHoles) throws(StoreError) {
        var expected: UInt32 = 1
        for header in chain {
            while expected < header.segment {
                guard holes.contains(expected) else {
                    throw StoreError(
                        .corruption, "segment \(expected), which comes before segment \(header.segment), is missing",
                        path: files.segment(header.segment).string, segment: header.segment)
                }
                expected += 1
            }
            expected = header.segment + 1
        }
    }

    /// What was compacted away as of where reading ends, for reading the log from its beginning. A retirement behind
    /// that goes by rows that are moved only behind it, too.
    func holes(
        in chain: [SegmentHeader], _ manifest: Manifest?, _ source: BlockSource
    ) throws(StoreError) -> SegmentHoles {
        guard let last = chain.last else { return SegmentHoles() }
        let limit: LogPosition? =
            switch bound {
            case .complete: nil
            case .announced(let end): end
            case .proven:
                try proven(
                    chain,
                    from: manifest?.durable ?? LogPosition(segment: last.segment, offset: SegmentHeader.byteCount),
                    source)
            }
        return try holes(toldBy: last, before: limit, source)
    }

    /// What was compacted away, as a segment tells it up to a position.
    private func holes(
        toldBy header: SegmentHeader, before limit: LogPosition?, _ source: BlockSource
    ) throws(StoreError) -> SegmentHoles {
        let reader = try reader(header.segment, source)
        var compaction = CompactionState()
        var offset = SegmentHeader.byteCount
        while let record = try reader.header(at: offset) {
            if let limit, LogPosition(segment: header.segment, offset: offset) >= limit { break }
            if record.kind == .preamble || record.kind == .retirement {
                guard let bytes = try reader.record(record, at: offset) else { break }
                do throws(StoreError) {
                    let contents = try RecordContents(
                        bytes, header: record, segment: header.segment, offset: offset, source: source)
                    if case .preamble(let told) = contents.payload { compaction = told.compaction }
                    if case .retirement(let retirement) = contents.payload { compaction.apply(retirement) }
                } catch {
                    guard error.code == .corruption else { throw error }
                    break
                }
            }
            offset += record.byteCount
        }
        return compaction.holes
    }
}
