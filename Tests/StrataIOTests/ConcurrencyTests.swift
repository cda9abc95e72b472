import StrataIO
import SystemPackage
import Testing

/// Many threads on one file.
@Suite struct ConcurrencyTests {
    @Test(arguments: FileSystemKind.allCases) func readersSeeWhatWasAppended(kind: FileSystemKind) async throws {
        try await kind.withDirectoryAsync { fs, directory in
            let file = try fs.open(directory.appending("a"), .create)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for step in 0..<2000 {
                        try file.write([UInt8](repeating: UInt8(step % 250 + 1), count: 100), at: Int64(step) * 100)
                    }
                }
                for seed in 0..<3 {
                    group.addTask {
                        var last = 0
                        while last < 1999 {
                            let steps = Int(try file.byteCount()) / 100
                            guard steps > 0 else { continue }
                            last = steps - 1
                            for step in [last, last * seed / 3] {
                                let bytes = try file.bytes(100, at: Int64(step) * 100)
                                #expect(bytes == [UInt8](repeating: UInt8(step % 250 + 1), count: 100))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: FileSystemKind.allCases) func closingNeverLetsAReadReachAnotherFile(
        kind: FileSystemKind
    ) async throws {
        try await kind.withDirectoryAsync { fs, directory in
            let (right, wrong) = (directory.appending("right"), directory.appending("wrong"))
            try fs.open(right, .create).write([UInt8](repeating: 1, count: 4096), at: 0)
            try fs.open(wrong, .create).write([UInt8](repeating: 2, count: 4096), at: 0)
            for _ in 0..<200 {
                let file = try fs.open(right, .read)
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        while let bytes = try? file.bytes(4096) {
                            #expect(bytes.count == 4096 && bytes.allSatisfy { $0 == 1 })
                        }
                    }
                    group.addTask {
                        try? file.close()
                        for _ in 0..<4 {
                            _ = try? fs.open(wrong, .read).bytes(10)
                        }
                    }
                }
            }
        }
    }
}

extension FileSystemKind {
    func withDirectoryAsync(_ body: (any FileSystem, FilePath) async throws -> Void) async throws {
        guard self == .posix else {
            var made: (any FileSystem, FilePath)?
            try withDirectory { made = ($0, $1) }
            let (fileSystem, directory) = try #require(made)
            return try await body(fileSystem, directory)
        }
        let directory = try makeTemporaryDirectory()
        defer { removeTree(directory, in: PosixFileSystem()) }
        try await body(PosixFileSystem(), directory)
    }
}
