public import SystemPackage

/// Everything Strata asks of an operating system's files: the seam between the engine and the disk.
///
/// The engine calls nothing else. ``PosixFileSystem`` is the real one, ``MemoryFileSystem`` keeps files in memory for
/// in-memory stores, and the simulated one in StrataTestKit crashes, tears and refuses on demand.
///
/// Every call is synchronous and may block; implementations are safe to call from any thread.
public protocol FileSystem: Sendable {
    /// Opens or creates a file (open(2) with `O_CLOEXEC | O_NOFOLLOW`; new files get mode 0600).
    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File

    /// Creates one directory with mode 0700 (mkdir(2)); throws `.fileExists` if the name is taken.
    func createDirectory(_ path: FilePath) throws(Errno)

    /// The names in a directory, without `.` and `..`, sorted.
    func list(_ directory: FilePath) throws(Errno) -> [String]

    /// Renames a file, replacing the target if it exists (rename(2)). Durable after ``syncDirectory(_:)``.
    func rename(_ source: FilePath, to target: FilePath) throws(Errno)

    /// Swaps what two names refer to, files or directories, in one step (renameat2(2) with `RENAME_EXCHANGE`). Durable
    /// after ``syncDirectory(_:)``.
    ///
    /// - Throws: `.notSupported` where there is no such call: nothing was changed then.
    func exchange(_ first: FilePath, with second: FilePath) throws(Errno)

    /// Opens a directory (open(2) with `O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC`).
    ///
    /// - Throws: `.notDirectory` for everything else, a symbolic link to a directory too.
    func openDirectory(_ path: FilePath) throws(Errno) -> any Directory

    /// Removes a file (unlink(2)). Durable after ``syncDirectory(_:)``.
    func unlink(_ path: FilePath) throws(Errno)

    /// Removes an empty directory (rmdir(2)).
    func removeDirectory(_ path: FilePath) throws(Errno)

    /// Makes creations, renames and removals in a directory durable (open(2) + fsync(2)).
    func syncDirectory(_ path: FilePath) throws(Errno)

    /// What the name refers to, or nil when nothing is there (stat(2): symbolic links are followed).
    func attributes(_ path: FilePath) throws(Errno) -> FileAttributes?

    /// What has the name itself, or nil when nothing has (lstat(2)): of a symbolic link, the link.
    func linkAttributes(_ path: FilePath) throws(Errno) -> FileAttributes?

    /// The absolute path with every symbolic link resolved (realpath(3)).
    func resolve(_ path: FilePath) throws(Errno) -> FilePath

    /// Which file or directory the name refers to, or nil when nothing is there (stat(2), once).
    func identity(_ path: FilePath) throws(Errno) -> FileIdentity?

    /// Whether nobody but the holder of this value can move, replace or remove what is in it.
    var isPrivate: Bool { get }

    /// Memory that all processes which open the same file share, in place of its first page.
    ///
    /// - Throws: `.notSupported` where there is no such thing: callers must do without.
    func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage
}

extension FileSystem {
    /// The identity among the attributes.
    public func identity(_ path: FilePath) throws(Errno) -> FileIdentity? { try attributes(path)?.identity }

    /// False.
    public var isPrivate: Bool { false }

    /// Throws `.notSupported`.
    public func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        throw .notSupported
    }
}

/// How ``FileSystem/open(_:_:)`` opens a file.
public enum FileOpenMode: Sendable {
    /// Read only; the file must exist.
    case read
    /// Read and write; the file must exist.
    case readWrite
    /// Read and write; the file is created and must not exist (`O_CREAT | O_EXCL`).
    case create
    /// Read and write; the file is created if it is missing.
    case createIfMissing
}

/// What something with a name is.
public enum FileKind: Sendable, Hashable {
    /// A file with bytes in it.
    case regular
    /// A directory.
    case directory
    /// A symbolic link.
    case symbolicLink
    /// A device, a pipe, a socket.
    case other
}

/// An open directory: names are looked up in it and in no other, whatever its path leads to meanwhile, and a symbolic
/// link that has such a name is never followed. A name has no slash in it. Closed when the last reference goes.
public protocol Directory: AnyObject, Sendable {
    /// The names in it, without `.` and `..`, sorted.
    func list() throws(Errno) -> [String]

    /// What has a name, or nil when nothing has (fstatat(2) with `AT_SYMLINK_NOFOLLOW`).
    func attributes(of name: String) throws(Errno) -> FileAttributes?

    /// Opens or creates a file (openat(2)), as ``FileSystem/open(_:_:)`` does.
    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File

    /// Renames a file within the directory, replacing the target if it exists (renameat(2)). Durable after ``sync()``.
    func rename(_ source: String, to target: String) throws(Errno)

    /// Renames a file or directory within the directory, unless something has the target's name (renameat2(2) with
    /// `RENAME_NOREPLACE`). Durable after ``sync()``. Where the system cannot do that in one step, it looks first.
    ///
    /// - Throws: `.fileExists` when something has the name.
    func renameIfAbsent(_ source: String, to target: String) throws(Errno)

    /// Removes a name (unlinkat(2)). Durable after ``sync()``.
    func unlink(_ name: String) throws(Errno)

    /// Makes creations, renames and removals in it durable (fsync(2)).
    func sync() throws(Errno)

    /// Which directory this is (fstat(2)).
    func identity() throws(Errno) -> FileIdentity

    /// As ``FileSystem/sharedPage(_:_:)``.
    func sharedPage(_ name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage
}

extension Directory {
    /// As ``renameIfAbsent(_:to:)``, in two steps.
    func renameLooking(_ source: String, to target: String) throws(Errno) {
        guard try attributes(of: target) == nil else { throw .fileExists }
        try rename(source, to: target)
    }

    /// In two steps.
    public func renameIfAbsent(_ source: String, to target: String) throws(Errno) {
        try renameLooking(source, to: target)
    }

    /// Opens a file for reading.
    public func open(_ name: String) throws(Errno) -> any File { try open(name, .read) }

    /// Throws `.notSupported`.
    public func sharedPage(_ name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        throw .notSupported
    }
}

/// What ``FileSystem/attributes(_:)`` tells.
public struct FileAttributes: Sendable, Equatable {
    /// What it is.
    public var kind: FileKind
    /// Length in bytes.
    public var byteCount: Int64
    /// Bytes the file occupies on the device.
    public var allocatedByteCount: Int64
    /// The device that it is on; with ``inode`` it tells a file from every other that is there.
    public var device: UInt64
    /// Its number on the device.
    public var inode: UInt64
    /// When it was created, in nanoseconds since 1970; 0 where that is not known. Not that of its contents: a copy is
    /// new, a thing that was moved is not.
    public var createdNanoseconds: Int64

    /// Whether it is a directory.
    public var isDirectory: Bool { kind == .directory }

    /// Which file this is.
    public var identity: FileIdentity { FileIdentity(device: device, inode: inode) }

    /// Attributes with these members.
    public init(
        kind: FileKind, byteCount: Int64, allocatedByteCount: Int64, device: UInt64, inode: UInt64,
        createdNanoseconds: Int64 = 0
    ) {
        self.kind = kind
        self.byteCount = byteCount
        self.allocatedByteCount = allocatedByteCount
        self.device = device
        self.inode = inode
        self.createdNanoseconds = createdNanoseconds
    }
}

/// Which file an open one is, whatever names it has.
public struct FileIdentity: Sendable, Hashable {
    /// The device that it is on.
    public var device: UInt64
    /// Its number on the device.
    public var inode: UInt64

    /// The identity of the file with that number.
    public init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}

/// An open file. Closed by ``close()`` or when the last reference goes.
///
/// Positioned calls only, so that any number of threads can share one file.
public protocol File: AnyObject, Sendable {
    /// Reads at most `buffer.count` bytes at `offset` (pread(2), EINTR retried). Returns fewer only at the end of the
    /// file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int

    /// Writes the buffers one after the other at `offset` (pwritev(2)). May write fewer bytes than asked, and
    /// throws `.interrupted` as the system call does; ``writeAll(_:at:)`` retries both.
    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int

    /// Flushes data and what is needed to read it back (fdatasync(2)). After an error nothing may be assumed about
    /// any byte that was not flushed before, and the call must not be retried on this file.
    func syncData() throws(Errno)

    /// Flushes data and all metadata (fsync(2)). Errors as for ``syncData()``.
    func sync() throws(Errno)

    /// Lets the device begin with a range that was written and will be flushed, where the system can be told
    /// (sync_file_range(2)). A hint: nothing is durable by it, and it neither fails nor hides a failure from a flush.
    func beginWriting(from offset: Int64, byteCount: Int64)

    /// Sets the length (ftruncate(2)); what is added reads as zeros.
    func truncate(to byteCount: Int64) throws(Errno)

    /// Reserves zeroed space for a range and lengthens the file to its end (posix_fallocate-like; falls back to
    /// ``truncate(to:)`` where the file system cannot reserve).
    func preallocate(from offset: Int64, byteCount: Int64) throws(Errno)

    /// Length in bytes (fstat(2)).
    func byteCount() throws(Errno) -> Int64

    /// Maps a range read-only (mmap(2)). Only for files that will never be shortened: touching a page past the end of a
    /// shortened file, or one the device cannot read, ends the process.
    func map(from offset: Int64, byteCount: Int) throws(Errno) -> MappedRegion

    /// Takes the whole-file exclusive lock without waiting (`F_OFD_SETLK`); false when another open file description
    /// holds it. Released by ``close()``.
    func tryLockExclusively() throws(Errno) -> Bool

    /// Whether another open file description holds the lock (`F_OFD_GETLK`). It may be free a moment later.
    func isLockedElsewhere() throws(Errno) -> Bool

    /// Which file this is (fstat(2)); nil where that is not known.
    func identity() throws(Errno) -> FileIdentity?

    /// Closes the file (close(2)); further calls throw `.badFileDescriptor`. Idempotent.
    func close() throws(Errno)
}

extension File {
    /// False: for files that only one process can have.
    public func isLockedElsewhere() throws(Errno) -> Bool { false }

    /// Does nothing.
    public func beginWriting(from offset: Int64, byteCount: Int64) {}

    /// Nil.
    public func identity() throws(Errno) -> FileIdentity? { nil }

    /// Writes all bytes, retrying short and interrupted writes. On an error some prefix may have been written.
    public func writeAll(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) {
        // Mostly all is written at once, and no list is made.
        var remaining = buffers.contains { $0.isEmpty } ? buffers.filter { !$0.isEmpty } : buffers
        var rest = remaining.reduce(0) { $0 + $1.count }
        var position = offset
        while rest > 0 {
            var written: Int
            do {
                written = try write(remaining, at: position)
            } catch .interrupted {
                continue
            }
            guard written > 0 else { throw .ioError }
            position += Int64(written)
            rest -= written
            if rest == 0 { return }
            while let first = remaining.first, written >= first.count {
                written -= first.count
                remaining.removeFirst()
            }
            if written > 0 {
                remaining[0] = UnsafeRawBufferPointer(rebasing: remaining[0][written...])
            }
        }
    }

    /// Reads exactly `buffer.count` bytes; false when the file ends before.
    public func readAll(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Bool {
        try readPrefix(into: buffer, at: offset) == buffer.count
    }

    /// Reads until the buffer is full or the file ends, retrying short reads. Returns how many bytes were read.
    public func readPrefix(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        var position = 0
        while position < buffer.count {
            let count = try read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[position...]), at: offset + Int64(position))
            if count == 0 { break }
            position += count
        }
        return position
    }
}

/// Read-only memory that shows a range of a file. Unmapped when the last reference goes.
public final class MappedRegion: @unchecked Sendable {
    // Unchecked: the bytes are never written through this object, and the release closure runs once, in deinit.
    /// Valid as long as the region is referred to. A read beyond the file's end, should that have become shorter, ends
    /// the process (SIGBUS).
    public let bytes: UnsafeRawBufferPointer
    private let release: @Sendable (UnsafeRawBufferPointer) -> Void

    /// A region of memory that is given back with `release`, once, on whatever thread drops the last reference.
    public init(bytes: UnsafeRawBufferPointer, release: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) {
        self.bytes = bytes
        self.release = release
    }

    deinit {
        release(bytes)
    }
}
