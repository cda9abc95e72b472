import StrataIO
import SystemPackage
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What only files of the operating system have: modes, links, pipes, other processes.
@Suite struct PosixFileSystemTests {
    let fs = PosixFileSystem()

    static func mode(_ path: FilePath) throws -> UInt32 {
        var status = stat()
        try #require(path.withPlatformString { lstat($0, &status) } == 0)
        return UInt32(status.st_mode) & 0o7777
    }

    @Test func linksAreNotFollowedWhereThatIsAsked() throws {
        try withTemporaryDirectory { directory in
            let fs = PosixFileSystem()
            let (target, link) = (directory.appending("target"), directory.appending("link"))
            try fs.createDirectory(target)
            try fs.open(target.appending("precious"), .create).write("x", at: 0)
            #expect(symlink("target", link.string) == 0)
            #expect(symlink("precious", target.appending("inner").string) == 0)
            #expect(mkfifo(target.appending("pipe").string, 0o600) == 0)
            #expect(try fs.linkAttributes(link)?.kind == .symbolicLink)
            #expect(try fs.attributes(link)?.kind == .directory)
            #expect(throws: Errno.notDirectory) { try fs.openDirectory(link) }
            let open = try fs.openDirectory(target)
            #expect(try open.attributes(of: "inner")?.kind == .symbolicLink)
            #expect(try open.attributes(of: "pipe")?.kind == .other)
            #expect(throws: Errno.self) { try open.open("inner") }
            #expect(throws: Errno.invalidArgument) { try open.open("pipe") }
            try open.unlink("inner")
            #expect(try fs.list(target) == ["pipe", "precious"])
        }
    }

    @Test func filesAndDirectoriesAreForTheOwnerOnly() throws {
        try withTemporaryDirectory { directory in
            _ = try fs.open(directory.appending("a"), .create)
            _ = try fs.open(directory.appending("b"), .createIfMissing)
            try fs.createDirectory(directory.appending("d"))
            #expect(try Self.mode(directory.appending("a")) == 0o600)
            #expect(try Self.mode(directory.appending("b")) == 0o600)
            #expect(try Self.mode(directory.appending("d")) == 0o700)
        }
    }

    @Test func beginningToWriteIsOnlyAHint() throws {
        try withTemporaryDirectory { directory in
            let file = try fs.open(directory.appending("a"), .create)
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 300_000, alignment: 1)
            defer { bytes.deallocate() }
            bytes.initializeMemory(as: UInt8.self, repeating: 7)
            try file.writeAll([UnsafeRawBufferPointer(bytes)], at: 0)
            file.beginWriting(from: 1, byteCount: 200_000)
            // Neither a range that is not there nor a closed file is a reason to fail.
            file.beginWriting(from: 1 << 40, byteCount: 1)
            file.beginWriting(from: -1, byteCount: -1)
            try file.syncData()
            let read = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            defer { read.deallocate() }
            #expect(try file.readAll(into: read, at: 0))
            #expect(read.elementsEqual(bytes))
            #expect(try file.byteCount() == 300_000)
            try file.close()
            file.beginWriting(from: 0, byteCount: 1)
        }
    }

    @Test func theUmaskDoesNotTakeTheOwnersRights() async throws {
        // The umask belongs to the whole process, hence another process.
        await #expect(processExitsWith: .success) {
            let fs = PosixFileSystem()
            try withTemporaryDirectory { directory in
                umask(0o777)
                defer { umask(0) }
                let file = try fs.open(directory.appending("a"), .create)
                try file.write("x", at: 0)
                try fs.createDirectory(directory.appending("d"))
                try #require(try PosixFileSystemTests.mode(directory.appending("a")) == 0o600)
                try #require(try PosixFileSystemTests.mode(directory.appending("d")) == 0o700)
                _ = try fs.open(directory.appending("d/inside"), .create)
            }
        }
    }

    @Test func anExistingFileKeepsItsMode() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending("a")
            _ = try fs.open(path, .create)
            try #require(path.withPlatformString { chmod($0, 0o640) } == 0)
            _ = try fs.open(path, .createIfMissing)
            #expect(try Self.mode(path) == 0o640)
        }
    }

    @Test func symbolicLinksAreNotOpened() throws {
        try withTemporaryDirectory { directory in
            let (file, link) = (directory.appending("file"), directory.appending("link"))
            let dangling = directory.appending("dangling")
            _ = try fs.open(file, .create)
            try #require(symlink(file.string, link.string) == 0)
            try #require(symlink(directory.appending("nowhere").string, dangling.string) == 0)
            #expect(throws: Errno.tooManySymbolicLinkLevels) { try fs.open(link, .read) }
            #expect(throws: Errno.tooManySymbolicLinkLevels) { try fs.open(link, .readWrite) }
            #expect(throws: Errno.tooManySymbolicLinkLevels) { try fs.open(link, .createIfMissing) }
            #expect(throws: Errno.fileExists) { try fs.open(dangling, .create) }
            #expect(throws: Errno.tooManySymbolicLinkLevels) { try fs.open(dangling, .createIfMissing) }
            #expect(try fs.list(directory) == ["dangling", "file", "link"])
            #expect(try fs.resolve(link) == file)
            #expect(try fs.attributes(link) == fs.attributes(file))
            #expect(try fs.attributes(dangling) == nil)
        }
    }

    @Test(.timeLimit(.minutes(20))) func aPipeIsRefusedWithoutWaiting() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending("pipe")
            try #require(mkfifo(path.string, 0o600) == 0)
            #expect(throws: Errno.invalidArgument) { try fs.open(path, .read) }
            #expect(throws: Errno.invalidArgument) { try fs.open(path, .createIfMissing) }
        }
    }

    @Test func descriptorsAreClosedOnExecAndWhenReleased() throws {
        try withTemporaryDirectory { directory in
            func descriptors() throws -> [String] {
                try PosixFileSystem().list("/proc/self/fd").filter { name in
                    (try? FilePath("/proc/self/fd/\(name)").target())?.hasPrefix(directory.string) ?? false
                }
            }
            guard try fs.attributes("/proc/self/fd") != nil else { return }
            var file: (any File)? = try fs.open(directory.appending("a"), .create)
            let open = try descriptors()
            #expect(open.count == 1)
            for name in open {
                #expect(fcntl(try #require(Int32(name)), F_GETFD) & FD_CLOEXEC != 0)
            }
            // Closing lets go of the file although the object lives on.
            try file?.close()
            #expect(try descriptors() == [])
            file = nil
        }
    }

    @Test func anotherProcessIsLockedOut() async throws {
        let directory = try makeTemporaryDirectory()
        defer { removeTree(directory, in: fs) }
        let path = directory.appending("lock").string
        let file = try fs.open(FilePath(path), .create)
        #expect(try file.tryLockExclusively())
        await #expect(processExitsWith: .success) { [path = path as String] in
            let other = try PosixFileSystem().open(FilePath(path), .readWrite)
            try #require(try other.tryLockExclusively() == false)
        }
        try file.close()
        await #expect(processExitsWith: .success) { [path = path as String] in
            let other = try PosixFileSystem().open(FilePath(path), .readWrite)
            try #require(try other.tryLockExclusively())
        }
        // It ended without closing: the lock went with it.
        #expect(try fs.open(FilePath(path), .readWrite).tryLockExclusively())
    }

    @Test func reservedSpaceIsTakenFromTheDevice() throws {
        try withTemporaryDirectory { directory in
            let path = directory.appending("a")
            let file = try fs.open(path, .create)
            try file.preallocate(from: 0, byteCount: 1 << 20)
            let attributes = try #require(try fs.attributes(path))
            #expect(attributes.byteCount == 1 << 20)
            #expect(throws: Errno.fileTooLarge) { try file.preallocate(from: 1, byteCount: .max) }
        }
    }

    @Test func pathsThatCannotBeAreRefused() throws {
        #expect(throws: Errno.noSuchFileOrDirectory) { try fs.open("", .read) }
        #expect(throws: Errno.noSuchFileOrDirectory) { try fs.resolve("/no such directory/x") }
        #expect(throws: Errno.noSuchFileOrDirectory) { try fs.list("/no such directory") }
        #expect(throws: Errno.noSuchFileOrDirectory) { try fs.rename("/no such file", to: "/neither") }
    }
}

extension FilePath {
    /// What a symbolic link says.
    fileprivate func target() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = withPlatformString { path in
            buffer.withUnsafeMutableBytes { bytes in
                readlink(path, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
            }
        }
        guard count >= 0 else { throw Errno.noSuchFileOrDirectory }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}
