import StrataIO
import SystemPackage
import Testing

/// What every implementation promises about names, directories and locks.
@Suite struct NamespaceConformanceTests {
    static let kinds = FileSystemKind.allCases

    @Test(arguments: kinds) func listingIsSortedAndComplete(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            #expect(try fs.list(directory) == [])
            for name in ["b", "a", "ä", "10", "9"] {
                _ = try fs.open(directory.appending(name), .create)
            }
            try fs.createDirectory(directory.appending("dir"))
            #expect(try fs.list(directory) == ["10", "9", "a", "b", "dir", "ä"])
            #expect(throws: Errno.notDirectory) { try fs.list(directory.appending("a")) }
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.list(directory.appending("none")) }
        }
    }

    @Test(arguments: kinds) func aNameThatMustBeFreeIsTakenOnlyIfItIs(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let held = try fs.openDirectory(directory)
            for name in ["a", "b"] { try held.open(name, .create).write(name, at: 0) }
            try fs.createDirectory(directory.appending("dir"))
            for target in ["b", "dir"] {
                #expect(throws: Errno.fileExists) { try held.renameIfAbsent("a", to: target) }
            }
            #expect(throws: Errno.noSuchFileOrDirectory) { try held.renameIfAbsent("none", to: "c") }
            #expect(try held.list() == ["a", "b", "dir"])
            try held.renameIfAbsent("a", to: "c")
            #expect(try held.list() == ["b", "c", "dir"])
            #expect(try held.open("c", .read).text(10) == "a" && held.open("b", .read).text(10) == "b")
        }
    }

    @Test(arguments: kinds) func renameReplaces(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let (a, b) = (directory.appending("a"), directory.appending("b"))
            let file = try fs.open(a, .create)
            try file.write("new", at: 0)
            let replaced = try fs.open(b, .create)
            try replaced.write("old", at: 0)
            try fs.rename(a, to: b)
            #expect(try fs.list(directory) == ["b"])
            #expect(try fs.open(b, .read).text(10) == "new")
            #expect(try replaced.text(10) == "old")
            try file.write("NEW", at: 0)
            #expect(try fs.open(b, .read).text(10) == "NEW")
            try fs.rename(b, to: b)
            #expect(try fs.list(directory) == ["b"])
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.rename(a, to: b) }
        }
    }

    @Test(arguments: kinds) func directoriesAreRenamedWithWhatTheyHold(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let (a, b) = (directory.appending("a"), directory.appending("b"))
            try fs.createDirectory(a)
            try fs.open(a.appending("file"), .create).write("x", at: 0)
            #expect(throws: Errno.invalidArgument) { try fs.rename(a, to: a.appending("inside")) }
            try fs.createDirectory(b)
            try fs.rename(a, to: b)
            #expect(try fs.list(directory) == ["b"])
            #expect(try fs.open(b.appending("file"), .read).text(10) == "x")
            _ = try fs.open(directory.appending("file"), .create)
            #expect(throws: Errno.isDirectory) { try fs.rename(directory.appending("file"), to: b) }
            #expect(throws: Errno.notDirectory) { try fs.rename(b, to: directory.appending("file")) }
            try fs.createDirectory(a)
            #expect(throws: Errno.directoryNotEmpty) { try fs.rename(a, to: b) }
        }
    }

    @Test(arguments: kinds) func anExchangeSwapsTwoNames(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let (a, b, file) = (directory.appending("a"), directory.appending("b"), directory.appending("file"))
            try fs.createDirectory(a)
            try fs.open(a.appending("in a"), .create).write("1", at: 0)
            try fs.createDirectory(b)
            try fs.open(b.appending("in b"), .create).write("2", at: 0)
            do {
                try fs.exchange(a, with: b)
            } catch Errno.notSupported {
                // The directory for temporary files is on a file system without it.
                return
            }
            #expect(try fs.list(a) == ["in b"])
            #expect(try fs.list(b) == ["in a"])
            // Whatever they are.
            _ = try fs.open(file, .create)
            try fs.exchange(a, with: file)
            #expect(try fs.list(file) == ["in b"])
            #expect(try fs.attributes(a)?.isDirectory == false)
            try fs.exchange(a, with: a)
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.exchange(a, with: directory.appending("none")) }
            #expect(throws: Errno.self) { try fs.exchange(directory, with: file) }
            #expect(try fs.list(directory) == ["a", "b", "file"])
        }
    }

    @Test(arguments: kinds) func anOpenDirectoryIsNoMatterOfItsPath(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let (a, b) = (directory.appending("a"), directory.appending("b"))
            try fs.createDirectory(a)
            try fs.open(a.appending("x"), .create).write("mine", at: 0)
            try fs.createDirectory(a.appending("dir"))
            let open = try fs.openDirectory(a)
            #expect(try open.identity() == fs.attributes(a)?.identity)
            try fs.rename(a, to: b)
            try fs.createDirectory(a)
            try fs.open(a.appending("x"), .create).write("other", at: 0)
            #expect(try open.list() == ["dir", "x"])
            #expect(try open.open("x").text(10) == "mine")
            #expect(try open.attributes(of: "x")?.kind == .regular)
            #expect(try open.attributes(of: "x")?.byteCount == 4)
            #expect(try open.attributes(of: "dir")?.kind == .directory)
            #expect(try open.attributes(of: "none") == nil)
            #expect(throws: Errno.isDirectory) { try open.open("dir") }
            #expect(throws: Errno.noSuchFileOrDirectory) { try open.open("none") }
            try open.unlink("x")
            try open.sync()
            #expect(throws: Errno.noSuchFileOrDirectory) { try open.unlink("x") }
            #expect(try fs.list(a) == ["x"])
            #expect(try fs.list(b) == ["dir"])
            #expect(throws: Errno.notDirectory) { try fs.openDirectory(a.appending("x")) }
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.openDirectory(directory.appending("none")) }
            #expect(throws: (any Error).self) { try open.unlink("dir") }
        }
    }

    @Test(arguments: kinds) func namesAreMadeInTheDirectoryThatIsOpen(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let (a, b) = (directory.appending("a"), directory.appending("b"))
            try fs.createDirectory(a)
            let open = try fs.openDirectory(a)
            try fs.rename(a, to: b)
            try fs.createDirectory(a)
            #expect(try fs.identity(a) != open.identity())
            #expect(try fs.identity(b) == open.identity())
            #expect(try fs.identity(directory.appending("none")) == nil)
            try open.open("x", .create).write("new", at: 0)
            #expect(throws: Errno.fileExists) { try open.open("x", .create) }
            #expect(throws: Errno.noSuchFileOrDirectory) { try open.open("none", .readWrite) }
            try open.open("x", .readWrite).write("NEW", at: 0)
            try open.rename("x", to: "y")
            #expect(throws: Errno.noSuchFileOrDirectory) { try open.rename("x", to: "z") }
            try open.open("z", .createIfMissing).write("other", at: 0)
            try open.rename("y", to: "z")
            try open.sync()
            #expect(try fs.list(a) == [])
            #expect(try fs.list(b) == ["z"])
            #expect(try fs.open(b.appending("z"), .read).text(10) == "NEW")
            try open.unlink("z")
            try fs.removeDirectory(b)
            // A directory that is gone takes no names.
            #expect(throws: Errno.noSuchFileOrDirectory) { try open.open("x", .create) }
        }
    }

    @Test(arguments: kinds) func attributesSayWhatItIs(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("f"), .create)
            #expect(try fs.linkAttributes(directory.appending("f"))?.kind == .regular)
            #expect(try fs.linkAttributes(directory)?.kind == .directory)
            #expect(try fs.linkAttributes(directory.appending("none")) == nil)
            #expect(try file.identity() == fs.linkAttributes(directory.appending("f"))?.identity)
        }
    }

    @Test(arguments: kinds) func anUnlinkedFileWorksWhileOpen(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let path = directory.appending("a")
            let file = try fs.open(path, .create)
            try file.write("still", at: 0)
            try fs.unlink(path)
            #expect(try fs.attributes(path) == nil)
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.unlink(path) }
            try file.write(" here", at: 5)
            #expect(try file.text(100) == "still here")
            let successor = try fs.open(path, .create)
            #expect(try successor.byteCount() == 0)
        }
    }

    @Test(arguments: kinds) func directoriesAreMadeAndRemoved(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let path = directory.appending("d")
            try fs.createDirectory(path)
            #expect(throws: Errno.fileExists) { try fs.createDirectory(path) }
            #expect(throws: Errno.fileExists) { try fs.createDirectory("/") }
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.createDirectory(directory.appending("x/y")) }
            let file = path.appending("file")
            _ = try fs.open(file, .create)
            #expect(throws: Errno.fileExists) { try fs.createDirectory(file) }
            #expect(throws: Errno.notDirectory) { try fs.createDirectory(file.appending("x")) }
            #expect(throws: Errno.directoryNotEmpty) { try fs.removeDirectory(path) }
            #expect(throws: Errno.notDirectory) { try fs.removeDirectory(file) }
            #expect(throws: Errno.isDirectory) { try fs.unlink(path) }
            try fs.unlink(file)
            try fs.removeDirectory(path)
            #expect(try fs.attributes(path) == nil)
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.removeDirectory(path) }
        }
    }

    @Test(arguments: kinds) func attributesTellKindLengthAndIdentity(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let (a, b) = (directory.appending("a"), directory.appending("b"))
            let file = try fs.open(a, .create)
            try file.write([1, 2, 3], at: 0)
            let before = try #require(try fs.attributes(a))
            #expect(before.isDirectory == false)
            #expect(before.byteCount == 3)
            #expect(try #require(try fs.attributes(directory)).isDirectory)
            try fs.rename(a, to: b)
            let after = try #require(try fs.attributes(b))
            #expect(after.inode == before.inode)
            #expect(after.device == before.device)
            let other = try fs.open(a, .create)
            #expect(try #require(try fs.attributes(a)).inode != before.inode)
            #expect(try fs.attributes(a.appending("under a file")) == nil)
            _ = other
        }
    }

    @Test(arguments: kinds) func resolvingGivesAnAbsolutePath(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            try fs.createDirectory(directory.appending("d"))
            let roundabout = FilePath("\(directory)/d/../d/.")
            #expect(try fs.resolve(roundabout) == directory.appending("d"))
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.resolve(directory.appending("none")) }
        }
    }

    @Test(arguments: kinds) func oneOpeningHoldsTheLockUntilItIsClosed(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let path = directory.appending("lock")
            let first = try fs.open(path, .create)
            let second = try fs.open(path, .readWrite)
            #expect(try first.tryLockExclusively())
            #expect(try first.tryLockExclusively())
            #expect(try second.tryLockExclusively() == false)
            try first.close()
            #expect(try second.tryLockExclusively())
            // Dropping the last reference closes, too.
            func lockAndDrop() throws -> Bool { try fs.open(path, .readWrite).tryLockExclusively() }
            try second.close()
            #expect(try lockAndDrop())
            #expect(try lockAndDrop())
        }
    }
}
