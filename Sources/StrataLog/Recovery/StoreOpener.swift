internal import StrataIO
internal import SystemPackage

/// Opens stores: reads the manifest, loads the newest sound checkpoint, replays the log's tail, and cuts a torn one.
struct StoreOpener {
    let files: StoreFiles
    let options: LogOptions
    var report = RecoveryReport()
    var hasMadeDirectory = false
    /// Where reading ends for those who do not write.
    var bound = Bound.complete

    init(files: StoreFiles, options: LogOptions) {
        self.files = files
        self.options = options
    }

    var isWritable: Bool {
        if case .readWrite = options.access { true } else { false }
    }

    mutating func open(schema: Schema?) throws(StoreError) -> OpenedStore {
        guard isWritable else {
            try prepareDirectory()
            return try openBeside()
        }
        let lock = try prepareDirectoryAndLock()
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
            try? lock.close()
            throw error
        }
    }

    // MARK: A new store

    /// Makes a new store or leaves nothing of it: after a failed flush of a directory only names that are made anew
    /// can become durable.
    private mutating func createOrAbandon(
        _ schema: Schema?, _ manifest: Manifest?, _ lock: any File
    ) throws(StoreError) -> OpenedStore {
        do throws(StoreError) {
            return try create(schema, manifest, lock)
        } catch {
            if error.code == .io {
                // A manifest without the segment that it names would be corruption, should the process end in between.
                for path in [files.manifest, files.segment(1)] { try? files.fileSystem.unlink(path) }
                if hasMadeDirectory {
                    try? files.fileSystem.unlink(files.lock)
                    try? files.fileSystem.removeDirectory(files.directory)
                }
            }
            throw error
        }
    }

    private mutating func create(
        _ schema: Schema?, _ manifest: Manifest?, _ lock: any File
    ) throws(StoreError) -> OpenedStore {
        if let manifest {
            throw StoreError(
                .corruption, "the manifest names segment \(manifest.segment), and there are none",
                path: files.directory.string)
        }
        guard options.createsIfMissing else {
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
}
