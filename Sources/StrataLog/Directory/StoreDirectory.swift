public import StrataIO
internal import StrataSupport
public import SystemPackage

/// The directory of a store as a thing that is made, replaced and removed as a whole.
///
/// What is done to it is done at once for everybody who looks, also for who looks after a crash, and durable when it
/// returns. Nothing is removed or replaced but regular files with the names of a store's, and no symbolic link inside
/// the directory or beside it is followed; the store's own path may be one.
///
/// | name beside the store `NAME` | what |
/// |---|---|
/// | `.NAME.strata-lock` | held while one of the following is there, or the directory is made (`DirectoryLock`) |
/// | `NAME.strata-copy` | what is to take the store's place, or has had it: of no value to anybody |
/// | `NAME.strata-new` | complete, and about to take the place of a store that has been renamed away: only where two names cannot be swapped in one step |
/// | `NAME.strata-old` | the store that has been renamed away then |
///
/// Whoever opens the store for writing next, or does one of these things to it, ends what was interrupted.
public struct StoreDirectory: Sendable {
    let files: StoreFiles
    var path: FilePath { files.directory }
    var fileSystem: any FileSystem { files.fileSystem }

    /// The directory that a path leads to, or would be made at.
    ///
    /// - Throws: `.notFound` when the path is a symbolic link that leads nowhere; `.io`.
    public init(_ path: FilePath, _ fileSystem: any FileSystem) throws(StoreError) {
        files = StoreFiles(fileSystem: fileSystem, directory: try Self.resolve(path, fileSystem))
    }

    /// Where a path leads; of a store that is not there yet, where it would be.
    private static func resolve(_ path: FilePath, _ fileSystem: any FileSystem) throws(StoreError) -> FilePath {
        try io("look for", path) { () throws(Errno) in
            if try fileSystem.attributes(path) != nil {
                return Result<FilePath, StoreError>.success(try fileSystem.resolve(path))
            }
            if try fileSystem.linkAttributes(path)?.kind == .symbolicLink {
                return .failure(
                    StoreError(
                        .notFound, "the store's path is a symbolic link to something that is not there",
                        path: path.string))
            }
            guard let name = path.lastComponent, let above = try? fileSystem.resolve(path.directoryAbove)
            else { return .success(path) }
            return .success(above.appending(name))
        }.get()
    }

    /// Whether a path is that of what is to take a store's place, as `replace` makes it.
    public static func isUnfinished(_ path: FilePath) -> Bool {
        path.hasExtension("strata-copy") || path.hasExtension("strata-new")
    }

    var copy: FilePath { sibling("strata-copy") }
    var replacement: FilePath { sibling("strata-new") }
    var discarded: FilePath { sibling("strata-old") }
    var lockPath: FilePath { parent.appending(".\(name).strata-lock") }
    /// The lock of who made the copy, which is a store of its own until it has been moved.
    var copyLockPath: FilePath { parent.appending(".\(name).strata-copy.strata-lock") }

    private func sibling(_ suffix: String) -> FilePath { parent.appending("\(name).\(suffix)") }

    private var name: String { path.lastComponent?.string ?? "store" }

    var parent: FilePath { path.directoryAbove }

    /// For opening a store just to look at it.
    static var briefOptions: LogOptions {
        var options = LogOptions()
        options.access = .readOnly
        options.createsIfMissing = false
        options.cacheMaximumBytes = 8 << 20
        options.checkpointsInBackground = false
        options.compaction.isAutomatic = false
        return options
    }

    // MARK: Locks

    /// Runs the body while nobody else makes, replaces or removes the store, after what they left half done was ended.
    func alone<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        var lock: DirectoryLock?
        do throws(StoreError) {
            lock = try DirectoryLock.take(lockPath, fileSystem)
        } catch {
            // A full disk is a reason to remove a store, and none not to.
            guard error.errno == .noSpace || error.errno == .diskQuotaExceeded else { throw error }
        }
        defer { lock?.release() }
        if let lock { try finish(lock) }
        return try body()
    }

    /// The lock in the directory, which keeps everybody from writing the store.
    ///
    /// - Returns: nil when there is no directory.
    func lockStore() throws(StoreError) -> Locked? {
        guard let found = try attributes(path) else { return nil }
        try checkIsDirectory(found)
        var held = try files.holding()
        let isNew = try io("look at", held.lock) { () throws(Errno) in try held.attributes(held.lock) == nil }
        let opener = StoreOpener(files: held, options: Self.briefOptions)
        let file = try opener.takeLock()
        guard try opener.isInPlace(file) else {
            try? file.close()
            throw StoreError(.locked, "other processes make and remove the store", path: path.string)
        }
        held.lockIdentity = try io("look at", held.lock) { () throws(Errno) in try file.identity() }
        return Locked(file: file, isNew: isNew, files: held)
    }

    /// A store that nobody can write.
    struct Locked {
        let file: any File
        /// Whether there was no lock file.
        let isNew: Bool
        /// With the directory held.
        let files: StoreFiles
    }

    func attributes(_ path: FilePath) throws(StoreError) -> FileAttributes? {
        try io("look at", path) { () throws(Errno) in
            do throws(Errno) {
                return try fileSystem.linkAttributes(path)
            } catch .fileNameTooLong {
                return nil
            }
        }
    }

    func flushParent() throws(StoreError) {
        try io("flush directory", parent) { () throws(Errno) in try fileSystem.syncDirectory(parent) }
    }

    func move(_ source: FilePath, to target: FilePath) throws(StoreError) {
        try io("rename", source) { () throws(Errno) in try fileSystem.rename(source, to: target) }
    }

    // MARK: Interrupted work

    /// Whether somebody is at work on the directory, or has died in the middle of it.
    var isUnfinished: Bool {
        get throws(StoreError) {
            if try attributes(lockPath) != nil { return true }
            return try hasRemains
        }
    }

    private var hasRemains: Bool {
        get throws(StoreError) {
            for path in [copy, replacement, discarded, copyLockPath] where try attributes(path) != nil { return true }
            return false
        }
    }

    /// Ends a replacement that was interrupted, in the one or the other way.
    ///
    /// - Parameter lock: the lock beside the directory.
    func finish(_ lock: DirectoryLock) throws(StoreError) {
        let hasRemains = try hasRemains
        // Whoever was killed may not have come to flushing the names: neither that of the store, which is written to
        // from now on, nor those that make what is removed now superfluous.
        if lock.isLeft || hasRemains { try flushParent() }
        guard hasRemains else { return }
        if try isMissingOrEmpty {
            // A directory that somebody has made here meanwhile is no reason to forget the store. The old one alone is
            // left when somebody has removed the others: then it is the last there is.
            for waiting in [replacement, discarded] where try holdsStore(waiting) {
                try move(waiting, to: path)
                try flushParent()
                break
            }
        } else if try holdsStore(path) {
            try removeTree(replacement)
        } else {
            // Nothing says that what is here has taken the store's place.
            for waiting in [replacement, discarded] where try holdsStore(waiting) {
                throw StoreError(
                    .corruption,
                    "what is there is no store of Strata, and the store that was being replaced waits beside it as "
                        + "\(waiting.lastComponent?.string ?? waiting.string): move what is there away. Nothing was "
                        + "changed", path: path.string)
            }
        }
        try removeTree(copy)
        try removeTree(discarded)
        try removeCopyLock()
    }

    /// Whoever held it has died: the lock beside the directory is needed for making a copy. Should a crash bring the
    /// file back, the next opening removes it.
    private func removeCopyLock() throws(StoreError) {
        guard try attributes(copyLockPath)?.kind == .regular else { return }
        try io("remove", copyLockPath) { () throws(Errno) in try fileSystem.unlink(copyLockPath) }
    }

    /// Whether a directory holds files of a store, and is not one that counts as empty.
    private func holdsStore(_ path: FilePath) throws(StoreError) -> Bool {
        guard try attributes(path)?.isDirectory == true else { return false }
        let listing = try StoreFiles(fileSystem: fileSystem, directory: path).list()
        return listing.holdsSomething && !listing.isVoid
    }

    private var isMissingOrEmpty: Bool {
        get throws(StoreError) {
            guard let found = try attributes(path) else { return true }
            guard found.isDirectory else { return false }
            return try io("list directory", path) { () throws(Errno) in try fileSystem.list(path).isEmpty }
        }
    }

    /// Removes a directory with a store's files in it. What is no file of a store stays, and the directory with it.
    ///
    /// - Returns: whether nothing is left.
    @discardableResult
    func removeTree(_ path: FilePath) throws(StoreError) -> Bool {
        guard let found = try attributes(path) else { return true }
        guard found.isDirectory else { return false }
        try removeFiles(of: path) { _ in true }
        let isGone = try io("remove directory", path) { () throws(Errno) in
            do throws(Errno) {
                try fileSystem.removeDirectory(path)
                return true
            } catch {
                guard error == .directoryNotEmpty || error == .fileExists else { throw error }
                return false
            }
        }
        try flushParent()
        return isGone
    }

    /// Removes those regular files with names of a store's that the condition lets through.
    func removeFiles(of path: FilePath, where isMeant: (String) -> Bool) throws(StoreError) {
        try io("remove files of", path) { () throws(Errno) in
            let directory = try fileSystem.openDirectory(path)
            for name in try directory.list() where StoreFiles.isOwn(name) && isMeant(name) {
                guard try directory.attributes(of: name)?.kind == .regular else { continue }
                try directory.unlink(name)
            }
            try directory.sync()
        }
    }

    // MARK: Removing

    /// Removes the store's files and leaves the directory, with everything in it that is not the store's.
    ///
    /// Nothing happens when there is no store. Other processes that read it go on with what they have read.
    ///
    /// - Parameter ignoringDamage: whether a store that cannot be read is removed, too.
    /// - Returns: the names in the directory that are not the store's, which are still there.
    /// - Throws: `.corruption` when something else is there, or the store cannot be read; `.locked` when it is in use;
    ///   `.io`: it is there, or counts as removed and whoever opens it next removes the rest.
    public func destroy(ignoringDamage: Bool = false) throws(StoreError) -> [String] {
        if try attributes(path) == nil, try !isUnfinished { return [] }
        return try alone { () throws(StoreError) -> [String] in
            guard let found = try attributes(path) else { return [] }
            try checkIsDirectory(found)
            let listing = try files.list()
            if listing.isForeign {
                guard listing.foreign.isEmpty else { throw noStore(listing.foreign) }
                return []
            }
            guard let locked = try lockStore() else { return [] }
            defer { try? locked.file.close() }
            do throws(StoreError) {
                try checkIsStore(listing, ignoringDamage: ignoringDamage)
            } catch {
                if locked.isNew { try? locked.files.remove(files.lock) }
                throw error
            }
            try locked.files.empty()
            return try locked.files.list().foreign
        }
    }

    func checkIsDirectory(_ found: FileAttributes) throws(StoreError) {
        guard found.isDirectory else {
            throw StoreError(
                .corruption, "what is there is no store of Strata but a file of another kind", path: path.string)
        }
    }

    private func noStore(_ names: [String]) -> StoreError {
        StoreError(
            .corruption, "the directory holds no store of Strata but other files: \(names.shortList)",
            path: path.string)
    }

    func checkIsStore(_ listing: StoreFiles.Listing, ignoringDamage: Bool) throws(StoreError) {
        guard listing.holdsSomething, !listing.isVoid else { return }
        do throws(StoreError) {
            try LogStore.open(path, in: fileSystem, options: Self.briefOptions, schema: nil).close()
        } catch {
            // One that was never complete is no store that anybody could miss.
            let isDamage = error.code == .corruption || error.errno == .tooManySymbolicLinkLevels
            if error.code == .notFound || isDamage && ignoringDamage { return }
            throw error
        }
    }
}

extension [String] {
    /// The first few, for a message.
    var shortList: String {
        prefix(3).joined(separator: ", ") + (count > 3 ? " and \(count - 3) more" : "")
    }
}
