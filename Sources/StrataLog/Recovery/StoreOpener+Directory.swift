internal import StrataIO
internal import SystemPackage

// The store's directory, the lock in it, and the names of its files.
extension StoreOpener {
    mutating func prepareDirectory() throws(StoreError) {
        let path = files.directory
        let attributes = try io("look for", path) { () throws(Errno) in try files.fileSystem.attributes(path) }
        if let attributes {
            guard attributes.isDirectory else {
                throw StoreError(
                    .unsupportedFormat, "a Strata store is a directory, and this is a file of another kind",
                    path: path.string)
            }
            return
        }
        guard isWritable, options.createsIfMissing else {
            throw StoreError(.notFound, "there is no store", path: path.string)
        }
        do throws(Errno) {
            try files.fileSystem.createDirectory(path)
            hasMadeDirectory = true
        } catch .fileExists {
            // Another process was quicker; the lock decides.
        } catch {
            throw StoreError(.io, "could not create directory", errno: error, path: path.string)
        }
    }

    /// The store's directory, made if need be, and the lock in it.
    ///
    /// Whoever fails to make a store takes its lock file away again, and the directory. So a lock counts only if it
    /// is the one that the directory has once it has been taken: otherwise two processes could each hold one.
    mutating func prepareDirectoryAndLock() throws(StoreError) -> any File {
        for _ in 0..<Self.lockAttempts {
            try prepareDirectory()
            do throws(StoreError) {
                let lock = try takeLock()
                if try isInPlace(lock) { return lock }
                try? lock.close()
            } catch {
                // The directory went between the two steps.
                guard error.code == .io, error.errno == .noSuchFileOrDirectory else { throw error }
            }
            hasMadeDirectory = false
        }
        throw StoreError(.locked, "other processes make and remove the store", path: files.directory.string)
    }

    private static var lockAttempts: Int { 16 }

    private func isInPlace(_ lock: any File) throws(StoreError) -> Bool {
        let path = files.lock
        return try io("look at", path) { () throws(Errno) in
            guard let identity = try lock.identity() else { return true }
            guard let found = try files.fileSystem.attributes(path) else { return false }
            return identity == FileIdentity(device: found.device, inode: found.inode)
        }
    }

    private func takeLock() throws(StoreError) -> any File {
        let path = files.lock
        let file = try io("open", path) { () throws(Errno) in try files.fileSystem.open(path, .createIfMissing) }
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
        let above = directory.removingLastComponent()
        let parent = above.isEmpty ? FilePath(".") : above
        try io("flush directory", directory) { () throws(Errno) in
            try files.fileSystem.syncDirectory(directory)
            // The manifest is written last: without one the store's own name may not have been flushed either.
            if isNew { try files.fileSystem.syncDirectory(parent) }
        }
    }

    /// Files of interrupted work.
    func leftovers(_ listing: StoreFiles.Listing, _ holes: SegmentHoles) -> [FilePath] {
        listing.segments.filter { holes.contains($0) }.map { files.segment($0) }
            + listing.unfinished.map { files.unfinishedCheckpoint($0) }
    }
}
