internal import CStrataSupport
public import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The operating system's files.
///
/// Files are made with mode 0600 and directories with 0700 whatever the process's umask says. A symbolic link as the
/// last part of a path given to ``open(_:_:)`` is refused (`.tooManySymbolicLinkLevels`, or `.fileExists` when the mode
/// is ``FileOpenMode/create``), and so is everything that is not a regular file, without waiting on a pipe.
public struct PosixFileSystem: FileSystem {
    /// Makes the file system; it holds nothing, all values are alike.
    public init() {}

    /// open(2), fstat(2) and for a new file fchmod(2). Interrupted calls are repeated.
    ///
    /// - Throws: `.isDirectory` for a directory, `.invalidArgument` for another thing that is no regular file, and what
    ///   the calls throw. A file created by a call that then failed is removed.
    public func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        try PosixOpening(
            open: { flags, mode in path.withPlatformString { strata_file_open(AT_FDCWD, $0, flags, mode) } },
            unlink: { _ = path.withPlatformString { posixUnlink($0) } }
        ).open(mode)
    }

    /// mkdir(2), and fchmodat(2) when the umask took bits away: of a link that has taken the name meanwhile nothing is
    /// changed. What could not get its mode is removed.
    public func createDirectory(_ path: FilePath) throws(Errno) {
        _ = try call(path) { mkdir($0, 0o700) }
        do throws(Errno) {
            var status = stat()
            _ = try call(path) { lstat($0, &status) }
            if status.st_mode & 0o777 != 0o700 {
                _ = try call(path) { fchmodat(AT_FDCWD, $0, 0o700, AT_SYMLINK_NOFOLLOW) }
            }
        } catch {
            // Nothing but an empty directory goes.
            try? removeDirectory(path)
            throw error
        }
    }

    /// opendir(3) and readdir(3). Names that are not UTF-8 come with replacement characters.
    public func list(_ directory: FilePath) throws(Errno) -> [String] {
        try listNames(try openDescriptor(directory: directory))
    }

    /// rename(2).
    public func rename(_ source: FilePath, to target: FilePath) throws(Errno) {
        _ = try call(source) { sourcePath in
            target.withPlatformString { posixRename(sourcePath, $0) }
        }
    }

    /// renameat2(2), renamex_np(2) on Darwin.
    public func exchange(_ first: FilePath, with second: FilePath) throws(Errno) {
        let result = first.withPlatformString { first in
            second.withPlatformString { strata_path_exchange(first, $0) }
        }
        guard result >= 0 else { throw Errno(rawValue: -result) }
    }

    /// open(2).
    public func openDirectory(_ path: FilePath) throws(Errno) -> any Directory {
        do throws(Errno) {
            return PosixDirectory(descriptor: try openDescriptor(directory: path, O_NOFOLLOW))
        } catch .tooManySymbolicLinkLevels {
            throw .notDirectory
        }
    }

    /// unlink(2).
    public func unlink(_ path: FilePath) throws(Errno) {
        _ = try call(path) { posixUnlink($0) }
    }

    /// rmdir(2).
    public func removeDirectory(_ path: FilePath) throws(Errno) {
        _ = try call(path) { rmdir($0) }
    }

    /// open(2) and fsync(2) (`F_FULLFSYNC` where there is one).
    public func syncDirectory(_ path: FilePath) throws(Errno) {
        let descriptor = try openDescriptor(directory: path)
        defer { _ = posixClose(descriptor) }
        try flushDirectory(descriptor)
    }

    /// stat(2). A name under something that is not a directory counts as missing.
    public func attributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        guard var found = try attributes(path, { stat($0, &$1) }) else { return nil }
        found.createdNanoseconds = path.withPlatformString { strata_path_created($0) }
        return found
    }

    /// stat(2). A name under something that is not a directory counts as missing.
    public func identity(_ path: FilePath) throws(Errno) -> FileIdentity? {
        try attributes(path) { stat($0, &$1) }?.identity
    }

    /// lstat(2). A name under something that is not a directory counts as missing.
    public func linkAttributes(_ path: FilePath) throws(Errno) -> FileAttributes? {
        try attributes(path) { lstat($0, &$1) }
    }

    /// realpath(3).
    public func resolve(_ path: FilePath) throws(Errno) -> FilePath {
        var error: Int32 = 0
        let resolved: FilePath? = path.withPlatformString { path in
            guard let buffer = realpath(path, nil) else {
                error = errno
                return nil
            }
            defer { free(buffer) }
            return FilePath(platformString: buffer)
        }
        guard let resolved else { throw Errno(rawValue: error) }
        return resolved
    }
}

extension PosixFileSystem {
    private func openDescriptor(directory path: FilePath, _ flags: Int32 = 0) throws(Errno) -> Int32 {
        try retryingInterrupts { () throws(Errno) in
            let result = path.withPlatformString { path in
                strata_file_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | flags, 0)
            }
            guard result >= 0 else { throw Errno(rawValue: -result) }
            return result
        }
    }

    private func attributes(
        _ path: FilePath, _ look: (UnsafePointer<CChar>, inout stat) -> Int32
    ) throws(Errno) -> FileAttributes? {
        var status = stat()
        do {
            _ = try call(path) { look($0, &status) }
        } catch .noSuchFileOrDirectory {
            return nil
        } catch .notDirectory {
            return nil
        }
        return FileAttributes(status)
    }

    /// Makes a system call with the path's bytes; errno is read before anything else can change it.
    private func call(_ path: FilePath, _ body: (UnsafePointer<CChar>) -> Int32) throws(Errno) -> Int32 {
        let result = path.withPlatformString { path in
            let result = body(path)
            return result < 0 ? -errno : result
        }
        guard result >= 0 else { throw Errno(rawValue: -result) }
        return result
    }
}

/// Repeats a call for as long as a signal interrupts it.
func retryingInterrupts<Result>(_ body: () throws(Errno) -> Result) throws(Errno) -> Result {
    while true {
        do {
            return try body()
        } catch .interrupted {
            continue
        }
    }
}

// The methods of the same names hide the C functions inside the types; these give them back.

private func posixRename(_ source: UnsafePointer<CChar>, _ target: UnsafePointer<CChar>) -> Int32 {
    rename(source, target)
}

private func posixUnlink(_ path: UnsafePointer<CChar>) -> Int32 {
    unlink(path)
}

private func posixClose(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}
