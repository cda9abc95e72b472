import StrataIO
import SystemPackage
import Testing

/// What every implementation of the protocol promises.
@Suite struct ConformanceTests {
    static let kinds = FileSystemKind.allCases

    @Test(arguments: kinds) func whatWasWrittenIsRead(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            try file.write("hello world", at: 0)
            #expect(try file.text(100) == "hello world")
            #expect(try file.text(5, at: 6) == "world")
            #expect(try file.text(5, at: 11) == "")
            #expect(try file.text(5, at: 1000) == "")
            try file.write("WOR", at: 6)
            #expect(try file.text(100) == "hello WORld")
            #expect(try file.byteCount() == 11)
            let again = try fs.open(directory.appending("a"), .read)
            #expect(try again.text(100) == "hello WORld")
        }
    }

    @Test(arguments: kinds) func buffersAreWrittenOneAfterTheOther(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            // More pieces than one system call takes, some of them empty.
            let pieces = (0..<3000).map { [UInt8](repeating: UInt8($0 % 251), count: $0 % 7) }
            let storage = pieces.map { piece in
                let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
                copy.copyBytes(from: piece)
                return copy
            }
            defer { storage.forEach { $0.deallocate() } }
            try file.writeAll(storage.map { UnsafeRawBufferPointer($0) }, at: 3)
            let expected: [UInt8] = [0, 0, 0] + pieces.joined()
            #expect(try file.bytes(100_000) == expected)
            #expect(try file.write([], at: 0) == 0)
        }
    }

    @Test(arguments: kinds) func gapsReadAsZeros(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            try file.write("end", at: 200_000)
            try file.write("middle", at: 100_000)
            #expect(try file.byteCount() == 200_003)
            let bytes = try file.bytes(300_000)
            var expected = [UInt8](repeating: 0, count: 200_003)
            expected.replaceSubrange(100_000..<100_006, with: Array("middle".utf8))
            expected.replaceSubrange(200_000..<200_003, with: Array("end".utf8))
            #expect(bytes == expected)
        }
    }

    @Test(arguments: kinds) func largeWritesCrossEveryBoundary(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            var expected: [UInt8] = []
            for step in 0..<40 {
                let piece = [UInt8](repeating: UInt8(step + 1), count: 1 + step * 1777)
                try file.write(piece, at: Int64(expected.count))
                expected += piece
            }
            #expect(try file.bytes(expected.count + 1) == expected)
            for offset in stride(from: 0, to: expected.count - 5000, by: 4099) {
                #expect(try file.bytes(5000, at: Int64(offset)) == Array(expected[offset..<offset + 5000]))
            }
        }
    }

    @Test(arguments: kinds) func truncationCutsAndExtendsWithZeros(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            try file.write([UInt8](repeating: 7, count: 10_000), at: 0)
            try file.truncate(to: 3)
            #expect(try file.bytes(100) == [7, 7, 7])
            try file.truncate(to: 6)
            #expect(try file.bytes(100) == [7, 7, 7, 0, 0, 0])
            try file.truncate(to: 0)
            try file.write([9], at: 20)
            #expect(try file.bytes(100) == [UInt8](repeating: 0, count: 20) + [9])
            #expect(throws: Errno.invalidArgument) { try file.truncate(to: -1) }
        }
    }

    @Test(arguments: kinds) func preallocationLengthensWithZerosAndKeepsData(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            try file.write("data", at: 0)
            try file.preallocate(from: 0, byteCount: 1 << 20)
            #expect(try file.byteCount() == 1 << 20)
            #expect(try file.text(4) == "data")
            #expect(try file.bytes(1 << 20, at: 4).allSatisfy { $0 == 0 })
            try file.preallocate(from: 0, byteCount: 10)
            #expect(try file.byteCount() == 1 << 20)
            try file.write("more", at: 70_000)
            #expect(try file.text(4, at: 70_000) == "more")
            try file.truncate(to: 70_002)
            try file.preallocate(from: 70_000, byteCount: 100)
            #expect(try file.bytes(200, at: 70_000) == Array("mo".utf8) + [UInt8](repeating: 0, count: 98))
        }
    }

    @Test(arguments: kinds) func mappingShowsTheRange(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let path = directory.appending("a")
            let file = try fs.open(path, .create)
            let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            for start in stride(from: 0, to: content.count, by: 10_000) {
                try file.write(Array(content[start..<start + 10_000]), at: Int64(start))
            }
            try file.truncate(to: 400_000)
            let regions = [(0, 400_000), (1, 5000), (4096, 4096), (123_457, 176_543), (299_990, 20), (400_000, 0)]
            for (offset, count) in regions {
                let region = try file.map(from: Int64(offset), byteCount: count)
                let zeros = [UInt8](repeating: 0, count: 100_000)
                #expect(Array(region.bytes) == Array((content + zeros)[offset..<offset + count]))
            }
            #expect(throws: Errno.invalidArgument) { try file.map(from: 399_999, byteCount: 2) }
            #expect(throws: Errno.invalidArgument) { try file.map(from: -1, byteCount: 2) }
            // A region outlives its file, open or named.
            let region = try file.map(from: 10, byteCount: 10)
            try file.close()
            try fs.unlink(path)
            #expect(Array(region.bytes) == Array(content[10..<20]))
        }
    }

    @Test(arguments: kinds) func openModesSayWhatMustExist(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let path = directory.appending("a")
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.open(path, .read) }
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.open(path, .readWrite) }
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.open(directory.appending("no/a"), .create) }
            try fs.open(path, .createIfMissing).write("kept", at: 0)
            #expect(throws: Errno.fileExists) { try fs.open(path, .create) }
            #expect(try fs.open(path, .createIfMissing).text(10) == "kept")
            #expect(try fs.open(path, .readWrite).text(10) == "kept")
            #expect(throws: Errno.isDirectory) { try fs.open(directory, .read) }
            #expect(throws: Errno.isDirectory) { try fs.open(directory, .readWrite) }
            #expect(throws: Errno.notDirectory) { try fs.open(path.appending("b"), .read) }
            #expect(throws: Errno.fileNameTooLong) {
                try fs.open(directory.appending(String(repeating: "n", count: 256)), .create)
            }
        }
    }

    @Test(arguments: kinds) func aFileOpenedForReadingRefusesChanges(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let path = directory.appending("a")
            try fs.open(path, .create).write("kept", at: 0)
            let file = try fs.open(path, .read)
            #expect(throws: Errno.badFileDescriptor) { try file.write("x", at: 0) }
            #expect(throws: Errno.invalidArgument) { try file.truncate(to: 0) }
            #expect(throws: Errno.badFileDescriptor) { try file.preallocate(from: 0, byteCount: 10) }
            #expect(throws: Errno.badFileDescriptor) { try file.tryLockExclusively() }
            #expect(try file.text(10) == "kept")
        }
    }

    @Test(arguments: kinds) func aClosedFileRefusesEverything(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            try file.write("x", at: 0)
            try file.close()
            try file.close()
            // Something else takes the next free descriptor, which must not be reached through the closed file.
            let other = try fs.open(directory.appending("b"), .create)
            #expect(throws: Errno.badFileDescriptor) { try file.bytes(1) }
            #expect(throws: Errno.badFileDescriptor) { try file.write("y", at: 0) }
            #expect(throws: Errno.badFileDescriptor) { try file.syncData() }
            #expect(throws: Errno.badFileDescriptor) { try file.sync() }
            #expect(throws: Errno.badFileDescriptor) { try file.truncate(to: 0) }
            #expect(throws: Errno.badFileDescriptor) { try file.preallocate(from: 0, byteCount: 1) }
            #expect(throws: Errno.badFileDescriptor) { try file.byteCount() }
            #expect(throws: Errno.badFileDescriptor) { try file.map(from: 0, byteCount: 1) }
            #expect(throws: Errno.badFileDescriptor) { try file.tryLockExclusively() }
            #expect(try other.byteCount() == 0)
        }
    }

    @Test(arguments: kinds) func syncCallsSucceed(kind: FileSystemKind) throws {
        try kind.withDirectory { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            try file.write("x", at: 0)
            try file.syncData()
            try file.sync()
            try fs.syncDirectory(directory)
            #expect(throws: Errno.notDirectory) { try fs.syncDirectory(directory.appending("a")) }
            #expect(throws: Errno.noSuchFileOrDirectory) { try fs.syncDirectory(directory.appending("b")) }
        }
    }
}
