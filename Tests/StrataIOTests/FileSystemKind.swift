import StrataIO
import StrataTestKit
import SystemPackage
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The implementations that must behave alike.
enum FileSystemKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case posix
    case memory
    case simulated

    var testDescription: String { rawValue }

    /// Runs the body with an empty directory on a file system of this kind.
    func withDirectory(_ body: (any FileSystem, FilePath) throws -> Void) throws {
        switch self {
        case .posix:
            try withTemporaryDirectory { try body(PosixFileSystem(), $0) }
        case .memory:
            let fileSystem = MemoryFileSystem()
            try fileSystem.createDirectory("/store")
            try body(fileSystem, "/store")
        case .simulated:
            let fileSystem = SimulatedFileSystem()
            try fileSystem.createDirectory("/store")
            try body(fileSystem, "/store")
        }
    }
}

/// Runs the body with an empty directory on disk, which is removed afterwards.
func withTemporaryDirectory(_ body: (FilePath) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { removeTree(directory, in: PosixFileSystem()) }
    try body(directory)
}

func makeTemporaryDirectory() throws -> FilePath {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/strata-io-XXXXXX".utf8CString)
    let path = template.withUnsafeMutableBufferPointer { buffer in
        mkdtemp(buffer.baseAddress!).map { FilePath(String(cString: $0)) }
    }
    return try PosixFileSystem().resolve(try #require(path))
}

func removeTree(_ directory: FilePath, in fileSystem: PosixFileSystem) {
    for name in (try? fileSystem.list(directory)) ?? [] {
        let path = directory.appending(name)
        if (try? fileSystem.unlink(path)) == nil {
            removeTree(path, in: fileSystem)
        }
    }
    try? fileSystem.removeDirectory(directory)
}

extension File {
    func write(_ bytes: [UInt8], at offset: Int64) throws {
        try bytes.withUnsafeBytes { try writeAll([$0], at: offset) }
    }

    func write(_ text: String, at offset: Int64) throws {
        try write(Array(text.utf8), at: offset)
    }

    /// At most `count` bytes.
    func bytes(_ count: Int, at offset: Int64 = 0) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: count)
        let got = try bytes.withUnsafeMutableBytes { try read(into: $0, at: offset) }
        return Array(bytes[..<got])
    }

    func text(_ count: Int, at offset: Int64 = 0) throws -> String {
        String(decoding: try bytes(count, at: offset), as: UTF8.self)
    }
}
