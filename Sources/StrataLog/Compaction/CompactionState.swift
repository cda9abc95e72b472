/// What compaction has done to the log, as far as a reader of the log has to know.
struct CompactionState: Hashable, Sendable {
    /// A record that repeats change tables of neighbouring transactions whose segments are gone or going.
    struct Archive: Hashable, Sendable {
        var first: UInt64
        var last: UInt64
        /// Where the record begins.
        var position: LogPosition
    }

    var holes = SegmentHoles()
    /// Ascending by their first transaction. Several may have the same transaction: then they say the same.
    private(set) var archives: [Archive] = []
    /// The history may lack transactions up to this one.
    var historyFloor: UInt64 = 0

    var isEmpty: Bool { holes.isEmpty && archives.isEmpty && historyFloor == 0 }

    mutating func add(_ archive: Archive) {
        guard !archives.contains(archive) else { return }
        archives.insert(archive, at: archives.firstIndex { $0.first > archive.first } ?? archives.count)
    }

    mutating func removeArchive(at position: LogPosition) {
        archives.removeAll { $0.position == position }
    }

    /// An archive that has the transaction.
    func archive(of sequence: UInt64) -> Archive? {
        archives.last { $0.first <= sequence && sequence <= $0.last }
    }

    /// Takes notice of segments that are no longer needed.
    mutating func apply(_ retirement: Retirement) {
        for entry in retirement.segments {
            holes.insert(entry.segment, previousValidByteCount: entry.previousValidByteCount)
        }
        historyFloor = max(historyFloor, retirement.historyFloor)
        let holes = holes
        let floor = historyFloor
        archives.removeAll { holes.contains($0.position.segment) || $0.last <= floor }
    }

    /// What a preamble repeats. Archives are found again by whoever reads the whole log.
    func appendToPreamble(_ writer: inout ByteWriter) {
        guard !holes.isEmpty || historyFloor > 0 else { return }
        holes.append(to: &writer)
        writer.append(historyFloor)
    }

    init() {}

    init(fromPreamble reader: inout ByteReader) throws(MalformedBytes) {
        guard reader.remaining > 0 else { return }
        holes = try SegmentHoles(from: &reader)
        historyFloor = try reader.read()
        guard historyFloor <= RecordHeader.maximumSequence else { throw reader.malformed("history floor") }
    }

    /// What a checkpoint repeats.
    func append(to writer: inout ByteWriter) {
        guard !isEmpty else { return }
        holes.append(to: &writer)
        writer.append(historyFloor)
        writer.append(UInt32(archives.count))
        for archive in archives {
            writer.append(archive.first)
            writer.append(archive.last)
            writer.append(archive.position.segment)
            writer.append(UInt64(archive.position.offset))
        }
    }

    init(from reader: inout ByteReader) throws(MalformedBytes) {
        try self.init(fromPreamble: &reader)
        guard reader.remaining > 0 else { return }
        for _ in 0..<(try reader.readCount(minimumByteCount: 28)) {
            let first = try reader.read(UInt64.self)
            let last = try reader.read(UInt64.self)
            let segment = try reader.read(UInt32.self)
            let offset = try reader.read(UInt64.self)
            guard first > 0, last >= first, last <= RecordHeader.maximumSequence, segment > 0,
                segment <= Location.maximumSegment, offset < UInt64(Location.segmentMaximumBytes),
                offset % UInt64(Location.alignmentBytes) == 0
            else { throw reader.malformed("archive of transactions \(first) to \(last)") }
            add(Archive(first: first, last: last, position: LogPosition(segment: segment, offset: Int(offset))))
        }
    }
}

/// The body of a retirement record: from here on the log does not need these segments.
struct Retirement {
    struct Entry {
        var segment: UInt32
        /// As the segment's own header says.
        var previousValidByteCount: Int
    }

    var segments: [Entry] = []
    /// Transactions up to this one may be missing from the history.
    var historyFloor: UInt64 = 0

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(historyFloor)
        writer.append(UInt32(segments.count))
        for entry in segments {
            writer.append(entry.segment)
            writer.append(UInt64(entry.previousValidByteCount))
        }
        return writer.bytes
    }

    init() {}

    init(from reader: inout ByteReader) throws(MalformedBytes) {
        historyFloor = try reader.read()
        guard historyFloor <= RecordHeader.maximumSequence else { throw reader.malformed("history floor") }
        for _ in 0..<(try reader.readCount(minimumByteCount: 12)) {
            let segment = try reader.read(UInt32.self)
            let byteCount = try reader.read(UInt64.self)
            guard segment > 0, segment < Location.maximumSegment, byteCount <= UInt64(Location.segmentMaximumBytes)
            else { throw reader.malformed("retired segment \(segment)") }
            segments.append(Entry(segment: segment, previousValidByteCount: Int(byteCount)))
        }
    }
}
