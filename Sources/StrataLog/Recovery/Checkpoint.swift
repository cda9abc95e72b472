internal import StrataIO
internal import StrataSupport
internal import SystemPackage

/// A file that holds the index as it was at one point of the log, so that opening replays only what came after.
///
/// A cache: damaged or lost, the index is rebuilt from the log. Sections (pages of object indexes and postings) come
/// first, then the directory, then a trailer of 64 bytes at the end of the file:
///
/// | offset | bytes | what |
/// |---|---|---|
/// | 0 | 8 | "STRACHK1" |
/// | 8 | 16 | store UUID |
/// | 24 | 8 | offset of the directory |
/// | 32 | 8 | length of the directory |
/// | 40 | 4 | CRC-32C of the directory |
/// | 44 | 4 | number of the checkpoint |
/// | 48 | 4 | CRC-32C of everything before the directory |
/// | 52 | 8 | reserved, 0 |
/// | 60 | 4 | CRC-32C of the 60 bytes before |
struct Checkpoint {
    static let magic: [UInt8] = Array("STRACHK1".utf8)
    static let trailerByteCount = 64
    static let directoryMaximumByteCount = 256 << 20
    /// Checkpoints up to this size are checked to the last byte when they are opened (a fraction of a millisecond); of
    /// larger ones each page when it is first touched.
    static let checkedMaximumByteCount: Int64 = 1 << 20

    var number: UInt32
    var snapshot: Snapshot
    var storeState: StoreState

    /// What the directory says, in the order in which it is stored.
    struct Directory {
        var end: LogPosition
        var sequence: UInt64
        var timestampNanoseconds: Int64
        var checksum: UInt32
        var storeState: StoreState
        var counts: [(entity: UInt16, count: UInt64)] = []
        var indexes: [(root: UInt16, section: CheckpointSection)] = []
        var postings: [(id: UInt16, section: CheckpointSection)] = []
        /// Of the ordered indexes, which say themselves what they are over.
        var ordered: [CheckpointSection] = []

        func encoded() -> [UInt8] {
            var writer = ByteWriter()
            writer.append(end.segment)
            writer.append(UInt64(end.offset))
            writer.append(sequence)
            writer.append(timestampNanoseconds)
            writer.append(checksum)
            storeState.append(to: &writer)
            writer.append(UInt32(counts.count))
            for entry in counts {
                writer.append(entry.entity)
                writer.append(entry.count)
            }
            for sections in [indexes.map { ($0.root, $0.section) }, postings.map { ($0.id, $0.section) }] {
                writer.append(UInt32(sections.count))
                for (id, section) in sections {
                    writer.append(id)
                    writer.append(section.offset)
                    writer.append(UInt64(section.byteCount))
                }
            }
            // Always there, so that what follows is told apart from it.
            writer.append(UInt32(ordered.count))
            for section in ordered {
                writer.append(section.offset)
                writer.append(UInt64(section.byteCount))
            }
            storeState.compaction.append(to: &writer)
            return writer.bytes
        }

        init(end: LogPosition, sequence: UInt64, timestampNanoseconds: Int64, checksum: UInt32, storeState: StoreState)
        {
            self.end = end
            self.sequence = sequence
            self.timestampNanoseconds = timestampNanoseconds
            self.checksum = checksum
            self.storeState = storeState
        }

        init(_ bytes: UnsafeRawBufferPointer, fileByteCount: Int64) throws(MalformedBytes) {
            var reader = ByteReader(bytes)
            let segment = try reader.read(UInt32.self)
            let offset = try reader.read(UInt64.self)
            guard segment > 0, segment <= Location.maximumSegment, offset >= UInt64(SegmentHeader.byteCount),
                offset <= UInt64(Location.segmentMaximumBytes), offset % UInt64(Location.alignmentBytes) == 0
            else { throw reader.malformed("log position") }
            end = LogPosition(segment: segment, offset: Int(offset))
            sequence = try reader.read()
            guard sequence <= RecordHeader.maximumSequence else { throw reader.malformed("sequence number") }
            timestampNanoseconds = try reader.read()
            checksum = try reader.read()
            storeState = try StoreState(from: &reader)
            for _ in 0..<(try reader.readCount(minimumByteCount: 10)) {
                let entity = try reader.read(UInt16.self)
                let count = try reader.read(UInt64.self)
                guard count <= ObjectRef.maximumKey else { throw reader.malformed("count of entity \(entity)") }
                counts.append((entity, count))
            }
            indexes = try Self.readSections(&reader, fileByteCount)
            postings = try Self.readSections(&reader, fileByteCount)
            for _ in 0..<(try reader.readCount(minimumByteCount: 16)) {
                ordered.append(try Self.readSection(&reader, fileByteCount))
            }
            storeState.compaction = try CompactionState(from: &reader)
        }

        private static func readSection(
            _ reader: inout ByteReader, _ fileByteCount: Int64
        ) throws(MalformedBytes) -> CheckpointSection {
            let offset = try reader.read(Int64.self)
            let byteCount = try reader.read(UInt64.self)
            guard offset >= 0, offset <= fileByteCount, byteCount <= UInt64(fileByteCount - offset) else {
                throw reader.malformed("section outside of the file")
            }
            return CheckpointSection(offset: offset, byteCount: Int(byteCount))
        }

        private static func readSections(
            _ reader: inout ByteReader, _ fileByteCount: Int64
        ) throws(MalformedBytes) -> [(UInt16, CheckpointSection)] {
            var sections: [(UInt16, CheckpointSection)] = []
            for _ in 0..<(try reader.readCount(minimumByteCount: 18)) {
                let id = try reader.read(UInt16.self)
                sections.append((id, try readSection(&reader, fileByteCount)))
            }
            return sections
        }
    }

    // MARK: Reading

    /// Opens a checkpoint; its pages are read when they are needed.
    ///
    /// - Throws: `.corruption` or `.io`: the caller goes on without it.
    ///
    /// - Parameter removesDamaged: whether the file is removed when a page turns out damaged later, so that the next
    ///   opening rebuilds the index
    ///   from the log.
    static func open(number: UInt32, source: BlockSource, removesDamaged: Bool) throws(StoreError) -> Checkpoint {
        let path = source.files.checkpoint(number)
        let file = try io("open", path) { () throws(Errno) in try source.files.open(path, .read) }
        let pages = CheckpointPages(file: file, path: path, files: removesDamaged ? source.files : nil)
        let byteCount = try io("measure", path) { () throws(Errno) in try file.byteCount() }
        let directory = try readDirectory(number, pages, byteCount, source.storeUUID)
        let layout = StoreLayout(directory.storeState.schemas)
        var indexes: [ObjectIndex] = []
        for root in layout.roots {
            if let entry = directory.indexes.first(where: { $0.root == root }) {
                indexes.append(try ObjectIndex.load(entry.section, from: pages))
            } else {
                indexes.append(ObjectIndex())
            }
        }
        var postings = NumberTable<Postings>()
        for entry in directory.postings {
            postings[entry.id] = try Postings.load(entry.section, from: pages)
        }
        var ordered: [OrderedIndex] = []
        for section in directory.ordered { ordered.append(try OrderedIndex.load(section, from: pages)) }
        var counts = [Int](repeating: 0, count: layout.entityLimit)
        for entry in directory.counts where Int(entry.entity) < counts.count {
            counts[Int(entry.entity)] = Int(entry.count)
        }
        let snapshot = Snapshot(
            sequence: directory.sequence, timestampNanoseconds: directory.timestampNanoseconds, layout: layout,
            indexes: indexes, postings: postings, counts: counts, source: source, end: directory.end,
            checksum: directory.checksum, ordered: OrderedIndexes(ordered))
        return Checkpoint(number: number, snapshot: snapshot, storeState: directory.storeState)
    }

    /// Reads a checkpoint whole and compares every checksum.
    ///
    /// - Throws: `.corruption` or `.io`.
    static func check(number: UInt32, source: BlockSource) throws(StoreError) {
        let path = source.files.checkpoint(number)
        let file = try io("open", path) { () throws(Errno) in try source.files.open(path, .read) }
        let pages = CheckpointPages(file: file, path: path, files: nil)
        let byteCount = try io("measure", path) { () throws(Errno) in try file.byteCount() }
        _ = try readDirectory(number, pages, byteCount, source.storeUUID, isWhole: true)
    }

    /// Where a checkpoint ends. Its pages are not looked at.
    ///
    /// - Throws: `.corruption` or `.io`.
    static func summary(
        _ number: UInt32, _ files: StoreFiles, _ storeUUID: StoreUUID
    ) throws(StoreError) -> CheckpointSummary {
        let path = files.checkpoint(number)
        let file = try io("open", path) { () throws(Errno) in try files.open(path, .read) }
        let byteCount = try io("measure", path) { () throws(Errno) in try file.byteCount() }
        let directory = try readDirectory(
            number, CheckpointPages(file: file, path: path, files: nil), byteCount, storeUUID)
        return CheckpointSummary(
            number: number, end: directory.end, sequence: directory.sequence,
            timestampNanoseconds: directory.timestampNanoseconds, checksum: directory.checksum, byteCount: byteCount)
    }

    /// CRC-32C of the sections, which lie before the directory.
    private static func sectionsChecksum(_ pages: CheckpointPages, end: Int64) throws(StoreError) -> UInt32 {
        var crc: UInt32 = 0
        var offset: Int64 = 0
        while offset < end {
            let piece = try pages.read(count: Int(min(end - offset, checkedMaximumByteCount)), at: offset)
            defer { piece.deallocate() }
            crc = checksum(UnsafeRawBufferPointer(piece), continuing: crc)
            offset += Int64(piece.count)
        }
        return crc
    }

    private static func readDirectory(
        _ number: UInt32, _ pages: CheckpointPages, _ byteCount: Int64, _ storeUUID: StoreUUID, isWhole: Bool = false
    ) throws(StoreError) -> Directory {
        func damaged(_ what: String) -> StoreError {
            StoreError(.corruption, "checkpoint: \(what)", path: pages.path.string)
        }
        guard byteCount >= Int64(trailerByteCount) else { throw damaged("too short") }
        let trailer = try pages.read(count: trailerByteCount, at: byteCount - Int64(trailerByteCount))
        do {
            var reader = ByteReader(UnsafeRawBufferPointer(trailer))
            defer { trailer.deallocate() }
            let magic = try reader.read(count: 8)
            let uuid = StoreUUID(high: try reader.read(), low: try reader.read())
            let offset = try reader.read(Int64.self)
            let length = try reader.read(Int64.self)
            let crc = try reader.read(UInt32.self)
            let storedNumber = try reader.read(UInt32.self)
            let sectionsChecksum = try reader.read(UInt32.self)
            _ = try reader.read(count: 8)
            let trailerChecksum = try reader.read(UInt32.self)
            guard magic.elementsEqual(Self.magic),
                checksum(UnsafeRawBufferPointer(rebasing: trailer[..<60])) == trailerChecksum,
                uuid == storeUUID, storedNumber == number, offset >= 0, length >= 0,
                length <= Int64(directoryMaximumByteCount), length <= byteCount - offset
            else { throw damaged("trailer does not match") }
            if isWhole || offset <= checkedMaximumByteCount,
                try Self.sectionsChecksum(pages, end: offset) != sectionsChecksum
            {
                throw damaged("checksum mismatch in its sections")
            }
            let bytes = try pages.read(count: Int(length), at: offset)
            defer { bytes.deallocate() }
            guard checksum(UnsafeRawBufferPointer(bytes)) == crc else { throw damaged("directory checksum mismatch") }
            return try Directory(UnsafeRawBufferPointer(bytes), fileByteCount: byteCount)
        } catch let error as StoreError {
            throw error
        } catch {
            throw damaged("directory: \((error as? MalformedBytes)?.reason ?? "")")
        }
    }

    // MARK: Writing

    /// Writes a snapshot as checkpoint `number` and makes it durable under its final name.
    ///
    /// - Precondition: the log is durable up to the snapshot's end: a checkpoint may not know more than the log.
    static func write(number: UInt32, snapshot: Snapshot, storeState: StoreState) throws(StoreError) {
        let files = snapshot.source.files
        let path = files.unfinishedCheckpoint(number)
        if try io("look for", path, { () throws(Errno) in try files.attributes(path) != nil }) {
            try io("remove", path) { () throws(Errno) in try files.remove(path) }
        }
        let file = try io("create", path) { () throws(Errno) in try files.open(path, .create) }
        do throws(StoreError) {
            let sink = CheckpointFileSink(file: file, path: path)
            try write(number: number, snapshot: snapshot, storeState: storeState, to: sink)
            try io("flush", path) { () throws(Errno) in try file.sync() }
            try io("close", path) { () throws(Errno) in try file.close() }
            let final = files.checkpoint(number)
            try io("rename", path) { () throws(Errno) in try files.rename(path, to: final) }
            try io("flush directory", files.directory) { () throws(Errno) in
                try files.sync()
            }
        } catch {
            try? file.close()
            try? files.remove(path)
            throw error
        }
    }

    private static func write(
        number: UInt32, snapshot: Snapshot, storeState: StoreState, to sink: CheckpointFileSink
    ) throws(StoreError) {
        var directory = Directory(
            end: snapshot.end, sequence: snapshot.sequence, timestampNanoseconds: snapshot.timestampNanoseconds,
            checksum: snapshot.checksum, storeState: storeState)
        for (entity, count) in snapshot.counts.enumerated() where count > 0 {
            directory.counts.append((UInt16(entity), UInt64(count)))
        }
        for (root, index) in zip(snapshot.layout.roots, snapshot.indexes) {
            directory.indexes.append((root, try index.encode(into: sink)))
        }
        for (id, list) in zip(snapshot.postings.numbers, snapshot.postings.values) {
            directory.postings.append((UInt16(id), try list.encode(into: sink)))
        }
        for index in snapshot.ordered.list where index.isReady {
            do throws(StoreError) {
                directory.ordered.append(try index.encode(into: sink))
            } catch {
                // A block of the file before that is damaged or cannot be read: the index is left out, and built anew
                // with the next opening.
                guard error.isOfCheckpoint else { throw error }
            }
        }
        let bytes = directory.encoded()
        let offset = sink.position
        let sectionsChecksum = sink.checksum
        try bytes.withBytes { bytes throws(StoreError) in try sink.write(bytes) }
        var trailer = ByteWriter()
        trailer.append(bytes: magic)
        trailer.append(snapshot.source.storeUUID.high)
        trailer.append(snapshot.source.storeUUID.low)
        trailer.append(offset)
        trailer.append(Int64(bytes.count))
        trailer.append(bytes.withUnsafeBytes { checksum($0) })
        trailer.append(number)
        trailer.append(sectionsChecksum)
        trailer.pad(toMultipleOf: 60)
        trailer.append(trailer.bytes.withUnsafeBytes { checksum($0) })
        try trailer.bytes.withBytes { bytes throws(StoreError) in try sink.write(bytes) }
        try sink.flush()
    }
}

/// Reads pages of a checkpoint with pread(2): a page the disk cannot give is an error, where a mapped one would end
/// the process.
final class CheckpointPages: PageSource {
    let path: FilePath
    private let file: any File
    /// Nil where nothing may be removed.
    private let files: StoreFiles?

    init(file: any File, path: FilePath, files: StoreFiles?) {
        self.file = file
        self.path = path
        self.files = files
    }

    var name: String { path.string }

    /// Removes the file: a cache that is wrong is worse than none.
    func reportDamage() {
        try? files?.remove(path)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) {
        do throws(StoreError) {
            let isComplete = try io("read", path) { () throws(Errno) in try file.readAll(into: buffer, at: offset) }
            guard isComplete else {
                throw StoreError(.corruption, "checkpoint: the file ends early", path: path.string, offset: Int(offset))
            }
        } catch {
            throw error.ofCheckpoint
        }
    }

    /// Memory for the caller to deallocate.
    func read(count: Int, at offset: Int64) throws(StoreError) -> UnsafeMutableRawBufferPointer {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        do throws(StoreError) {
            try read(into: buffer, at: offset)
            return buffer
        } catch {
            buffer.deallocate()
            throw error
        }
    }
}

/// Appends to a checkpoint file in pieces of 256 KiB.
final class CheckpointFileSink: CheckpointSink {
    private static let bufferByteCount = 256 << 10
    /// Flushed that often, so that a commit which flushes meanwhile does not wait for a whole checkpoint to reach the
    /// disk.
    private static let flushByteCount = 256 << 10

    private let file: any File
    let path: FilePath
    private let buffer: UnsafeMutableRawBufferPointer
    private var buffered = 0
    private var written: Int64 = 0
    private var unflushed = 0
    /// CRC-32C of everything appended so far.
    private(set) var checksum: UInt32 = 0

    init(file: any File, path: FilePath) {
        self.file = file
        self.path = path
        buffer = .allocate(byteCount: Self.bufferByteCount, alignment: 16)
    }

    deinit {
        buffer.deallocate()
    }

    var position: Int64 { written + Int64(buffered) }

    func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
        checksum = StrataLog.checksum(bytes, continuing: checksum)
        if bytes.count > buffer.count - buffered { try flush() }
        if bytes.count > buffer.count {
            try write(through: bytes)
        } else if !bytes.isEmpty {
            UnsafeMutableRawBufferPointer(rebasing: buffer[buffered...]).copyMemory(from: bytes)
            buffered += bytes.count
        }
    }

    func flush() throws(StoreError) {
        let pending = UnsafeRawBufferPointer(rebasing: buffer[..<buffered])
        buffered = 0
        try write(through: pending)
    }

    private func write(through bytes: UnsafeRawBufferPointer) throws(StoreError) {
        guard !bytes.isEmpty else { return }
        try io("write", path) { () throws(Errno) in try file.writeAll([bytes], at: written) }
        written += Int64(bytes.count)
        unflushed += bytes.count
        if unflushed >= Self.flushByteCount {
            try io("flush", path) { () throws(Errno) in try file.syncData() }
            unflushed = 0
        }
    }
}
