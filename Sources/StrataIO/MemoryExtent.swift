#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Zeroed memory that holds a range of a file in a ``MemoryFileSystem``. Freed when the last reference goes.
final class MemoryExtent {
    /// From here on the memory comes from mmap(2), whose pages cost nothing before they are touched.
    private static let mappedMinimumByteCount = 64 << 10

    /// Where in the file the extent starts.
    let start: Int
    let count: Int
    let base: UnsafeMutableRawPointer
    /// Bytes from here on (counted from the extent's start) have never been written.
    var writtenCount = 0

    var end: Int { start + count }

    /// Nil when there is no memory.
    init?(start: Int, count: Int) {
        self.start = start
        self.count = count
        if count >= Self.mappedMinimumByteCount {
            let address = mmap(nil, count, PROT_READ | PROT_WRITE, Self.mapFlags, -1, 0)
            guard let address, address != MAP_FAILED else { return nil }
            base = address
        } else {
            guard let address = calloc(count, 1) else { return nil }
            base = address
        }
    }

    deinit {
        if count >= Self.mappedMinimumByteCount {
            munmap(base, count)
        } else {
            free(base)
        }
    }

    private static var mapFlags: Int32 {
        #if canImport(Darwin)
        MAP_PRIVATE | MAP_ANON
        #else
        // Reserved space must not count against the system's memory before it is used.
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        #endif
    }
}
