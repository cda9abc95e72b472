internal import CStrataSupport
internal import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A directory of the operating system that is open.
final class PosixDirectory: Directory {
    private let descriptor: Int32

    /// Owns the descriptor from now on.
    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        _ = posixClose(descriptor)
    }

    func list() throws(Errno) -> [String] {
        // A description of its own: where reading has come to is shared by duplicates of a descriptor.
        let own = try retryingInterrupts { () throws(Errno) in
            let opened = strata_file_open(descriptor, ".", O_RDONLY | O_DIRECTORY, 0)
            guard opened >= 0 else { throw Errno(rawValue: -opened) }
            return opened
        }
        return try listNames(own)
    }

    func attributes(of name: String) throws(Errno) -> FileAttributes? {
        var status = stat()
        do throws(Errno) {
            _ = try result(fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW))
        } catch .noSuchFileOrDirectory {
            return nil
        }
        return FileAttributes(status)
    }

    func open(_ name: String, _ mode: FileOpenMode) throws(Errno) -> any File { try openFile(name, mode) }

    private func openFile(_ name: String, _ mode: FileOpenMode) throws(Errno) -> PosixFile {
        try PosixOpening(
            open: { [descriptor] flags, mode in strata_file_open(descriptor, name, flags, mode) },
            unlink: { [descriptor] in _ = unlinkat(descriptor, name, 0) }
        ).open(mode)
    }

    func sharedPage(_ name: String, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        try SharedPage.ofFile(try openFile(name, mode), isWritable: mode != .read)
    }

    func rename(_ source: String, to target: String) throws(Errno) {
        _ = try result(renameat(descriptor, source, descriptor, target))
    }

    func renameIfAbsent(_ source: String, to target: String) throws(Errno) {
        switch strata_rename_absent(descriptor, source, target) {
        case 0: return
        case -ENOTSUP: try renameLooking(source, to: target)
        case let error: throw Errno(rawValue: -error)
        }
    }

    func unlink(_ name: String) throws(Errno) {
        _ = try result(unlinkat(descriptor, name, 0))
    }

    func sync() throws(Errno) {
        try flushDirectory(descriptor)
    }

    func identity() throws(Errno) -> FileIdentity {
        var status = stat()
        _ = try result(fstat(descriptor, &status))
        return FileAttributes(status).identity
    }

    private func result(_ result: Int32) throws(Errno) -> Int32 {
        guard result >= 0 else { throw Errno(rawValue: errno) }
        return result
    }
}

extension PosixFile {
    /// - Throws: `.isDirectory` for a directory, `.invalidArgument` for another thing that is no regular file.
    convenience init(regular descriptor: Int32) throws(Errno) {
        self.init(descriptor: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Errno(rawValue: errno) }
        switch FileAttributes(status).kind {
        case .regular: return
        case .directory: throw .isDirectory
        default: throw .invalidArgument
        }
    }
}

extension FileAttributes {
    /// What stat(2) tells; when it was created is not known.
    init(_ status: stat) {
        let kind: FileKind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        self.init(
            kind: kind, byteCount: Int64(status.st_size), allocatedByteCount: Int64(status.st_blocks) * 512,
            device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
    }
}

/// Flushes an open directory.
func flushDirectory(_ descriptor: Int32) throws(Errno) {
    let result = strata_file_sync(descriptor)
    // Network and FUSE file systems that keep directories synchronously answer EINVAL: there is nothing to flush.
    if result < 0 && -result != EINVAL {
        throw Errno(rawValue: -result)
    }
}

/// The names in an open directory, sorted. Closes the descriptor.
func listNames(_ descriptor: Int32) throws(Errno) -> [String] {
    guard let stream = fdopendir(descriptor) else {
        let error = Errno(rawValue: errno)
        _ = posixClose(descriptor)
        throw error
    }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
        errno = 0
        guard let entry = readdir(stream) else {
            guard errno == 0 else { throw Errno(rawValue: errno) }
            break
        }
        let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            // d_name is a NUL-terminated string inside its tuple, valid until the next readdir.
            tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                String(cString: $0)
            }
        }
        if name != "." && name != ".." {
            names.append(name)
        }
    }
    names.sort()
    return names
}

// The methods of the same names hide the C function inside the types; this gives it back.
private func posixClose(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}
