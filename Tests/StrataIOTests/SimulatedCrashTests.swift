import StrataIO
import StrataTestKit
import SystemPackage
import Testing

/// What survives a crash, and what need not.
@Suite struct SimulatedCrashTests {
    typealias Policy = SimulatedFileSystem.CrashPolicy
    static let powerFailures: [Policy] = [.strict, .ordered, .evil]
    static let seeds: Range<UInt64> = 0..<300

    /// A file system with a durable file "/a" of the given bytes.
    private func disk(_ bytes: [UInt8]) throws -> (SimulatedFileSystem, any File) {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        try file.write(bytes, at: 0)
        try file.syncData()
        try fs.syncDirectory("/")
        return (fs, file)
    }

    private func images(_ fs: SimulatedFileSystem, _ policy: Policy) -> [SimulatedFileSystem] {
        Self.seeds.map { fs.crashImage(policy: policy, seed: $0) }
    }

    private func contents(_ images: [SimulatedFileSystem], _ path: FilePath = "/a") -> Set<[UInt8]?> {
        Set(images.map { try? $0.contents(of: path) })
    }

    @Test(arguments: Policy.allCases) func whatWasFlushedSurvives(policy: Policy) throws {
        let (fs, file) = try disk([UInt8](repeating: 1, count: 5000))
        try file.write([UInt8](repeating: 2, count: 100), at: 6000)
        try file.truncate(to: 6050)
        try file.sync()
        let expected =
            [UInt8](repeating: 1, count: 5000) + [UInt8](repeating: 0, count: 1000)
            + [UInt8](repeating: 2, count: 50)
        #expect(contents(images(fs, policy)) == [expected])
    }

    @Test(arguments: powerFailures) func whatWasNotFlushedMaySurviveOrNot(policy: Policy) throws {
        let (fs, file) = try disk([1])
        try file.write([2], at: 0)
        #expect(contents(images(fs, policy)) == [[1], [2]])
    }

    @Test(arguments: Policy.allCases) func aFileWithoutADurableNameMayVanish(policy: Policy) throws {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        try file.write([1], at: 0)
        try file.sync()
        #expect(contents(images(fs, policy)) == (policy == .killed ? [[1]] : [[1], nil]))
        try fs.syncDirectory("/")
        #expect(contents(images(fs, policy)) == [[1]])
    }

    @Test(arguments: powerFailures) func aRenameIsDurableOnlyAfterItsDirectory(policy: Policy) throws {
        let (fs, _) = try disk([1])
        let replacement = try fs.open("/b", .create)
        try replacement.write([2], at: 0)
        try replacement.syncData()
        try fs.syncDirectory("/")
        try fs.rename("/b", to: "/a")
        let before = images(fs, policy)
        #expect(contents(before) == [[1], [2]])
        for image in before {
            // Atomic: the other name exists exactly if the rename was lost.
            #expect((try image.contents(of: "/a") == [1]) == (try image.list("/") == ["a", "b"]))
        }
        try fs.syncDirectory("/")
        #expect(contents(images(fs, policy)) == [[2]])
        #expect(contents(images(fs, policy), "/b") == [nil])
    }

    @Test func aRenameBetweenDirectoriesWaitsForBoth() throws {
        let (fs, _) = try disk([1])
        try fs.createDirectory("/d")
        try fs.syncDirectory("/")
        try fs.rename("/a", to: "/d/a")
        try fs.syncDirectory("/d")
        #expect(contents(images(fs, .strict), "/d/a") == [[1], nil])
        #expect(contents(images(fs, .strict), "/a") == [[1], nil])
        try fs.syncDirectory("/")
        #expect(contents(images(fs, .strict), "/d/a") == [[1]])
    }

    @Test(arguments: powerFailures) func aRemovalIsDurableOnlyAfterItsDirectory(policy: Policy) throws {
        let (fs, _) = try disk([1])
        try fs.unlink("/a")
        #expect(contents(images(fs, policy)) == [[1], nil])
        try fs.syncDirectory("/")
        #expect(contents(images(fs, policy)) == [nil])
    }

    @Test(arguments: powerFailures) func writesTearAtSectors(policy: Policy) throws {
        let (fs, file) = try disk([UInt8](repeating: 1, count: 4096))
        try file.write([UInt8](repeating: 2, count: 3000), at: 300)
        var mixed = 0
        for image in images(fs, policy) {
            let bytes = try image.contents(of: "/a")
            #expect(bytes.count == 4096)
            var kept: Set<Bool> = []
            for start in stride(from: 0, to: 4096, by: 512) {
                let touched = (start..<start + 512).clamped(to: 300..<3300)
                let sector = Set(bytes[touched])
                #expect(sector.count <= 1, "a sector is written as a whole or not at all")
                kept.formUnion(sector.map { $0 == 2 })
                #expect((start..<start + 512).filter { !touched.contains($0) }.allSatisfy { bytes[$0] == 1 })
            }
            if kept.count == 2 { mixed += 1 }
        }
        #expect(mixed > 0)
    }

    @Test func aSectorMayEndAtAnyOfItsVersions() throws {
        let (fs, file) = try disk([UInt8](repeating: 0, count: 512))
        for step in 1...3 {
            try file.write([UInt8(step)], at: Int64(step))
        }
        let versions = Set(images(fs, .strict).map { Array(try! $0.contents(of: "/a")[1...3]) })
        // What was written earlier is in the page cache when the sector is written later.
        #expect(versions == [[0, 0, 0], [1, 0, 0], [1, 2, 0], [1, 2, 3]])
    }

    @Test func lengthAndDataAreIndependent() throws {
        let (fs, file) = try disk([UInt8](repeating: 1, count: 512))
        try file.write([UInt8](repeating: 2, count: 512), at: 512)
        let old = [UInt8](repeating: 1, count: 512)
        let data = old + [UInt8](repeating: 2, count: 512)
        let hole = old + [UInt8](repeating: 0, count: 512)
        #expect(contents(images(fs, .strict)) == [old, data, hole])
        #expect(contents(images(fs, .ordered)) == [old, data])
        let evil = contents(images(fs, .evil))
        #expect(evil.isSuperset(of: [old, data, hole]))
        #expect(evil.contains(data.prefix(512) + old), "old bytes of a file appear in another place")
        #expect(evil.count > 4, "noise appears where nothing was written")
    }

    @Test func reservedSpaceReadsAsZerosEvenThen() throws {
        let (fs, file) = try disk([1])
        try file.preallocate(from: 0, byteCount: 4096)
        try file.sync()
        try file.write([UInt8](repeating: 2, count: 512), at: 1024)
        for image in images(fs, .evil) {
            let sector = Set(try image.contents(of: "/a")[1024..<1536])
            #expect(sector == [0] || sector == [2])
        }
    }

    @Test func anUnflushedCutAndWhatFollowedItStayTogether() throws {
        let (fs, file) = try disk([UInt8](repeating: 1, count: 1024))
        try file.truncate(to: 0)
        try file.write([UInt8](repeating: 2, count: 512), at: 0)
        let old = [UInt8](repeating: 1, count: 1024)
        let (zeros, new) = ([UInt8](repeating: 0, count: 512), [UInt8](repeating: 2, count: 512))
        #expect(contents(images(fs, .strict)) == [old, [], zeros, new])
    }

    @Test func namesAreKeptInOrderByAJournal() throws {
        let fs = SimulatedFileSystem()
        for name in ["a", "b", "c"] {
            _ = try fs.open(FilePath("/\(name)"), .create)
        }
        let ordered = Set(images(fs, .ordered).map { try! $0.list("/") })
        #expect(ordered == [[], ["a"], ["a", "b"], ["a", "b", "c"]])
        let strict = Set(images(fs, .strict).map { try! $0.list("/") })
        #expect(strict.count == 8)
    }

    @Test func aDirectoryMadeDurableHoldsWhatWasMadeDurableInIt() throws {
        let fs = SimulatedFileSystem()
        try fs.createDirectory("/d")
        _ = try fs.open("/d/a", .create)
        try fs.syncDirectory("/d")
        #expect(Set(images(fs, .strict).map { $0.filePaths }) == [[], ["/d/a"]])
        try fs.syncDirectory("/")
        #expect(Set(images(fs, .strict).map { $0.filePaths }) == [["/d/a"]])
    }

    @Test func aKilledProcessLosesItsLocksOnly() throws {
        let (fs, file) = try disk([1])
        #expect(try file.tryLockExclusively())
        try file.write([2], at: 0)
        try fs.rename("/a", to: "/b")
        let image = fs.crashImage(policy: .killed, seed: 1)
        #expect(image.filePaths == ["/b"])
        #expect(try image.open("/b", .readWrite).tryLockExclusively())
        #expect(try image.contents(of: "/b") == [2])
        // It is still only in the page cache.
        #expect(contents(images(image, .strict)) == [[1], [2], nil])
        #expect(contents(images(image, .strict), "/b") == [[1], [2], nil])
    }

    @Test func theImageIsSeparateFromItsSource() throws {
        let (fs, file) = try disk([1])
        let image = fs.fork()
        try image.open("/a", .readWrite).write([2], at: 0)
        try image.unlink("/a")
        #expect(try file.bytes(1) == [1])
        #expect(try fs.list("/") == ["a"])
    }
}
