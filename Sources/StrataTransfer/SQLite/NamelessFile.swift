import Foundation
import StrataIO
import SystemPackage

/// A file that has no name until it is complete: a program that is killed before leaves nothing of it. Mode 0600. Used
/// by one thread.
final class NamelessFile {
    private let descriptor: Int32

    #if os(Linux)
    /// `O_TMPFILE`, which Swift does not import.
    private static let temporary: Int32 = 0o20_000_000 | O_DIRECTORY
    #endif

    /// - Returns: nil where the system or the file system has no such files.
    init?(in directory: FilePath) {
        #if os(Linux)
        let opened = directory.withPlatformString { Foundation.open($0, O_RDWR | O_CLOEXEC | Self.temporary, 0o600) }
        guard opened >= 0 else { return nil }
        // What the program prints must not get into it, should its standard descriptors have been closed.
        descriptor = opened > 2 ? opened : fcntl(opened, F_DUPFD_CLOEXEC, 3)
        if descriptor != opened { close(opened) }
        guard descriptor >= 0, fchmod(descriptor, 0o600) == 0 else { return nil }
        #else
        return nil
        #endif
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Takes over the contents of another file, flushes them (fsync(2)) and gives the file its name (linkat(2)), which
    /// nothing has so far. Durable when it returns.
    ///
    /// - Throws: `.fileExists` when something has the name, and what the calls throw.
    func install(_ contents: any File, as path: FilePath, in folder: any Directory) throws(Errno) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while true {
            let count = try contents.readPrefix(into: buffer, at: offset)
            if count == 0 { break }
            try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            offset += Int64(count)
        }
        guard fsync(descriptor) == 0 else { throw Errno(rawValue: errno) }
        let result = path.withPlatformString { path in
            linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
        }
        guard result == 0 else { throw Errno(rawValue: errno) }
        try folder.sync()
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset) + done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw count < 0 ? Errno(rawValue: errno) : .ioError }
            done += count
        }
    }
}
