import CStrataSupport
internal import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// The calls of the system that a DirectoryObjectStore makes. No name of more than one part is ever looked up, and no
// link is followed.

/// -1 or another negative number as the error.
private func check<Number: SignedInteger>(_ result: Number) throws(Errno) -> Number {
    guard result >= 0 else { throw Errno(rawValue: errno) }
    return result
}

/// What stat(2) tells of a file.
struct FileStatus {
    let size: Int64
    let tag: String
    let modified: Double

    init(_ found: stat) {
        size = Int64(found.st_size)
        #if canImport(Darwin)
        let time = found.st_mtimespec
        #else
        let time = found.st_mtim
        #endif
        modified = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        tag =
            "\"\(String(found.st_ino, radix: 16))-\(String(found.st_size, radix: 16))-"
            + "\(String(time.tv_sec, radix: 16)).\(String(time.tv_nsec, radix: 16))\""
    }
}

/// An open file. Closed when the last reference goes.
final class FileDescriptorBox: Sendable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    deinit {
        _ = close(number)
    }

    /// fstat(2).
    func status() throws(Errno) -> FileStatus {
        var found = stat()
        _ = try check(fstat(number, &found))
        return FileStatus(found)
    }

    /// pread(2). Throws `.ioError` where the file ends before.
    func read(_ range: Range<Int64>) throws(Errno) -> [UInt8] {
        let count = Int(range.upperBound - range.lowerBound)
        var failure: Errno?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, found in
            while found < count, let base = buffer.baseAddress {
                let read = pread(number, base + found, count - found, off_t(range.lowerBound) + off_t(found))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else {
                    failure = read < 0 ? Errno(rawValue: errno) : .ioError
                    return
                }
                found += read
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// write(2).
    func append(_ bytes: [UInt8]) throws(Errno) {
        var written = 0
        while written < bytes.count {
            let result = bytes.withUnsafeBytes {
                write(number, $0.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if result < 0, errno == EINTR { continue }
            written += try check(result)
        }
    }

    /// fsync(2).
    func flush() throws(Errno) {
        let result = strata_file_sync(number)
        if result < 0 { throw Errno(rawValue: -result) }
    }
}

/// A file that has been written and has no name of an object yet.
final class TemporaryFile: Sendable {
    let file: FileDescriptorBox
    let name: String
    let directory: DirectoryDescriptor

    init(_ file: FileDescriptorBox, _ name: String, _ directory: DirectoryDescriptor) {
        self.file = file
        self.name = name
        self.directory = directory
    }

    /// Removes the name, if it has not become an object's.
    func discard() {
        _ = unlinkat(directory.number, name, 0)
    }
}

/// A lock that processes share.
final class ObjectsLock: Sendable {
    private let file: FileDescriptorBox

    init(_ file: FileDescriptorBox) {
        self.file = file
    }

    func release() {
        _ = strata_file_unlock(file.number)
    }
}

/// An open directory. Closed when the last reference goes.
final class DirectoryDescriptor: Sendable {
    let number: Int32

    private init(_ number: Int32) {
        self.number = number
    }

    deinit {
        _ = close(number)
    }

    private static let noFollow = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    /// Opens a directory of the caller's, through links if need be, or creates it.
    static func root(_ path: FilePath) throws(Errno) -> DirectoryDescriptor {
        func open() -> Int32 { strata_file_open(AT_FDCWD, path.string, O_RDONLY | O_DIRECTORY, 0) }
        var number = open()
        if number == -ENOENT {
            guard mkdir(path.string, 0o700) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
            number = open()
            // The new name is to be there after a power loss, as what will be in it.
            var above = path
            above.removeLastComponent()
            let parent = strata_file_open(
                AT_FDCWD, above.isEmpty ? "." : above.string, O_RDONLY | O_DIRECTORY, 0)
            if parent >= 0 { try DirectoryDescriptor(parent).flush() }
        }
        guard number >= 0 else { throw Errno(rawValue: -number) }
        return DirectoryDescriptor(number)
    }

    /// A path that leads to the same when the process's own directory changes.
    static func absolute(_ path: FilePath) throws(Errno) -> FilePath {
        if path.isAbsolute { return path }
        guard let own = getcwd(nil, 0) else { throw Errno(rawValue: errno) }
        defer { free(own) }
        return FilePath(platformString: own).pushing(path)
    }

    /// The path without links that leads to the same (realpath(3)).
    static func resolved(_ path: FilePath) throws(Errno) -> FilePath {
        guard let found = path.withPlatformString({ realpath($0, nil) }) else { throw Errno(rawValue: errno) }
        defer { free(found) }
        return FilePath(platformString: found)
    }

    /// Whether a path leads to the directory (stat(2)). One that cannot be looked at proves nothing.
    func isAt(_ path: FilePath) -> Bool {
        var (own, found) = (stat(), stat())
        guard fstat(number, &own) == 0 else { return true }
        guard path.withPlatformString({ stat($0, &found) }) == 0 else { return errno != ENOENT && errno != ENOTDIR }
        return own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }

    /// fsync(2).
    func flush() throws(Errno) {
        let result = strata_file_sync(number)
        if result < 0 { throw Errno(rawValue: -result) }
    }

    /// A folder in it; nil where there is none.
    func openFolder(_ name: String) throws(Errno) -> DirectoryDescriptor? {
        let found = strata_file_open(number, name, O_RDONLY | O_DIRECTORY | Self.noFollow, 0)
        if found == -ENOENT { return nil }
        // Linux says ENOTDIR of a link, too.
        guard found >= 0 else { throw Errno(rawValue: -found) }
        return DirectoryDescriptor(found)
    }

    /// The folder that a file with these names lies in.
    private func folder(of names: [String]) throws(Errno) -> DirectoryDescriptor? {
        var folder = self
        for name in names.dropLast() {
            guard let next = try folder.openFolder(name) else { return nil }
            folder = next
        }
        return folder
    }

    func openFile(_ names: [String]) throws(Errno) -> FileDescriptorBox {
        guard let folder = try folder(of: names), let last = names.last else { throw .noSuchFileOrDirectory }
        let found = strata_file_open(folder.number, last, O_RDONLY | Self.noFollow, 0)
        guard found >= 0 else { throw Errno(rawValue: -found) }
        let file = FileDescriptorBox(found)
        var status = stat()
        _ = try check(fstat(found, &status))
        // A folder has objects in it and is none.
        guard status.st_mode & S_IFMT != S_IFDIR else { throw .noSuchFileOrDirectory }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notDirectory }
        return file
    }

    /// What is known of a file; nil where there is none.
    func statusOfFile(_ names: [String]) throws(Errno) -> FileStatus? {
        guard let folder = try folder(of: names), let last = names.last else { return nil }
        var found = stat()
        guard fstatat(folder.number, last, &found, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw Errno(rawValue: errno)
        }
        guard found.st_mode & S_IFMT != S_IFDIR else { return nil }
        guard found.st_mode & S_IFMT == S_IFREG else { throw .tooManySymbolicLinkLevels }
        return FileStatus(found)
    }

    /// Names of files and folders in it that are no links.
    func entries() throws(Errno) -> [(name: String, isFolder: Bool)] {
        let copy = strata_file_open(number, ".", O_RDONLY | O_DIRECTORY, 0)
        guard copy >= 0 else { throw Errno(rawValue: -copy) }
        guard let stream = fdopendir(copy) else {
            let error = Errno(rawValue: errno)
            _ = close(copy)
            throw error
        }
        defer { closedir(stream) }
        var result: [(String, Bool)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw Errno(rawValue: errno) }
                return result
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            guard !name.hasPrefix(".") else { continue }
            var found = stat()
            guard fstatat(number, name, &found, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            switch found.st_mode & S_IFMT {
            case S_IFDIR: result.append((name, true))
            case S_IFREG: result.append((name, false))
            default: continue
            }
        }
    }

    // MARK: Writing

    /// Waits until nobody else in any process changes names.
    func lock() throws(Errno) -> ObjectsLock {
        let found = strata_file_open(number, ".lock", O_RDWR | O_CREAT | Self.noFollow, 0o600)
        guard found >= 0 else { throw Errno(rawValue: -found) }
        let file = FileDescriptorBox(found)
        while true {
            let result = strata_file_lock(found)
            if result > 0 { return ObjectsLock(file) }
            guard result == 0 || result == -EINTR else { throw Errno(rawValue: -result) }
            usleep(500)
        }
    }

    private static let temporaryPrefix = ".new-"
    private static let temporaryDigits = 16

    /// Whether a name is one that ``createTemporary()`` makes: others are somebody's own.
    private static func isTemporary(_ name: String) -> Bool {
        let digits = name.utf8.dropFirst(temporaryPrefix.utf8.count)
        return name.hasPrefix(temporaryPrefix) && digits.count == temporaryDigits
            && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    func createTemporary() throws(Errno) -> TemporaryFile {
        var generator = SystemRandomNumberGenerator()
        let digits = String(generator.next() as UInt64, radix: 16)
        let name =
            Self.temporaryPrefix + String(repeating: "0", count: Self.temporaryDigits - digits.count) + digits
        let found = strata_file_open(number, name, O_RDWR | O_CREAT | O_EXCL | Self.noFollow, 0o600)
        guard found >= 0 else { throw Errno(rawValue: -found) }
        return TemporaryFile(FileDescriptorBox(found), name, self)
    }

    /// Removes what writes that ended a day ago, or their processes, have left.
    func removeLeftovers() throws(Errno) {
        let copy = strata_file_open(number, ".", O_RDONLY | O_DIRECTORY, 0)
        guard copy >= 0, let stream = fdopendir(copy) else { return }
        defer { closedir(stream) }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            var found = stat()
            guard Self.isTemporary(name), fstatat(number, name, &found, AT_SYMLINK_NOFOLLOW) == 0,
                found.st_mode & S_IFMT == S_IFREG, FileStatus(found).modified < Double(now.tv_sec) - 86_400
            else { continue }
            _ = unlinkat(number, name, 0)
        }
    }

    /// Gives a file the name of an object, durably. With the lock held.
    func install(_ made: TemporaryFile, _ names: [String]) throws(Errno) {
        var folder = self
        for name in names.dropLast() {
            if let next = try folder.openFolder(name) {
                folder = next
                continue
            }
            if mkdirat(folder.number, name, 0o700) < 0, errno != EEXIST { throw Errno(rawValue: errno) }
            try folder.flush()
            guard let next = try folder.openFolder(name) else { throw .noSuchFileOrDirectory }
            folder = next
        }
        guard let last = names.last else { throw .invalidArgument }
        _ = try check(renameat(made.directory.number, made.name, folder.number, last))
        try folder.flush()
    }

    /// Removes a file, and the folders that become empty by it. With the lock held.
    func remove(_ names: [String]) throws(Errno) {
        var folders = [self]
        for name in names.dropLast() {
            guard let next = try folders[folders.count - 1].openFolder(name) else { return }
            folders.append(next)
        }
        guard let last = names.last else { return }
        guard try folders[folders.count - 1].statusOfFile([last]) != nil else { return }
        if unlinkat(folders[folders.count - 1].number, last, 0) < 0, errno != ENOENT { throw Errno(rawValue: errno) }
        for index in stride(from: folders.count - 1, to: 0, by: -1) {
            guard unlinkat(folders[index - 1].number, names[index - 1], AT_REMOVEDIR) == 0 else { return }
        }
    }
}
