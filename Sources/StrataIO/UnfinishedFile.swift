public import SystemPackage

/// A file that appears under its name when it is complete: until then it lies beside it under another one.
///
/// It has mode 0600 and is locked while it is open, so that two who write the same one do not mix. Both names are
/// looked up in one directory that is kept open, whatever becomes of the path meanwhile. What somebody who died has
/// left beside it is removed by whoever comes next. Used by one thread.
///
/// ```swift
/// let file = try UnfinishedFile(for: path)
/// try file.append(bytes)
/// try file.install(replacing: false)
/// ```
public final class UnfinishedFile {
    /// What follows the name of the file while it is not complete.
    public static let suffix = ".strata-new"
    private static let attempts = 64

    /// The file, for writing at any place.
    public let file: any File
    private let directory: any Directory
    private let name: String
    private let besideName: String
    private var end: Int64 = 0
    private var isInstalled = false

    /// Creates the file beside the one at the path.
    ///
    /// - Parameters:
    ///   - path: what it will be called; a symbolic link there is replaced, not followed.
    ///   - isOwn: tells by its first 16 bytes (fewer if it is shorter) whether what lies beside the path already is
    ///     left from such a file, so that it may be removed.
    /// - Throws: `.resourceBusy` when somebody is writing one; `.fileExists` when something else lies beside the path;
    ///   what the calls throw.
    public convenience init(
        for path: FilePath, in fileSystem: any FileSystem = PosixFileSystem(), isOwn: ([UInt8]) -> Bool = { _ in true }
    ) throws(Errno) {
        try self.init(for: path.lastName, in: try Self.directory(of: path, fileSystem), isOwn: isOwn)
    }

    /// Creates the file beside the one that has, or will have, a name in a directory.
    ///
    /// - Throws: as for a path.
    public init(
        for name: String, in directory: any Directory, isOwn: ([UInt8]) -> Bool = { _ in true }
    ) throws(Errno) {
        self.name = name
        besideName = name + Self.suffix
        self.directory = directory
        file = try Self.create(besideName, directory, isOwn)
    }

    deinit { discard() }

    /// Writes behind what was appended before.
    public func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try file.writeAll([bytes], at: end)
        end += Int64(bytes.count)
    }

    /// Flushes the file and gives it its name (fsync(2), renameat(2)). Durable when it returns. After an error nothing
    /// has changed, unless only the last flush, that of the directory, has failed.
    ///
    /// - Parameter replacing: whether a file that has the name is replaced.
    /// - Throws: `.fileExists`, `.isDirectory`, `.invalidArgument` for what has the name and is not to be replaced, or
    ///   is no regular file.
    public func install(replacing: Bool) throws(Errno) {
        try file.sync()
        // Last: it may have become something else meanwhile.
        switch try directory.attributes(of: name)?.kind {
        case nil: break
        case .directory?: throw .isDirectory
        case .regular?: if !replacing { throw .fileExists }
        default: throw .invalidArgument
        }
        if replacing {
            try directory.rename(besideName, to: name)
        } else {
            try directory.renameIfAbsent(besideName, to: name)
        }
        isInstalled = true
        try? file.close()
        try directory.sync()
    }

    /// Removes the file, unless it has its name already. Idempotent; done when the last reference goes, too.
    public func discard() {
        guard !isInstalled else { return }
        isInstalled = true
        if (try? Self.isInPlace(file, besideName, directory)) == true { try? directory.unlink(besideName) }
        try? file.close()
    }

    /// Removes what somebody who died has left beside a path. What is being written, is no regular file or not our own
    /// stays.
    ///
    /// - Parameter isOwn: as for ``init(for:in:isOwn:)``.
    public static func removeLeft(
        beside path: FilePath, in fileSystem: any FileSystem = PosixFileSystem(),
        isOwn: ([UInt8]) -> Bool = { _ in true }
    ) throws(Errno) {
        let directory = try directory(of: path, fileSystem)
        do throws(Errno) {
            try removeLeft(beside: path.lastName, in: directory, isOwn: isOwn)
        } catch .resourceBusy {
            return
        }
    }

    /// Removes what somebody who died has left beside a name in a directory. What is no regular file or not our own
    /// stays.
    ///
    /// - Throws: `.resourceBusy` when somebody is writing it; what the calls throw.
    public static func removeLeft(
        beside name: String, in directory: any Directory, isOwn: ([UInt8]) -> Bool
    ) throws(Errno) {
        guard try directory.attributes(of: name + suffix)?.kind == .regular else { return }
        do throws(Errno) {
            try removeLeft(name + suffix, directory, isOwn)
        } catch .fileExists {
            return
        }
    }

    // MARK: The file beside the path

    private static func directory(of path: FilePath, _ fileSystem: any FileSystem) throws(Errno) -> any Directory {
        try fileSystem.openDirectory(try fileSystem.resolve(path.directoryAbove))
    }

    private static func create(
        _ name: String, _ directory: any Directory, _ isOwn: ([UInt8]) -> Bool
    ) throws(Errno) -> any File {
        for _ in 0..<attempts {
            do throws(Errno) {
                let file = try directory.open(name, .create)
                if try file.tryLockExclusively(), try isInPlace(file, name, directory) { return file }
            } catch .fileExists {
                guard try directory.attributes(of: name)?.kind != .regular else {
                    try removeLeft(name, directory, isOwn)
                    continue
                }
                throw .fileExists
            }
        }
        throw .resourceBusy
    }

    /// - Throws: `.resourceBusy` when somebody writes it; `.fileExists` when it is not our own.
    private static func removeLeft(
        _ name: String, _ directory: any Directory, _ isOwn: ([UInt8]) -> Bool
    ) throws(Errno) {
        do throws(Errno) {
            let file = try directory.open(name, .readWrite)
            guard try file.tryLockExclusively() else { throw .resourceBusy }
            guard isOwn(try beginning(of: file)) else { throw .fileExists }
            if try isInPlace(file, name, directory) { try directory.unlink(name) }
        } catch .noSuchFileOrDirectory {
            // It has taken its place just now.
        }
    }

    /// The first 16 bytes of a file, or all of them.
    public static func beginning(of file: any File) throws(Errno) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)
        defer { buffer.deallocate() }
        let count = try file.readPrefix(into: buffer, at: 0)
        return Array(buffer[..<count])
    }

    private static func isInPlace(
        _ file: any File, _ name: String, _ directory: any Directory
    ) throws(Errno) -> Bool {
        guard let identity = try file.identity() else { return true }
        return try directory.attributes(of: name)?.identity == identity
    }
}
