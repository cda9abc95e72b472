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
        try io("create directory", path) { () throws(Errno) in try files.fileSystem.createDirectory(path) }
        hasMadeDirectory = true
    }

    func takeLock() throws(StoreError) -> any File {
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

    /// Files of interrupted work. What cannot be removed only takes space.
    func removeLeftovers(_ listing: StoreFiles.Listing, _ holes: SegmentHoles) {
        for number in listing.segments where holes.contains(number) {
            try? files.fileSystem.unlink(files.segment(number))
        }
        for number in listing.unfinished {
            try? files.fileSystem.unlink(files.unfinishedCheckpoint(number))
        }
    }
}
