import StrataIO
import StrataTestKit
import SystemPackage
import Testing

/// Calls that fail, flushes that lie and bytes that rot.
@Suite struct SimulatedFaultTests {
    typealias Fault = SimulatedFileSystem.Fault

    /// Makes each call of the protocol at least once.
    private func exercise(_ fs: SimulatedFileSystem) throws {
        try fs.createDirectory("/d")
        let file = try fs.open("/d/a", .createIfMissing)
        _ = try file.tryLockExclusively()
        try file.preallocate(from: 0, byteCount: 100)
        try file.write([UInt8](repeating: 1, count: 100), at: 0)
        try file.truncate(to: 50)
        try file.syncData()
        try file.sync()
        _ = try file.bytes(50)
        _ = try file.map(from: 0, byteCount: 50)
        _ = try file.byteCount()
        try file.close()
        try fs.rename("/d/a", to: "/d/b")
        try fs.syncDirectory("/d")
        _ = try fs.list("/d")
        _ = try fs.attributes("/d/b")
        _ = try fs.resolve("/d/b")
        _ = try fs.openDirectory("/d")
        try fs.exchange("/d/b", with: "/d/b")
        try fs.unlink("/d/b")
        try fs.removeDirectory("/d")
    }

    @Test func theNthCallFailsWhateverItIs() throws {
        let plain = SimulatedFileSystem()
        try exercise(plain)
        #expect(plain.callCount() == 21)
        for call in SimulatedFileSystem.Call.allCases {
            #expect(plain.callCount(of: call) == 1)
        }
        for number in 1...plain.callCount() {
            for error in [Errno.ioError, .noSpace, .interrupted] where error != .interrupted || number != 5 {
                let fs = SimulatedFileSystem()
                fs.inject(Fault(.fail(error), atCall: number))
                #expect(throws: error) { try exercise(fs) }
                #expect(fs.callCount() == number)
                #expect(fs.firedFaultCount == 1)
            }
        }
        // The fifth is the write: interrupted, it is repeated.
        let fs = SimulatedFileSystem()
        fs.inject(Fault(.fail(.interrupted), of: .write))
        try exercise(fs)
        #expect(fs.callCount() == 22)
    }

    @Test func faultsStrikeOnceOrFromThenOn() throws {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        fs.inject(Fault(.fail(.noSpace), atCall: 2, of: .write))
        try file.write([1], at: 0)
        #expect(throws: Errno.noSpace) { try file.write([2], at: 1) }
        try file.write([3], at: 1)
        #expect(try file.bytes(9) == [1, 3])
        fs.inject(Fault(.fail(.noSpace), atCall: 2, of: .write, repetition: .always))
        try file.write([4], at: 2)
        for _ in 0..<3 {
            #expect(throws: Errno.noSpace) { try file.write([5], at: 3) }
        }
        fs.removeFaults()
        try file.write([6], at: 3)
        #expect(try file.bytes(9) == [1, 3, 4, 6])
    }

    @Test func faultsMayBeMeantForOneFile() throws {
        let fs = SimulatedFileSystem()
        let (a, b) = (try fs.open("/a", .create), try fs.open("/b", .create))
        fs.inject(Fault(.fail(.ioError), of: .read, pathSuffix: "/b", repetition: .always))
        #expect(try a.bytes(1) == [])
        #expect(throws: Errno.ioError) { try b.bytes(1) }
    }

    @Test func shortWritesAndReadsAreCompletedByTheCaller() throws {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        let content = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        fs.inject(Fault(.short(maximumByteCount: 7), repetition: .always))
        try file.write(content, at: 0)
        #expect(fs.callCount(of: .write) == 143)
        #expect(try file.bytes(1000) == Array(content[..<7]))
        var buffer = [UInt8](repeating: 0, count: 1000)
        let isWhole = try buffer.withUnsafeMutableBytes { try file.readAll(into: $0, at: 0) }
        #expect(isWhole && buffer == content)
    }

    @Test func aFailedFlushLosesItsDataForGood() throws {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        try file.write([UInt8](repeating: 1, count: 1024), at: 0)
        try file.sync()
        try fs.syncDirectory("/")
        try file.write([UInt8](repeating: 2, count: 1024), at: 0)
        fs.inject(Fault(.fail(.ioError), of: .syncData))
        #expect(throws: Errno.ioError) { try file.syncData() }
        #expect(try file.bytes(1024) == [UInt8](repeating: 2, count: 1024), "the page cache shows it")
        try file.write([UInt8](repeating: 3, count: 512), at: 512)
        try file.syncData()
        #expect(try file.bytes(512) == [UInt8](repeating: 2, count: 512))
        let expected = [UInt8](repeating: 1, count: 512) + [UInt8](repeating: 3, count: 512)
        for policy in [SimulatedFileSystem.CrashPolicy.strict, .ordered, .evil] {
            for seed in UInt64(0)..<50 {
                #expect(try fs.crashImage(policy: policy, seed: seed).contents(of: "/a") == expected)
            }
        }
    }

    @Test func aFailedFlushMayHaveWrittenSome() throws {
        var found: Set<[UInt8]> = []
        for seed in UInt64(0)..<100 {
            let fs = SimulatedFileSystem()
            let file = try fs.open("/a", .create)
            try file.write([UInt8](repeating: 1, count: 1024), at: 0)
            try file.sync()
            try fs.syncDirectory("/")
            try file.write([UInt8](repeating: 2, count: 1024), at: 0)
            fs.inject(Fault(.fail(.ioError), flushLoss: .some(seed: seed)))
            #expect(throws: Errno.ioError) { try file.sync() }
            let bytes = try fs.crashImage(policy: .strict, seed: 0).contents(of: "/a")
            #expect(try fs.crashImage(policy: .strict, seed: 1).contents(of: "/a") == bytes)
            found.insert([bytes[0], bytes[512]])
        }
        #expect(found == [[1, 1], [1, 2], [2, 1], [2, 2]])
    }

    @Test func aFlushThatKeepsItsPagesDirtyCanBeRepeated() throws {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        try fs.syncDirectory("/")
        try file.write([1], at: 0)
        fs.inject(Fault(.fail(.ioError), flushLoss: .nothing))
        #expect(throws: Errno.ioError) { try file.sync() }
        try file.sync()
        for seed in UInt64(0)..<50 {
            #expect(try fs.crashImage(policy: .evil, seed: seed).contents(of: "/a") == [1])
        }
    }

    @Test func aFailedDirectoryFlushLosesItsNamesForGood() throws {
        let fs = SimulatedFileSystem()
        _ = try fs.open("/a", .create)
        fs.inject(Fault(.fail(.ioError), of: .syncDirectory))
        #expect(throws: Errno.ioError) { try fs.syncDirectory("/") }
        _ = try fs.open("/b", .create)
        try fs.syncDirectory("/")
        #expect(try fs.list("/") == ["a", "b"])
        #expect(fs.crashImage(policy: .strict, seed: 0).filePaths == ["/b"])
    }

    @Test func closingFailsButCloses() throws {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        #expect(try file.tryLockExclusively())
        fs.inject(Fault(.fail(.ioError), of: .close))
        #expect(throws: Errno.ioError) { try file.close() }
        try file.close()
        #expect(throws: Errno.badFileDescriptor) { try file.bytes(1) }
        #expect(try fs.open("/a", .readWrite).tryLockExclusively())
    }

    @Test func bytesRotWhereAsked() throws {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        func after(_ corruption: SimulatedFileSystem.Corruption) throws -> [UInt8] {
            try file.truncate(to: 0)
            try file.write([1, 2, 3, 4, 5, 6], at: 0)
            try file.sync()
            try fs.syncDirectory("/")
            try fs.corrupt("/a", corruption)
            let bytes = try file.bytes(100)
            #expect(try fs.crashImage(policy: .strict, seed: 0).contents(of: "/a") == bytes)
            return bytes
        }
        #expect(try after(.flipBit(offset: 1, bit: 7)) == [1, 130, 3, 4, 5, 6])
        #expect(try after(.flipByte(offset: 5)) == [1, 2, 3, 4, 5, 249])
        #expect(try after(.flipByte(offset: 6)) == [1, 2, 3, 4, 5, 6])
        #expect(try after(.zero(2..<4)) == [1, 2, 0, 0, 5, 6])
        #expect(try after(.swap(0, 4, byteCount: 2)) == [5, 6, 3, 4, 1, 2])
        #expect(try after(.swap(0, 5, byteCount: 2)) == [6, 2, 3, 4, 5, 1])
        #expect(try after(.duplicate(0..<3, at: 4)) == [1, 2, 3, 4, 1, 2])
        #expect(try after(.overwrite(offset: 1, [9, 9])) == [1, 9, 9, 4, 5, 6])
        #expect(try after(.truncate(byteCount: 2)) == [1, 2])
        #expect(throws: Errno.noSuchFileOrDirectory) { try fs.corrupt("/b", .flipByte(offset: 0)) }
    }
}
