import StrataIO
import StrataTestKit
import SystemPackage
import Testing

/// A trace replays what happened, and every crash of it.
@Suite struct SimulatedTraceTests {
    typealias Policy = SimulatedFileSystem.CrashPolicy

    /// Random changes of a few files in two directories; errors are part of it.
    private func work(_ fs: SimulatedFileSystem, seed: UInt64, steps: Int) {
        var generator = SeededGenerator(seed: seed)
        let paths: [FilePath] = ["/a", "/b", "/d/a", "/d/b"]
        var files: [any File] = []
        try? fs.createDirectory("/d")
        for step in 0..<steps {
            let path = paths[generator.below(paths.count)]
            let file = files.isEmpty ? nil : files[generator.below(files.count)]
            let offset = Int64(generator.below(5000))
            switch generator.below(14) {
            case 0, 1: if let file = try? fs.open(path, .createIfMissing) { files.append(file) }
            case 2: try? fs.rename(path, to: paths[generator.below(paths.count)])
            case 3: try? fs.unlink(path)
            case 4: try? fs.syncDirectory("/")
            case 5: try? fs.syncDirectory("/d")
            case 6: try? file?.sync()
            case 7: try? file?.truncate(to: offset)
            case 8: try? file?.preallocate(from: offset, byteCount: 4000)
            case 9: if generator.chance(0.3), !files.isEmpty { files.removeFirst() }
            default: try? file?.write([UInt8](repeating: UInt8(step % 256), count: generator.below(3000) + 1), at: offset)
            }
        }
    }

    private func dump(_ fs: SimulatedFileSystem) throws -> [String: [UInt8]] {
        try fs.filePaths.reduce(into: [:]) { $0[$1.string] = try fs.contents(of: $1) }
    }

    @Test(arguments: UInt64(0)..<20) func aCrashIsTheSameLiveAndReplayed(seed: UInt64) throws {
        let whole = SimulatedFileSystem()
        whole.inject(.init(.fail(.ioError), atCall: 3, of: .sync, flushLoss: .some(seed: seed)))
        work(whole, seed: seed, steps: 150)
        let trace = whole.trace
        var cursor = trace.cursor()
        for point in 0...trace.count {
            cursor.advance(to: point)
            guard point % 7 == 0 || point == trace.count else { continue }
            let live = SimulatedFileSystem()
            live.inject(.init(.fail(.ioError), atCall: 3, of: .sync, flushLoss: .some(seed: seed)))
            live.crash(atOperation: point)
            work(live, seed: seed, steps: 150)
            #expect(live.operationCount == point)
            for policy in Policy.allCases {
                let expected = try dump(live.crashImage(policy: policy, seed: seed))
                #expect(try dump(cursor.image(policy: policy, seed: seed)) == expected, "seed \(seed), point \(point)")
                let again = trace.image(after: point, policy: policy, seed: seed)
                #expect(try dump(again) == expected, "seed \(seed), point \(point)")
            }
        }
        let hasMore = cursor.advance()
        #expect(!hasMore)
        #expect(try dump(cursor.image(policy: .killed, seed: 0)) == dump(whole))
    }

    @Test func anImageHasATraceOfItsOwn() throws {
        let fs = SimulatedFileSystem()
        try fs.open("/a", .create).write([1], at: 0)
        let image = fs.trace.image(after: 2, policy: .killed, seed: 0)
        #expect(image.operationCount == 0)
        let file = try image.open("/a", .readWrite)
        try file.write([2], at: 0)
        #expect(image.trace.operations.map(\.description) == ["write /a at 0, 1 bytes"])
        #expect(try image.trace.image(after: 0, policy: .killed, seed: 0).contents(of: "/a") == [1])
        #expect(try image.trace.image(after: 1, policy: .killed, seed: 0).contents(of: "/a") == [2])
    }

    @Test func afterTheCrashTheMachineIsOff() throws {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        fs.crash(atOperation: 3)
        try file.write([1], at: 0)
        #expect(!fs.isOff)
        try file.syncData()
        #expect(fs.isOff)
        fs.mark("never")
        #expect(throws: Errno.ioError) { try file.write([2], at: 0) }
        #expect(throws: Errno.ioError) { try file.bytes(1) }
        #expect(throws: Errno.ioError) { try file.syncData() }
        #expect(throws: Errno.ioError) { try fs.list("/") }
        #expect(throws: Errno.ioError) { try fs.open("/a", .read) }
        #expect(throws: Errno.ioError) { try file.close() }
        #expect(fs.operationCount == 3)
        #expect(fs.trace.marks.isEmpty)
        #expect(try fs.crashImage(policy: .killed, seed: 0).open("/a", .read).bytes(2) == [1])
    }

    @Test func marksTellWhatHadBeenAcknowledged() throws {
        let fs = SimulatedFileSystem()
        fs.mark("start")
        let file = try fs.open("/a", .create)
        try file.write([1], at: 0)
        try file.sync()
        fs.mark("acknowledged 1")
        try file.write([2], at: 1)
        let trace = fs.trace
        #expect(trace.count == 4)
        #expect(trace.notes(after: 0) == ["start"])
        #expect(trace.notes(after: 2) == ["start"])
        #expect(trace.notes(after: 3) == ["start", "acknowledged 1"])
        #expect(trace.notes(after: 4) == ["start", "acknowledged 1"])
    }

    @Test func cursorsSayWhetherCrashesCanDiffer() throws {
        let fs = SimulatedFileSystem()
        let file = try fs.open("/a", .create)
        try file.write([1], at: 0)
        try file.sync()
        try fs.syncDirectory("/")
        var cursor = fs.trace.cursor()
        var unsynced = [cursor.hasUnsyncedChanges]
        while cursor.advance() {
            unsynced.append(cursor.hasUnsyncedChanges)
        }
        #expect(unsynced == [false, true, true, true, false])
    }

    @Test func seedsDetermineEverything() {
        var first = SeededGenerator(seed: 42)
        #expect(first.next() == 0xBDD7_3226_2FEB_6E95)
        var (one, other) = (SeededGenerator(seed: 1, stream: 1), SeededGenerator(seed: 1, stream: 2))
        #expect(one.next() != other.next())
        let numbers = (0..<1000).map { _ in first.below(3) }
        #expect(Set(numbers) == [0, 1, 2])
        let chances = [first.chance(0), first.chance(1)]
        #expect(chances == [false, true])
    }
}
