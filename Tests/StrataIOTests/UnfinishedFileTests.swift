import StrataIO
import StrataTestKit
import SystemPackage
import Testing

/// Files that appear under their names when they are complete.
@Suite struct UnfinishedFileTests {
    private static func contents(_ path: FilePath, _ fileSystem: any FileSystem) throws -> [UInt8]? {
        guard try fileSystem.attributes(path) != nil else { return nil }
        let file = try fileSystem.open(path, .read)
        var bytes = [UInt8](repeating: 0, count: Int(try file.byteCount()))
        _ = try bytes.withUnsafeMutableBytes { try file.readAll(into: $0, at: 0) }
        return bytes
    }

    private static func write(
        _ bytes: [UInt8], _ path: FilePath, _ fileSystem: any FileSystem, replacing: Bool = true
    ) throws {
        let file = try UnfinishedFile(for: path, in: fileSystem)
        for byte in bytes { try withUnsafeBytes(of: byte) { try file.append($0) } }
        try file.install(replacing: replacing)
    }

    @Test(arguments: FileSystemKind.allCases) func theFileAppearsWhenItIsComplete(_ kind: FileSystemKind) throws {
        try kind.withDirectory { fileSystem, directory in
            let path = directory.appending("file")
            let file = try UnfinishedFile(for: path, in: fileSystem)
            #expect(throws: Errno.resourceBusy) { try UnfinishedFile(for: path, in: fileSystem) }
            #expect(try fileSystem.list(directory) == ["file.strata-new"])
            try file.install(replacing: false)
            #expect(try fileSystem.list(directory) == ["file"])
            try Self.write([1, 2], path, fileSystem)
            #expect(try Self.contents(path, fileSystem) == [1, 2])
            #expect(throws: Errno.fileExists) { try Self.write([3], path, fileSystem, replacing: false) }
            #expect(try Self.contents(path, fileSystem) == [1, 2])
            #expect(try fileSystem.list(directory) == ["file"])
        }
    }

    @Test(arguments: FileSystemKind.allCases) func whatIsLeftIsRemovedIfItIsOurs(_ kind: FileSystemKind) throws {
        try kind.withDirectory { fileSystem, directory in
            let path = directory.appending("file")
            let beside = directory.appending("file.strata-new")
            func leave() throws {
                let file = try fileSystem.open(beside, .create)
                try withUnsafeBytes(of: UInt8(7)) { try file.writeAll([$0], at: 0) }
                try file.close()
            }
            try leave()
            try UnfinishedFile.removeLeft(beside: path, in: fileSystem) { $0 != [7] }
            #expect(try fileSystem.list(directory) == ["file.strata-new"])
            #expect(throws: Errno.fileExists) { try UnfinishedFile(for: path, in: fileSystem) { $0 != [7] } }
            try UnfinishedFile.removeLeft(beside: path, in: fileSystem) { $0 == [7] }
            #expect(try fileSystem.list(directory) == [])
            try leave()
            try Self.write([1], path, fileSystem)
            #expect(try fileSystem.list(directory) == ["file"])
            let file = try UnfinishedFile(for: path, in: fileSystem)
            try UnfinishedFile.removeLeft(beside: path, in: fileSystem)
            #expect(try fileSystem.list(directory) == ["file", "file.strata-new"])
            file.discard()
            #expect(try fileSystem.list(directory) == ["file"])
        }
    }

    /// The directory is another one by the time that the file is complete.
    @Test(arguments: FileSystemKind.allCases) func theDirectoryIsTheOneThatItWas(_ kind: FileSystemKind) throws {
        try kind.withDirectory { fileSystem, directory in
            let (one, two) = (directory.appending("one"), directory.appending("two"))
            try fileSystem.createDirectory(one)
            let file = try UnfinishedFile(for: one.appending("file"), in: fileSystem)
            try fileSystem.rename(one, to: two)
            try fileSystem.createDirectory(one)
            try file.install(replacing: false)
            #expect(try fileSystem.list(one) == [])
            #expect(try fileSystem.list(two) == ["file"])
        }
    }
}
