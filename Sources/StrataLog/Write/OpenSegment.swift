internal import StrataIO
internal import SystemPackage

/// The segment that records are added to: its file, and the space in it that is reserved, and written to, ahead.
///
/// Used by one thread at a time, that of its ``LogWriter``.
struct OpenSegment {
    let file: any File
    /// Kept, because making one costs more than the rest of a small write.
    let path: FilePath
    /// Which file it is; nil where that is not known.
    let identity: FileIdentity?
    private var reservedEnd: Int
    /// Up to here the file was written to, be it with zeros.
    private var touchedEnd: Int
    /// How many zeros are written ahead next: few for a process that commits once.
    private var aheadByteCount = 16 << 10

    /// - Parameters:
    ///   - end: where the records end.
    ///   - byteCount: the file's length, to which space is reserved.
    init(_ file: any File, at path: FilePath, end: Int, byteCount: Int) {
        self.file = file
        self.path = path
        identity = try? file.identity()
        touchedEnd = end
        reservedEnd = byteCount
    }

    // MARK: Creating

    /// Writes a new segment with header and preamble and makes it durable, name included.
    ///
    /// - Parameter mayReappear: becomes true when the segment may be there after a crash although this throws.
    static func create(
        _ number: UInt32, after previous: LogWriter.End, files: StoreFiles, source: BlockSource, options: LogOptions,
        storeState: StoreState, mayReappear: inout Bool
    ) throws(StoreError) -> (segment: OpenSegment, end: LogWriter.End) {
        guard number <= Location.maximumSegment else {
            throw StoreError(.tooLarge, "the store has used all \(Location.maximumSegment) segment numbers")
        }
        let isMigrated = storeState.schemas.contains(where: \.schema.isMigration)
        let header = SegmentHeader(
            version: isMigrated ? SegmentHeader.migrationVersion : SegmentHeader.plainVersion,
            storeUUID: source.storeUUID, segment: number, previousSegment: previous.position.segment,
            previousValidByteCount: previous.position.offset, previousSequence: previous.sequence,
            previousChecksum: previous.checksum)
        var body = ByteWriter()
        storeState.append(to: &body)
        storeState.compaction.appendToPreamble(&body)
        let start = LogPosition(segment: number, offset: SegmentHeader.byteCount)
        let preamble = RecordImage.plain(
            .preamble, body: body.bytes,
            placement: RecordPlacement(
                storeUUID: source.storeUUID, position: start, sequence: previous.sequence,
                timestampNanoseconds: options.clock(), previousChecksum: previous.checksum, durable: previous.position))
        let path = files.segment(number)
        // A file of this name is what is left of an attempt that failed: no record ever referred to it.
        if try io("look for", path, { () throws(Errno) in try files.attributes(path) != nil }) {
            try io("remove an unfinished", path) { () throws(Errno) in try files.remove(path) }
        }
        let file = try io("create", path) { () throws(Errno) in try files.open(path, .create) }
        let contents = start.offset + preamble.bytes.count
        let wanted = max(contents, min(options.preallocationMinimumBytes, options.segmentMaximumBytes))
        let byteCount: Int
        do throws(StoreError) {
            byteCount = try io("preallocate", path) { () throws(Errno) in
                try preallocate(file, from: 0, to: wanted, atLeastTo: contents)
            }
            let headerBytes = header.encoded()
            try headerBytes.withBytes { bytes throws(StoreError) in
                try io("write", path) { () throws(Errno) in try file.writeAll([bytes], at: 0) }
            }
            try io("write", path) { () throws(Errno) in
                try file.writeAll([UnsafeRawBufferPointer(preamble.bytes)], at: Int64(start.offset))
            }
            mayReappear = true
            try io("flush", path) { () throws(Errno) in try file.sync() }
            try io("flush directory", files.directory) { () throws(Errno) in
                try files.sync()
            }
        } catch {
            try? file.close()
            // What is written to its end stays: opening goes on in it, as nothing is added to the segment before any
            // more. Removed, it could come back after a power loss. The rest is recognised as unfinished.
            if !mayReappear { try? files.remove(path) }
            throw error
        }
        source.register(file, segment: number)
        let end = LogWriter.End(
            position: LogPosition(segment: number, offset: contents), sequence: previous.sequence,
            checksum: preamble.checksum)
        return (OpenSegment(file, at: path, end: contents, byteCount: byteCount), end)
    }

    /// Goes on in the next segment, with as many zeros ahead.
    mutating func move(to next: OpenSegment) {
        let ahead = aheadByteCount
        self = next
        aheadByteCount = ahead
    }

    // MARK: Writing

    /// Writes records behind the end of those that are there.
    ///
    /// - Parameters:
    ///   - end: where the records end.
    ///   - touchesAhead: whether the flush of what follows should find space that was written to.
    mutating func write(
        _ records: [LogWriter.PlacedRecord], at offset: Int, to end: Int, touchesAhead: Bool
    ) throws(StoreError) {
        try io("write", path) { () throws(Errno) in
            try file.writeAll(records.map { UnsafeRawBufferPointer($0.image.bytes) }, at: Int64(offset))
        }
        // The buffers above are the images' own memory.
        withExtendedLifetime(records) {}
        guard end > touchedEnd else { return }
        touchedEnd = end
        if touchesAhead, end - offset <= Self.zeros.count / 8 { touchAhead() }
    }

    /// Small commits that wait for the disk find room before them that was written to. Space that is only reserved
    /// costs the file system an entry in its journal when it is written to first, and the flush waits for that, too:
    /// half as long again as for the data.
    private static let zeros = [UInt8](repeating: 0, count: 128 << 10)

    /// Writes zeros behind the end, where the reserved space reads as zeros anyway. Nothing goes by whether it works.
    private mutating func touchAhead() {
        let count = min(aheadByteCount, reservedEnd - touchedEnd)
        guard count > 0 else { return }
        aheadByteCount = min(aheadByteCount * 2, Self.zeros.count)
        do throws(Errno) {
            try Self.zeros.withBytes { zeros throws(Errno) in
                try file.writeAll([UnsafeRawBufferPointer(rebasing: zeros[..<count])], at: Int64(touchedEnd))
            }
            touchedEnd += count
        } catch {
            // Not to be tried again with each commit.
            touchedEnd = reservedEnd
        }
    }

    // MARK: Space

    /// Makes sure that there is space up to an offset, and reserves more at once.
    ///
    /// - Parameters:
    ///   - minimum: so much more at least.
    ///   - limit: where the segment is left.
    mutating func reserve(to offset: Int, minimum: Int, limit: @autoclosure () -> Int) throws(StoreError) {
        guard offset > reservedEnd else { return }
        // Steps grow with the segment, so that a small store stays small and a busy one rarely asks.
        let step = min(max(minimum, reservedEnd), 16 << 20)
        let target = max(offset, min(reservedEnd + step, limit()))
        reservedEnd = try io("preallocate", path) { () throws(Errno) in
            try Self.preallocate(file, from: reservedEnd, to: target, atLeastTo: offset)
        }
    }

    /// Reserves space up to an offset and returns that; or up to a smaller one, which there has to be: a nearly full
    /// disk may still take what is to be written, if not the reserve for what comes after it.
    private static func preallocate(
        _ file: any File, from start: Int, to target: Int, atLeastTo offset: Int
    ) throws(Errno) -> Int {
        do throws(Errno) {
            try file.preallocate(from: Int64(start), byteCount: Int64(target - start))
            return target
        } catch {
            guard error == .noSpace, target > offset else { throw error }
            try file.preallocate(from: Int64(start), byteCount: Int64(offset - start))
            return offset
        }
    }

    /// Gives back all space behind the end of the records.
    mutating func cut(to end: Int) throws(Errno) {
        try file.truncate(to: Int64(end))
        reservedEnd = end
        touchedEnd = end
    }
}
