package import StrataIO
internal import StrataSupport
internal import Synchronization
package import SystemPackage

/// Reads a store's log as bytes, beside its writer: whole records, without rows and index.
///
/// A segment that has been opened stays readable when compaction removes it. Safe to use from any thread; calls block.
package final class LogScanner: Sendable {
    /// How far the log counts.
    package struct Extent: Sendable, Hashable {
        package let end: LogPosition
        /// Whether the log itself says that it is durable up to there; otherwise ``LogScanner/flush(_:)`` makes it so.
        package let isDurable: Bool
    }

    /// Some records of a segment, one behind the other, and their bytes.
    package struct Run: Sendable {
        package let bytes: [UInt8]
        package let records: [LoggedRecord]
    }

    private struct Proven {
        var position = LogPosition(segment: 0, offset: 0)
        var scanned = LogPosition(segment: 0, offset: 0)
    }

    package let storeUUID: StoreUUID
    package let directory: FilePath
    private let files: StoreFiles
    private let tail: LogTail
    private let opened = Mutex<[UInt32: any File]>([:])
    private let proven = Mutex(Proven())

    /// - Throws: `.notFound` when there is no store; `.io`, `.corruption`, `.unsupportedFormat`.
    package init(_ directory: FilePath, in fileSystem: any FileSystem) throws(StoreError) {
        guard try io("look for", directory, { () throws(Errno) in try fileSystem.attributes(directory) }) != nil else {
            throw StoreError(.notFound, "there is no store", path: directory.string)
        }
        let resolved = try io("resolve", directory) { () throws(Errno) in try fileSystem.resolve(directory) }
        let files = try StoreFiles(fileSystem: fileSystem, directory: resolved).holding()
        let listing = try files.list()
        guard let first = listing.segments.first, !listing.isVoid else {
            throw StoreError(.notFound, "there is no store", path: directory.string)
        }
        self.files = files
        self.directory = resolved
        let file = try Self.open(first, files)
        storeUUID = try Self.start(of: first, in: file, files).storeUUID
        tail = LogTail(files, storeUUID: storeUUID)
    }

    // MARK: Files

    private static func open(_ segment: UInt32, _ files: StoreFiles) throws(StoreError) -> any File {
        let path = files.segment(segment)
        return try io("open", path) { () throws(Errno) in try files.open(path, .read) }
    }

    private static func start(
        of segment: UInt32, in file: any File, _ files: StoreFiles
    ) throws(StoreError) -> SegmentStart {
        let bytes = try read(file, files.segment(segment), at: 0, count: SegmentHeader.byteCount)
        return try bytes.withBytes { bytes throws(StoreError) in try SegmentStart(bytes, segment: segment) }
    }

    /// The bytes of a range, fewer where the file ends.
    private static func read(
        _ file: any File, _ path: FilePath, at offset: Int, count: Int
    ) throws(StoreError) -> [UInt8] {
        var failure: Errno?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, found in
            do throws(Errno) {
                let room = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
                found = try file.readPrefix(into: room, at: Int64(offset))
            } catch {
                failure = error
            }
        }
        if let failure { throw StoreError(.io, "could not read", errno: failure, path: path.string) }
        return bytes
    }

    /// Opens a segment if it is not open, so that its bytes stay.
    ///
    /// - Returns: false when it is not there (any more).
    @discardableResult
    package func hold(_ segment: UInt32) throws(StoreError) -> Bool {
        if opened.withLock({ $0[segment] != nil }) { return true }
        do throws(StoreError) {
            let file = try Self.open(segment, files)
            opened.withLock { $0[segment] = file }
            return true
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
            return false
        }
    }

    /// Opens the first segments of a range, as many as have so many bytes.
    package func hold(
        _ range: ClosedRange<UInt32>, maximumBytes: Int64, maximumCount: Int
    ) throws(StoreError) {
        var (bytes, count) = (Int64(0), 0)
        for segment in try readableSegments() where range.contains(segment) && count < maximumCount {
            guard try hold(segment) else { continue }
            bytes += Int64(try byteCount(of: segment))
            count += 1
            guard bytes <= maximumBytes else { return letGo(segment) }
        }
    }

    private func letGo(_ segment: UInt32) {
        opened.withLock { _ = $0.removeValue(forKey: segment) }
    }

    /// Closes the segments before one.
    package func letGo(before segment: UInt32) {
        opened.withLock { opened in opened = opened.filter { $0.key >= segment } }
    }

    private func file(_ segment: UInt32) throws(StoreError) -> any File {
        guard try hold(segment), let file = opened.withLock({ $0[segment] }) else {
            throw StoreError(
                .notFound, "the segment is gone", path: files.segment(segment).string, segment: segment)
        }
        return file
    }

    /// Makes the process that has the store open for writing refuse what it would write from now on, until it opens the
    /// store again. A commit that is being written is not kept from it.
    ///
    /// - Returns: whether it could be told. It cannot where the store's directory may not be written, or where
    ///   processes share no files in memory.
    @discardableResult
    package func refuseWrites() -> Bool {
        tail.reattach()
        return tail.page?.replaceWriter() ?? false
    }

    /// The numbers of the segments that can be read, ascending: those that are there, and those that are held.
    ///
    /// - Throws: as ``segments()``.
    package func readableSegments() throws(StoreError) -> [UInt32] {
        let held = opened.withLock { Array($0.keys) }
        return Set(try segments()).union(held).sorted()
    }

    /// The numbers of the segments that are there, ascending.
    ///
    /// - Throws: `.io`, with `ESTALE` when the directory is no longer at its path.
    package func segments() throws(StoreError) -> [UInt32] {
        guard !files.isElsewhere else { throw StoreError.displaced("could not read the log", files.directory) }
        return try files.list().segments
    }

    // MARK: The log

    /// What a segment's header says.
    ///
    /// - Throws: `.notFound` when it is not there; `.corruption`, `.io`.
    package func start(of segment: UInt32) throws(StoreError) -> SegmentStart {
        try Self.start(of: segment, in: try file(segment), files)
    }

    /// Whether somebody says that something may be new; without a system call where a writer announces what it does.
    package var announcedEnd: LogPosition? { tail.page?.announcement?.end }

    /// How far the log counts now: what a writer has announced, or else what the log says is durable.
    package func extent() throws(StoreError) -> Extent {
        if case .announced(let announcement) = try tail.state() {
            return Extent(end: announcement.end, isDurable: false)
        }
        return Extent(end: try provenEnd(), isDurable: true)
    }

    /// What manifest and records say is durable.
    private func provenEnd() throws(StoreError) -> LogPosition {
        let segments = try segments()
        guard let last = segments.last else {
            throw StoreError(.corruption, "the store has no log any more", path: files.directory.string)
        }
        var known = proven.withLock { $0 }
        if let manifest = Manifest.read(files), manifest.storeUUID == storeUUID {
            known.position = max(known.position, manifest.durable)
        }
        // A segment is made when everything before it has been flushed; the newest may be in the making.
        let newest: UInt32
        if (try? start(of: last)) != nil {
            newest = last
        } else {
            opened.withLock { _ = $0.removeValue(forKey: last) }
            guard segments.count > 1 else { return known.position }
            newest = segments[segments.count - 2]
        }
        if known.scanned.segment != newest {
            known.scanned = LogPosition(segment: newest, offset: SegmentHeader.byteCount)
        }
        let start = try start(of: newest)
        known.position = max(
            known.position, LogPosition(segment: start.previousSegment, offset: start.previousValidByteCount))
        while true {
            let offset = known.scanned.offset
            let bytes = try Self.read(
                try file(newest), files.segment(newest), at: offset, count: RecordHeader.byteCount)
            let header = try bytes.withBytes { bytes throws(StoreError) in
                try RecordHeader.parse(bytes, storeUUID: storeUUID, segment: newest, offset: offset)
            }
            guard let header, header.byteCount > 0 else { break }
            known.position = max(known.position, header.durable)
            // What is not durable may be written anew.
            guard known.position >= LogPosition(segment: newest, offset: offset + header.byteCount) else { break }
            known.scanned.offset = offset + header.byteCount
        }
        let result = known
        proven.withLock { $0 = result }
        return known.position
    }

    /// The records from a position on, as many as fit into so many bytes; at least one, and none that ends behind the
    /// limit. At offset 0 the first bytes are the segment's header.
    ///
    /// - Returns: no bytes where no complete record begins at the position.
    /// - Throws: `.corruption` when a record does not follow the one before; `.io`, `.unsupportedFormat`.
    package func run(
        from position: LogPosition, upTo limit: Int, previousChecksum: UInt32?, maximumBytes: Int
    ) throws(StoreError) -> Run {
        let (segment, path) = (position.segment, files.segment(position.segment))
        let file = try file(segment)
        var count = min(max(maximumBytes, RecordHeader.byteCount), limit - position.offset)
        guard count > 0 else { return Run(bytes: [], records: []) }
        while true {
            var bytes = try Self.read(file, path, at: position.offset, count: count)
            var records: [LoggedRecord] = []
            var previous = previousChecksum
            var end = position.offset == 0 ? SegmentHeader.byteCount : 0
            var needed: Int?
            try bytes.withBytes { bytes throws(StoreError) in
                while end < bytes.count {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[end...])
                    let offset = position.offset + end
                    guard
                        let record = try LoggedRecord(rest, storeUUID: storeUUID, segment: segment, offset: offset)
                    else {
                        needed = try LoggedRecord.byteCount(
                            rest, storeUUID: storeUUID, segment: segment, offset: offset)
                        return
                    }
                    guard previous == nil || record.previousChecksum == previous else {
                        throw StoreError(
                            .corruption, "a record does not follow the one before", path: path.string,
                            segment: segment, offset: offset)
                    }
                    previous = record.checksum
                    records.append(record)
                    end += record.range.count
                }
            }
            if records.isEmpty, let needed, end + needed > count, end + needed <= limit - position.offset {
                count = end + needed
                continue
            }
            if records.isEmpty { end = 0 }
            bytes.removeLast(bytes.count - end)
            return Run(bytes: bytes, records: records)
        }
    }

    /// The transactions of a segment up to one, and their times; none if the segment is not there.
    package func transactions(of segment: UInt32, through last: UInt64) throws(StoreError) -> [UInt64: Int64] {
        guard try hold(segment) else { return [:] }
        let limit = try byteCount(of: segment)
        var found: [UInt64: Int64] = [:]
        var position = LogPosition(segment: segment, offset: 0)
        while true {
            let run = try run(from: position, upTo: limit, previousChecksum: nil, maximumBytes: 1 << 20)
            for record in run.records where record.isTransaction {
                found[record.sequence] = record.timestampNanoseconds
            }
            guard !run.records.isEmpty, run.records.last?.sequence ?? last < last else { return found }
            position.offset += run.bytes.count
        }
    }

    /// The length of a segment's file, reserved space included.
    package func byteCount(of segment: UInt32) throws(StoreError) -> Int {
        let file = try file(segment)
        return Int(try io("measure", files.segment(segment)) { () throws(Errno) in try file.byteCount() })
    }

    /// The time of the record at a position; nil where there is none.
    package func time(at position: LogPosition) throws(StoreError) -> Int64? {
        let offset = max(position.offset, SegmentHeader.byteCount)
        let bytes = try Self.read(
            try file(position.segment), files.segment(position.segment), at: offset, count: RecordHeader.byteCount)
        return try bytes.withBytes { bytes throws(StoreError) in
            try RecordHeader.parse(bytes, storeUUID: storeUUID, segment: position.segment, offset: offset)
        }?.timestampNanoseconds
    }

    /// Whether a sound record lies at a position.
    package func hasRecord(at position: LogPosition) throws(StoreError) -> Bool {
        let limit = try byteCount(of: position.segment)
        return try !run(from: position, upTo: limit, previousChecksum: nil, maximumBytes: 1).records.isEmpty
    }

    /// The bytes of a segment's range, fewer where its file ends.
    package func bytes(of segment: UInt32, _ range: Range<Int>) throws(StoreError) -> [UInt8] {
        try Self.read(try file(segment), files.segment(segment), at: range.lowerBound, count: range.count)
    }

    /// Makes what is in a segment durable (fdatasync(2)).
    package func flush(_ segment: UInt32) throws(StoreError) {
        let file = try file(segment)
        do throws(Errno) {
            try file.syncData()
        } catch {
            // The next attempt must not be told that what this one could not write is durable.
            opened.withLock { _ = $0.removeValue(forKey: segment) }
            throw StoreError(.io, "could not flush", errno: error, path: files.segment(segment).string)
        }
    }

    // MARK: Checkpoints

    /// The newest checkpoint that can be read; nil where there is none.
    package func newestCheckpoint() throws(StoreError) -> CheckpointSummary? {
        for number in try files.list().checkpoints.reversed() {
            if let summary = try? Checkpoint.summary(number, files, storeUUID) { return summary }
        }
        return nil
    }

    /// A checkpoint's bytes; nil when it is not there any more.
    package func checkpoint(_ number: UInt32) throws(StoreError) -> [UInt8]? {
        let path = files.checkpoint(number)
        let file: any File
        do throws(Errno) {
            file = try files.open(path, .read)
        } catch {
            guard error != .noSuchFileOrDirectory else { return nil }
            throw StoreError(.io, "could not open", errno: error, path: path.string)
        }
        defer { try? file.close() }
        let count = try io("measure", path) { () throws(Errno) in try file.byteCount() }
        return try Self.read(file, path, at: 0, count: Int(count))
    }

    // MARK: Waiting

    /// Waits until a writer announces something else, at most so many milliseconds. Blocks the thread.
    package func wait(while end: LogPosition, milliseconds: Int32) {
        guard let page = tail.page, page.announcement?.end == end else { return pause(milliseconds: milliseconds) }
        let count = page.signalCount
        guard page.announcement?.end == end else { return }
        page.wait(while: count, milliseconds: milliseconds)
    }
}
