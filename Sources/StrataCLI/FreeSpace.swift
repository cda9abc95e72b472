import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What a file system has left.
struct FreeSpace {
    let isReadOnly: Bool
    /// For users other than root.
    let bytes: Int
    /// Nil where files need no inodes: such file systems say 0 of 0.
    let inodes: UInt64?

    /// - Returns: nil when the system does not say.
    init?(at url: URL) {
        var status = statvfs()
        guard statvfs(url.path, &status) == 0 else { return nil }
        isReadOnly = status.f_flag & UInt(ST_RDONLY) != 0
        let free = Int(clamping: UInt64(status.f_bavail)).multipliedReportingOverflow(by: Int(status.f_frsize))
        bytes = free.overflow ? Int.max : free.partialValue
        inodes = status.f_files > 0 ? UInt64(status.f_favail) : nil
    }
}
