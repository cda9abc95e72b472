internal import StrataIO
internal import SystemPackage

/// Opens stores: reads the manifest, loads the newest sound checkpoint, replays the log's tail, and cuts a torn one.
struct StoreOpener {
    var files: StoreFiles
    let options: LogOptions
    var report = RecoveryReport()
    var hasMadeDirectory = false
    /// Whether there was no lock in the directory.
    var hasMadeLock = false
    /// The lock beside the directory, held while a store is made or what was interrupted is ended.
    var beside: DirectoryLock?
    /// Whether that lock was asked for, also in vain.
    var hasLookedBeside = false
    /// A segment that was being made when a process died.
    var unfinishedSegment: UInt32?
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
            _ = try checkDirectory()
            return try openBeside()
        }
        defer { beside?.release() }
        let lock = try prepareDirectoryAndLock()
        do throws(StoreError) {
            var listing = try files.list()
            if listing.isVoid { return try createOrAbandon(schema, nil, listing, lock) }
            let manifest = Manifest.read(files)
            let source = BlockSource(
                files: files, storeUUID: try identity(manifest, listing) ?? options.newStoreUUID ?? .random(),
                cacheMaximumBytes: options.cacheMaximumBytes)
            let found = listing
            try dropUnfinishedSegments(&listing, manifest, source)
            if listing.segments.isEmpty {
                return try createOrAbandon(schema, manifest, found, lock)
            }
            return try recover(listing, manifest, source, lock)
        } catch {
            giveUp(lock)
            throw error
        }
    }

    // MARK: A new store

    /// Makes a new store or leaves nothing of it: after a failed flush of a directory only names that are made anew
    /// can become durable.
    private mutating func createOrAbandon(
        _ schema: Schema?, _ manifest: Manifest?, _ listing: StoreFiles.Listing, _ lock: any File
    ) throws(StoreError) -> OpenedStore {
        do throws(StoreError) {
            try checkMayBeMade(listing, manifest)
        } catch {
            // What is left of a store that was being removed goes in any case.
            if listing.isVoid, error.code == .notFound { try files.empty() }
            throw error
        }
        do throws(StoreError) {
            return try create(schema, listing, lock)
        } catch {
            if error.code == .io { abandon() }
            throw error
        }
    }

    /// Takes back what was made of a store. From its first step on, what is there counts for nothing.
    private func abandon() {
        guard (try? files.makeVoid()) != nil, (try? files.sync()) != nil else {
            return
        }
        for path in [files.manifest, files.segment(1)] { try? files.remove(path) }
        try? files.sync()
        try? files.remove(files.void)
        if hasMadeDirectory, !files.isElsewhere {
            try? files.remove(files.lock)
            try? files.fileSystem.removeDirectory(files.directory)
        }
    }

    private mutating func create(
        _ schema: Schema?, _ listing: StoreFiles.Listing, _ lock: any File
    ) throws(StoreError) -> OpenedStore {
        // Until the store is complete it counts as none, whatever a crash makes of its files.
        try files.makeVoid()
        // An earlier attempt may have died between making the directory and flushing its name.
        try syncNames(isNew: true)
        if listing.holdsSomething { try files.removeAll { $0 != "STRATA-VOID" && $0 != "LOCK" } }
        let source = BlockSource(
            files: files, storeUUID: options.newStoreUUID ?? .random(), cacheMaximumBytes: options.cacheMaximumBytes)
        var storeState = StoreState()
        if let schema { storeState.schemas = [NumberedSchema(version: 1, schema: schema)] }
        source.setSchemas(storeState.schemas)
        var mayReappear = false
        let created = try OpenSegment.create(
            1, after: .start, files: files, source: source, options: options, storeState: storeState,
            mayReappear: &mayReappear)
        // Should this process be killed before the directory has been flushed, the next one is to do that: it does if
        // the log is longer than is known to be durable.
        let first = Manifest(
            number: 1, storeUUID: source.storeUUID, segment: 1, checkpoint: 0,
            durable: LogPosition(segment: 1, offset: SegmentHeader.byteCount))
        try io("remove", files.void) { () throws(Errno) in try files.remove(files.void) }
        // Flushes the directory, too.
        try first.write(files)
        report.isNew = true
        let layout = StoreLayout(storeState.schemas)
        let snapshot = Snapshot.empty(layout: layout, source: source, end: created.end)
        return OpenedStore(
            files: files, source: source, lock: lock, snapshot: snapshot, storeState: storeState, checkpoint: 0,
            checkpointEnd: created.end.position, manifestNumber: 1, report: report,
            segment: created.segment, end: created.end)
    }
}
