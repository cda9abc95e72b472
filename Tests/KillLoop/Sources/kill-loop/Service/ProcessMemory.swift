import CProcessMemory

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// This process as the kernel counts it.
enum ProcessMemory {
    static var residentBytes: Int {
        (fields(of: "/proc/self/statm").dropFirst().first ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    static var threadCount: Int {
        // The twentieth field; the second, the program's name, has no space in it.
        let fields = fields(of: "/proc/self/stat")
        return fields.count > 19 ? fields[19] : 0
    }

    /// Has the C library give back what it keeps of freed memory, where it has such a call.
    static func trim() {
        process_memory_trim()
    }

    /// Has 64 clients share four heaps, as docs/operations.md tells a service of many threads to.
    static func shareHeaps() {
        process_memory_share_heaps(4)
    }

    private static func fields(of path: String) -> [Int] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: " ").map { Int($0) ?? 0 }
    }
}
