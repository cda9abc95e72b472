internal import StrataIO
internal import StrataSupport
internal import SystemPackage

/// The lock beside a store's directory, which is held while the directory is made, replaced or removed, and while what
/// an interrupted replacement has left is dealt with.
///
/// The lock *in* the directory keeps writers apart; it goes with the directory, so it says nothing about the name. This
/// one is a file that is there only while somebody holds it (or has died holding it): it counts if it still has its
/// name once it is locked.
///
/// Used by one thread.
final class DirectoryLock {
    private let file: any File
    /// Whether its file was there already: somebody died in the middle of something.
    let isLeft: Bool
    private let path: FilePath
    private let fileSystem: any FileSystem

    private init(_ file: any File, isLeft: Bool, _ path: FilePath, _ fileSystem: any FileSystem) {
        self.file = file
        self.isLeft = isLeft
        self.path = path
        self.fileSystem = fileSystem
    }

    /// - Returns: nil where no file can be made beside the store. Nobody of the same rights can then move its
    ///   directory, and there is nothing to be kept apart.
    /// - Throws: `.locked` when somebody else has it, or it is another user's; `.io`.
    static func take(_ path: FilePath, _ fileSystem: any FileSystem) throws(StoreError) -> DirectoryLock? {
        for _ in 0..<attempts {
            let file: any File
            var isLeft = false
            do throws(Errno) {
                do throws(Errno) {
                    file = try fileSystem.open(path, .create)
                } catch .fileExists {
                    isLeft = true
                    file = try fileSystem.open(path, .createIfMissing)
                }
            } catch {
                if isLeft, error == .permissionDenied || error == .notPermitted {
                    throw StoreError(
                        .locked,
                        "another user makes, replaces or removes the store, or was interrupted while doing so: the "
                            + "lock beside the store cannot be opened", errno: error, path: path.string)
                }
                if cannotMake.contains(error) { return nil }
                throw StoreError(.io, "could not open the lock beside the store", errno: error, path: path.string)
            }
            guard try io("lock", path, { () throws(Errno) in try file.tryLockExclusively() }) else {
                let holder = LockHolder.read(file)
                try? file.close()
                throw StoreError(
                    .locked,
                    "the store is being made, replaced or removed by \(holder.map { "process \($0)" } ?? "another process")",
                    path: path.string)
            }
            let lock = DirectoryLock(file, isLeft: isLeft, path, fileSystem)
            if try io("look at", path, { () throws(Errno) in try lock.isInPlace }) {
                // Only for the message that somebody else gets.
                try? LockHolder.write(file)
                return lock
            }
            try? file.close()
        }
        throw StoreError(.locked, "other processes make, replace or remove the store", path: path.string)
    }

    /// Whether somebody holds the lock now.
    static func isHeld(_ path: FilePath, _ fileSystem: any FileSystem) -> Bool {
        (try? fileSystem.open(path, .read).isLockedElsewhere()) ?? false
    }

    private static let attempts = 64
    /// The directory above is missing, may not be written, or knows no names of that length.
    private static let cannotMake: Set<Errno> = [
        .noSuchFileOrDirectory, .notDirectory, .permissionDenied, .notPermitted, .readOnlyFileSystem, .fileNameTooLong,
    ]

    /// Whether its path still leads to it.
    var isInPlace: Bool {
        get throws(Errno) {
            guard let identity = try file.identity() else { return true }
            return try fileSystem.linkAttributes(path)?.identity == identity
        }
    }

    /// Gives the lock back and takes its file away.
    func release() {
        if (try? isInPlace) == true { try? fileSystem.unlink(path) }
        try? file.close()
    }
}
