internal import StrataIO
internal import StrataSupport
internal import SystemPackage

// The store's directory, the lock in it, and the names of its files.
extension StoreOpener {
    /// Looks whether there is a directory that is a store, or may become one.
    ///
    /// - Returns: false when there is none, and it may be made.
    func checkDirectory() throws(StoreError) -> Bool {
        let path = files.directory
        let attributes = try io("look for", path) { () throws(Errno) in try files.fileSystem.attributes(path) }
        guard let attributes else {
            let directory = try StoreDirectory(path, files.fileSystem)
            guard isWritable, options.createsIfMissing else { throw try directory.missing() }
            return false
        }
        guard attributes.isDirectory else {
            throw StoreError(
                .unsupportedFormat, "a Strata store is a directory, and this is a file of another kind",
                path: path.string)
        }
        guard isWritable else { return true }
        // Before a lock is put into it: what is no store is left as it is.
        let listing = try files.list()
        if listing.isForeign {
            guard options.createsIfMissing else { throw noStore }
            try checkIsEmpty(listing)
        }
        return true
    }

    var noStore: StoreError {
        StoreError(.notFound, "there is no store in the directory", path: files.directory.string)
    }

    private func checkIsEmpty(_ listing: StoreFiles.Listing) throws(StoreError) {
        guard listing.foreign.isEmpty else {
            throw StoreError(
                .unsupportedFormat,
                "the directory holds other files (\(listing.foreign.shortList)): a store is made only in a directory that "
                    + "is empty or missing",
                path: files.directory.string)
        }
    }

    /// A store is made only where there is nothing, not even of a store that cannot be read.
    func checkMayBeMade(_ listing: StoreFiles.Listing, _ manifest: Manifest?) throws(StoreError) {
        try checkIsNoStore(listing, manifest)
        guard options.createsIfMissing else { throw noStore }
        try checkIsEmpty(listing)
    }

    /// Without a segment that can be read there may still be a store, which is damaged then.
    func checkIsNoStore(_ listing: StoreFiles.Listing, _ manifest: Manifest?) throws(StoreError) {
        guard !listing.isVoid else { return }
        if let manifest {
            throw StoreError(
                .corruption, "the manifest names segment \(manifest.segment), and there are none",
                path: files.directory.string)
        }
        guard listing.canBeUnborn else {
            throw StoreError(
                .corruption,
                "there are files of a store, and its log is missing or cannot be read. Nothing was changed",
                path: files.directory.string)
        }
    }

    /// The store's directory, made if need be, and the lock in it.
    ///
    /// Whoever fails to make a store takes its lock file away again, and the directory. So a lock counts only if it
    /// is the one that the directory has once it has been taken: otherwise two processes could each hold one.
    ///
    /// From here on the directory is held, and everything is looked up in it.
    mutating func prepareDirectoryAndLock() throws(StoreError) -> any File {
        for _ in 0..<Self.lockAttempts {
            try takeLockBeside()
            hasMadeDirectory = false
            if try !checkDirectory() {
                // Without the lock beside it, it may be about to be replaced.
                guard hasLookedBeside else { continue }
                try makeDirectory()
            }
            do throws(StoreError) {
                files = try files.holding()
                hasMadeLock = try isMissing(files.lock)
                let lock = try takeLock()
                if try isInPlace(lock) {
                    files.lockIdentity = try io("look at", files.lock) { () throws(Errno) in try lock.identity() }
                    return lock
                }
                try? lock.close()
            } catch {
                // The directory went between the two steps.
                guard error.code == .io, error.errno == .noSuchFileOrDirectory else { throw error }
            }
        }
        throw StoreError(.locked, "other processes make and remove the store", path: files.directory.string)
    }

    /// Keeps others from making, replacing and removing the directory if it is missing or one of these was interrupted,
    /// and ends what was.
    private mutating func takeLockBeside() throws(StoreError) {
        guard beside == nil else { return }
        hasLookedBeside = false
        let directory = try StoreDirectory(files.directory, files.fileSystem)
        let isMissing = try directory.attributes(directory.path) == nil
        if !isMissing || !options.createsIfMissing, try !directory.isUnfinished { return }
        beside = try DirectoryLock.take(directory.lockPath, files.fileSystem)
        hasLookedBeside = true
        if let beside { try directory.finish(beside) }
    }

    private mutating func makeDirectory() throws(StoreError) {
        let path = files.directory
        do throws(Errno) {
            try files.fileSystem.createDirectory(path)
            hasMadeDirectory = true
        } catch .fileExists {
            // Another process was quicker; the lock decides.
        } catch {
            throw StoreError(.io, "could not create directory", errno: error, path: path.string)
        }
    }

    private static var lockAttempts: Int { 16 }

    private func isMissing(_ path: FilePath) throws(StoreError) -> Bool {
        try io("look at", path) { () throws(Errno) in try files.attributes(path) == nil }
    }

    /// Gives the lock back after an opening that failed, and takes its file away where there was none.
    func giveUp(_ lock: any File) {
        if hasMadeLock, (try? isInPlace(lock)) == true { try? files.remove(files.lock) }
        try? lock.close()
    }

    func isInPlace(_ lock: any File) throws(StoreError) -> Bool {
        let path = files.lock
        return try io("look at", path) { () throws(Errno) in
            guard let identity = try lock.identity() else { return true }
            return try files.attributes(path)?.identity == identity && !files.isElsewhere
        }
    }

    func takeLock() throws(StoreError) -> any File {
        let path = files.lock
        let file = try io("open", path) { () throws(Errno) in try files.open(path, .createIfMissing) }
        let isTaken = try io("lock", path) { () throws(Errno) in try file.tryLockExclusively() }
        guard isTaken else {
            let holder = LockHolder.read(file)
            try? file.close()
            throw StoreError(
                .locked,
                holder.map { "the store is being written by process \($0)" }
                    ?? "the store is being written by another process",
                path: files.directory.string)
        }
        // Only for the message that a second writer gets: a full disk must not keep the first one out.
        try? LockHolder.write(file)
        return file
    }

    func syncNames(isNew: Bool) throws(StoreError) {
        let directory = files.directory
        let parent = directory.directoryAbove
        try io("flush directory", directory) { () throws(Errno) in
            try files.sync()
            // The manifest is written last: without one the store's own name may not have been flushed either.
            if isNew { try files.fileSystem.syncDirectory(parent) }
        }
    }

    /// Files of interrupted work.
    func leftovers(_ listing: StoreFiles.Listing, _ holes: SegmentHoles) -> [FilePath] {
        listing.segments.filter { holes.contains($0) }.map { files.segment($0) }
            + listing.unfinished.map { files.unfinishedCheckpoint($0) }
            + [unfinishedSegment].compactMap { $0.map { files.segment($0) } }
    }
}
