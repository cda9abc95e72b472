internal import StrataIO
internal import SystemPackage

/// Opens stores: reads the manifest, loads the newest sound checkpoint, replays the log's tail, and cuts a torn one.
struct StoreOpener {
    let files: StoreFiles
    let options: LogOptions
    var report = RecoveryReport()
    var hasMadeDirectory = false

    init(files: StoreFiles, options: LogOptions) {
        self.files = files
        self.options = options
    }

    var isWritable: Bool {
        if case .readWrite = options.access { true } else { false }
    }

    mutating func open(schema: Schema?) throws(StoreError) -> OpenedStore {
        try prepareDirectory()
        let lock = isWritable ? try takeLock() : nil
        // A reader may come while a compaction removes files: then it looks again.
        var attempts = isWritable ? 1 : 10
        while true {
            do throws(StoreError) {
                return try openOnce(schema, lock)
            } catch {
                attempts -= 1
                let isGone = error.code == .io && error.errno == .noSuchFileOrDirectory
                if attempts > 0, isGone {
                    report = RecoveryReport()
                    continue
                }
                try? lock?.close()
                throw error
            }
        }
    }

    private mutating func openOnce(_ schema: Schema?, _ lock: (any File)?) throws(StoreError) -> OpenedStore {
        let manifest = Manifest.read(files)
        var listing = try files.list()
        let source = BlockSource(
            files: files, storeUUID: try identity(manifest, listing), cacheMaximumBytes: options.cacheMaximumBytes)
        try dropUnfinishedSegments(&listing, manifest, source)
        if listing.segments.isEmpty {
            return try createOrAbandon(schema, manifest, lock)
        }
        return try recover(listing, manifest, source, lock)
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
}
