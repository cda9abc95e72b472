internal import StrataIO
internal import SystemPackage

/// A store's directory that is kept open, so that it is the same one whatever becomes of its path.
final class HeldDirectory: Sendable {
    let directory: any Directory
    let identity: FileIdentity
    /// The path that is looked at to know whether the directory is still there; absolute.
    let path: FilePath

    /// - Throws: `.notDirectory`, `.noSuchFileOrDirectory`; what the calls throw.
    init(_ path: FilePath, _ fileSystem: any FileSystem) throws(Errno) {
        do throws(Errno) {
            directory = try fileSystem.openDirectory(path)
        } catch .notDirectory {
            // The store's own path may be a link.
            directory = try fileSystem.openDirectory(try fileSystem.resolve(path))
        }
        identity = try directory.identity()
        self.path = path.isAbsolute ? path : try fileSystem.resolve(path)
    }
}

// The calls on names in the store's directory, and whether it is still the one that its path leads to.
extension StoreFiles {
    /// The same files, with the directory held.
    ///
    /// - Throws: `.io` when there is none, or it cannot be opened.
    func holding() throws(StoreError) -> StoreFiles {
        var files = self
        files.held = try io("open directory", directory) { () throws(Errno) in
            try HeldDirectory(directory, fileSystem)
        }
        files.lockIdentity = nil
        return files
    }

    /// Whether the path leads to another directory, or to none. A path that cannot be looked at proves nothing.
    var isElsewhere: Bool {
        guard let held, !fileSystem.isPrivate else { return false }
        do throws(Errno) {
            let found = try fileSystem.identity(held.path)
            if found == held.identity { return false }
            // There are file systems that give a directory another number while it is open.
            return found != (try held.directory.identity())
        } catch {
            return false
        }
    }

    /// Before a writer makes, replaces or removes a name: the directory has to be the one at the path, and the lock in
    /// it the writer's own. Where a backup was put back under a writer, only the lock tells.
    ///
    /// - Throws: `.staleNFSFileHandle`, which ``io(_:_:_:)`` explains.
    func checkIsInPlace() throws(Errno) {
        guard let held, let lockIdentity, !fileSystem.isPrivate else { return }
        if isElsewhere { throw .staleNFSFileHandle }
        let found: FileAttributes?
        do throws(Errno) {
            found = try held.directory.attributes(of: "LOCK")
        } catch {
            return
        }
        if found?.identity != lockIdentity { throw .staleNFSFileHandle }
    }

    // MARK: Calls

    /// Opens or creates a file of the store, see ``FileSystem/open(_:_:)``.
    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        if mode == .create || mode == .createIfMissing { try checkIsInPlace() }
        if let held { return try held.directory.open(path.lastName, mode) }
        return try fileSystem.open(path, mode)
    }

    /// What has the name of a file of the store; of a symbolic link, the link.
    func attributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        if let held { return try held.directory.attributes(of: path.lastName) }
        return try fileSystem.linkAttributes(path)
    }

    func rename(_ source: FilePath, to target: FilePath) throws(Errno) {
        try checkIsInPlace()
        if let held { return try held.directory.rename(source.lastName, to: target.lastName) }
        try fileSystem.rename(source, to: target)
    }

    /// Removes a file of the store. What has its name and is no regular file is none, and stays.
    func remove(_ path: FilePath) throws(Errno) {
        try checkIsInPlace()
        guard try attributes(path)?.kind == .regular else { return }
        if let held { return try held.directory.unlink(path.lastName) }
        try fileSystem.unlink(path)
    }

    /// Makes the names in the directory durable.
    func sync() throws(Errno) {
        if let held { return try held.directory.sync() }
        try fileSystem.syncDirectory(directory)
    }

    func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        if mode == .create || mode == .createIfMissing { try checkIsInPlace() }
        if let held { return try held.directory.sharedPage(path.lastName, mode) }
        return try fileSystem.sharedPage(path, mode)
    }
}

extension LogStore {
    /// Whether the path that the store was opened at still leads to its directory, and the lock in it is the writer's.
    /// Otherwise it cannot be written.
    public var isAtItsPath: Bool {
        do throws(Errno) {
            try files.checkIsInPlace()
            return !files.isElsewhere
        } catch {
            return false
        }
    }
}

extension StoreError {
    /// The store's directory or its lock is no longer where it was opened.
    static func displaced(_ what: String, _ path: FilePath) -> StoreError {
        StoreError(
            .io,
            "\(what): the store is not at its path any more. Its directory, or the files in it, were moved, removed or "
                + "replaced while it was open. Nothing was written. Close it, and open it where it is now",
            errno: .staleNFSFileHandle, path: path.string)
    }

    /// Whether the store is no longer at its path.
    var isDisplaced: Bool { code == .io && errno == .staleNFSFileHandle }
}
