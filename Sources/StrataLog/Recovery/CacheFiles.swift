public import StrataIO
public import SystemPackage

// The files of a store that can be made anew from the log: checking them needs no open store.
extension VerifyReport {
    /// Checks manifest, checkpoints and the page that readers share.
    ///
    /// - Throws: `.io`.
    mutating func checkCaches(_ source: BlockSource) throws(StoreError) {
        let files = source.files
        let listing = try files.list()
        if listing.others.contains("MANIFEST") { try checkManifest(files, source.storeUUID) }
        for number in listing.checkpoints {
            do throws(StoreError) {
                try Checkpoint.check(number: number, source: source)
            } catch {
                // A writer removes the older ones.
                if error.errno == .noSuchFileOrDirectory { continue }
                guard error.code != .io else { throw error }
                recordCache(error)
            }
        }
        try checkTail(files)
    }

    private mutating func checkManifest(_ files: StoreFiles, _ storeUUID: StoreUUID) throws(StoreError) {
        let path = files.manifest
        let file = try io("open", path) { () throws(Errno) in try files.open(path, .read) }
        var sound = 0
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Manifest.slotByteCount, alignment: 16)
        defer { bytes.deallocate() }
        /// The slot, and whether something was ever written there.
        func read(_ offset: Int64) throws(StoreError) -> (slot: Manifest?, isWritten: Bool) {
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            _ = try io("read", path) { () throws(Errno) in try file.readPrefix(into: bytes, at: offset) }
            let slot = UnsafeRawBufferPointer(bytes)
            return (Manifest(slot), !slot.isZero)
        }
        for offset in Manifest.slotOffsets {
            // A writer may be writing it: then it is sound a moment later.
            var found = try read(offset)
            for _ in 0..<4 where found.slot == nil { found = try read(offset) }
            if !found.isWritten { continue }
            guard let slot = found.slot, slot.storeUUID == storeUUID else {
                recordCache(
                    StoreError(
                        .corruption, "a slot of the manifest is damaged, or another store's", path: path.string,
                        offset: Int(offset)))
                continue
            }
            sound += 1
        }
        if sound == 0 {
            recordCache(StoreError(.corruption, "the manifest has no sound slot", path: path.string))
        }
    }

    private mutating func checkTail(_ files: StoreFiles) throws(StoreError) {
        let found = try io("look for", files.tail) { () throws(Errno) in try files.attributes(files.tail) }
        guard let found, found.byteCount > 0, found.byteCount < 4096 else { return }
        recordCache(
            StoreError(
                .corruption, "the page that readers share is \(found.byteCount) bytes long", path: files.tail.string))
    }
}

extension LogStore {
    /// Checks a store that cannot be opened: names every damaged place of its log, its manifest and its checkpoints.
    /// Opens and changes nothing.
    ///
    /// - Parameters:
    ///   - directory: of the store, which nobody writes meanwhile.
    ///   - fileSystem: where the directory is.
    ///   - progress: called after each segment with the bytes done and all bytes.
    /// - Throws: `.io` when a file cannot be read; `.notFound` when there are no segments.
    /// - Complexity: reads every byte twice.
    public static func verifyFiles(
        _ directory: FilePath, in fileSystem: any FileSystem, progress: (Int, Int) -> Void = { _, _ in }
    ) throws(StoreError) -> VerifyReport {
        let files = try StoreFiles(fileSystem: fileSystem, directory: directory).holding()
        let segments = try files.list().segments
        guard !segments.isEmpty else {
            throw StoreError(.notFound, "there are no segments of a store", path: directory.string)
        }
        let source = BlockSource(
            files: files, storeUUID: try identity(files, segments), cacheMaximumBytes: 0)
        /// A reader keeps a window of the file in memory: there is one at a time.
        func reader(_ segment: UInt32, limit: Int? = nil) throws(StoreError) -> RecordReader {
            try RecordReader(
                files: files, storeUUID: source.storeUUID, segment: segment, file: try source.file(segment: segment),
                limit: limit)
        }
        // Damage that both passes meet is told once.
        var first = LogScrubber(source, schemas: [])
        var total = 0
        for segment in segments {
            let whole = try reader(segment)
            total += whole.limit
            try first.readSchemas(whole)
        }
        var scrubber = LogScrubber(source, schemas: first.knownSchemas)
        var done = 0
        for (index, segment) in segments.enumerated() {
            // What follows the end of a segment that the next one tells of is left over from a failed write.
            var limit: Int?
            if index + 1 < segments.count, let next = try header(reader(segments[index + 1])),
                next.previousSegment == segment
            {
                limit = next.previousValidByteCount
            }
            let bounded = try reader(segment, limit: limit)
            try scrubber.scrub(bounded)
            done += bounded.limit
            progress(done, max(done, total))
        }
        var report = scrubber.report
        try report.checkCaches(source)
        return report
    }

    private static func header(_ reader: RecordReader) throws(StoreError) -> SegmentHeader? {
        do throws(StoreError) {
            return try reader.segmentHeader()
        } catch {
            guard error.code != .io else { throw error }
            return nil
        }
    }

    /// What the first segment says whose header can be read, or else the manifest.
    private static func identity(_ files: StoreFiles, _ segments: [UInt32]) throws(StoreError) -> StoreUUID {
        for segment in segments {
            let path = files.segment(segment)
            let file = try io("open", path) { () throws(Errno) in try files.open(path, .read) }
            let unknown = StoreUUID(high: 0, low: 0)
            let reader = try RecordReader(files: files, storeUUID: unknown, segment: segment, file: file)
            if let header = try header(reader) { return header.storeUUID }
        }
        return Manifest.read(files)?.storeUUID ?? StoreUUID(high: 0, low: 0)
    }
}
