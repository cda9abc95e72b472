internal import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How a regular file is opened, whatever its name is looked up in.
struct PosixOpening {
    /// Opens with flags and mode, on a descriptor above 2; -errno when it fails.
    let open: (Int32, UInt32) -> Int32
    /// Removes the name.
    let unlink: () -> Void

    /// open(2), fstat(2) and for a new file fchmod(2). Interrupted calls are repeated.
    ///
    /// - Throws: as ``PosixFileSystem/open(_:_:)``.
    func open(_ mode: FileOpenMode) throws(Errno) -> PosixFile {
        switch mode {
        case .read: return try PosixFile(regular: try descriptor(O_RDONLY))
        case .readWrite: return try PosixFile(regular: try descriptor(O_RDWR))
        case .create: return try create()
        case .createIfMissing:
            // Creating and opening are two calls so that it is known whether the mode has to be set. Another process
            // may create or remove the file between them; that it does so each time is not worth waiting for.
            var lastError = Errno.resourceTemporarilyUnavailable
            for _ in 0..<16 {
                do {
                    return try PosixFile(regular: try descriptor(O_RDWR))
                } catch .noSuchFileOrDirectory {
                    lastError = .noSuchFileOrDirectory
                }
                do {
                    return try create()
                } catch .fileExists {
                    lastError = .fileExists
                }
            }
            throw lastError
        }
    }

    private func create() throws(Errno) -> PosixFile {
        let descriptor = try descriptor(O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        if fchmod(descriptor, 0o600) < 0 {
            let error = Errno(rawValue: errno)
            _ = close(descriptor)
            unlink()
            throw error
        }
        return try PosixFile(regular: descriptor)
    }

    /// O_NONBLOCK means nothing for regular files and keeps a planted pipe from blocking the open.
    private func descriptor(_ flags: Int32, mode: UInt32 = 0) throws(Errno) -> Int32 {
        try retryingInterrupts { () throws(Errno) in
            let result = open(flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode)
            guard result >= 0 else { throw Errno(rawValue: -result) }
            return result
        }
    }
}
