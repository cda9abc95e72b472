internal import StrataIO
internal import SystemPackage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The process number in a store's lock file, so that a refusal can name the holder. Only information: the lock
/// itself is what counts.
enum LockHolder {
    static func write(_ file: any File) throws(Errno) {
        let text = Array("\(getpid())\n".utf8)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
        defer { memory.deallocate() }
        memory.copyBytes(from: text)
        try file.truncate(to: 0)
        try file.writeAll([UnsafeRawBufferPointer(memory)], at: 0)
    }

    static func read(_ file: any File) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = (try? bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }) ?? 0
        return Int32(String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
