import StrataIO
import StrataSupport
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// What is on the disk when a call says that it is: each flush of the log's files is one that some crash asks for.
@Suite struct DurableFilesTests {
    private static let seeds = UInt64(0)..<40

    /// What every crash leaves of a disk.
    private static func crashes(
        _ disk: SimulatedFileSystem, _ check: (SimulatedFileSystem, Comment) throws -> Void
    ) rethrows {
        for policy in [SimulatedFileSystem.CrashPolicy.strict, .ordered, .evil] {
            for seed in seeds {
                try check(disk.crashImage(policy: policy, seed: seed), "\(policy), seed \(seed)")
            }
        }
    }

    /// A write that failed may have put a whole record onto the disk. The commit has been reported as failed, the file
    /// was cut back, and then the machine stops: the cut was lost, and the commit was there again.
    @Test func aFailedWriteDoesNotComeBackAfterACrash() throws {
        let simulated = SimulatedFileSystem()
        let disk = DeceivingFileSystem(simulated)
        let store = try StoreWorkload.open(disk, StoreWorkload.options())
        let kept = try StoreTests.insert(store, 3, department: .null)
        let sequence = store.snapshot.sequence
        disk.failNextWrite()
        #expect(throws: StoreError.self) { try StoreTests.insert(store, 1, department: .null) }
        #expect(disk.hasFailed)
        try Self.crashes(simulated) { image, hint in
            let reopened = try StoreWorkload.open(image, StoreWorkload.options())
            #expect(reopened.snapshot.sequence == sequence, hint)
            for person in kept { #expect(try reopened.snapshot.row(person) != nil, hint) }
            try reopened.close()
        }
        // The store goes on where it was.
        let next = try StoreTests.insert(store, 2, department: .null)
        try Self.crashes(simulated) { image, hint in
            let reopened = try StoreWorkload.open(image, StoreWorkload.options())
            for person in kept + next { #expect(try reopened.snapshot.row(person) != nil, hint) }
            try reopened.close()
        }
    }

    /// With `.interval` the flush may be far away when the store is let go, and nobody is left to make it: what was
    /// acknowledged was lost with the power hours later.
    @Test func aStoreThatIsLetGoFlushesWhatItHas() throws {
        let disk = SimulatedFileSystem()
        var store: LogStore? = try StoreWorkload.open(disk, StoreWorkload.options(.interval(milliseconds: 1_000_000)))
        let people = try StoreTests.insert(try #require(store), 3, department: .null)
        store = nil
        try Self.crashes(disk) { image, hint in
            let reopened = try StoreWorkload.open(image, StoreWorkload.options())
            for person in people { #expect(try reopened.snapshot.row(person) != nil, hint) }
            try reopened.close()
        }
    }

    /// The flush that is scheduled is made, without anybody asking for it.
    @Test func aCommitIsDurableWhenItsIntervalIsOver() async throws {
        let disk = SimulatedFileSystem()
        let store = try StoreWorkload.open(disk, StoreWorkload.options(.interval(milliseconds: 10)))
        let before = disk.callCount(of: .syncData)
        let people = try StoreTests.insert(store, 3, department: .null)
        for _ in 0..<1_000 where disk.callCount(of: .syncData) == before {
            try await Task.sleep(for: .milliseconds(10))
        }
        try Self.crashes(disk) { image, hint in
            let reopened = try StoreWorkload.open(image, StoreWorkload.options())
            for person in people { #expect(try reopened.snapshot.row(person) != nil, hint) }
            try reopened.close()
        }
        try store.close()
    }

    /// A torn tail is cut off, durably, before anything is written behind it.
    @Test func aTornTailIsGoneOnceTheStoreIsOpen() throws {
        let disk = SimulatedFileSystem()
        let store = try StoreWorkload.open(disk, StoreWorkload.options())
        _ = try StoreTests.insert(store, 3, department: .null)
        let end = store.snapshot.end
        _ = try StoreTests.insert(store, 300, department: .null)
        let path = store.snapshot.source.files.segment(end.segment)
        let torn = disk.fork()
        try torn.corrupt(path, .flipByte(offset: end.offset + 200))
        let opened = try StoreWorkload.open(torn, StoreWorkload.options())
        #expect(opened.recovery.tornByteCount > 0 && opened.snapshot.end == end)
        try Self.crashes(torn) { image, hint in
            let contents = try image.contents(of: path)
            #expect(contents.dropFirst(end.offset).allSatisfy { $0 == 0 }, hint)
        }
    }

    /// The first segment may show what its blocks held before: a store of earlier times. It is none of this one's, and
    /// in nobody's way.
    @Test func aCrashWhileAStoreIsMadeLeavesNothingThatCannotBeOpened() throws {
        let base = SimulatedFileSystem()
        let other = try StoreWorkload.open(base, StoreWorkload.options())
        for _ in 0..<20 { _ = try StoreTests.insert(other, 1, department: .null) }
        try other.close()
        var options = StoreWorkload.options()
        options.newStoreUUID = StoreUUID(high: 8, low: 9)
        func open(_ fileSystem: SimulatedFileSystem) throws -> LogStore {
            try LogStore.open("/new", in: fileSystem, options: options, schema: SampleSchema.schema)
        }
        let disk = base.fork()
        try open(disk).close()
        var cursor = disk.trace.cursor()
        repeat {
            for policy in [SimulatedFileSystem.CrashPolicy.strict, .evil] where cursor.hasUnsyncedChanges {
                for seed in UInt64(0)..<(BuildMode.isDebug ? 10 : 100) {
                    let image = cursor.image(policy: policy, seed: seed)
                    #expect(throws: Never.self, "after \(cursor.position), \(policy), seed \(seed)") {
                        try open(image).close()
                    }
                }
            }
        } while cursor.advance()
    }

    /// An error while a store is made takes it back; a crash meanwhile leaves nothing in the way of making it.
    @Test func aStoreThatCouldNotBeMadeCanBeMadeAfterACrash() throws {
        let quiet = SimulatedFileSystem()
        try StoreWorkload.open(quiet, StoreWorkload.options()).close()
        for number in 1...quiet.callCount() {
            let disk = SimulatedFileSystem()
            disk.inject(.init(.fail(.ioError), atCall: number, flushLoss: .nothing))
            guard (try? StoreWorkload.open(disk, StoreWorkload.options())) == nil else { continue }
            var cursor = disk.trace.cursor()
            while cursor.advance() {
                guard disk.trace.operations[..<cursor.position].contains(where: { $0.failure != nil }) else { continue }
                for seed in UInt64(0)..<(BuildMode.isDebug ? 2 : 16) {
                    let image = cursor.image(policy: .strict, seed: seed)
                    #expect(throws: Never.self, "call \(number), after \(cursor.position), seed \(seed)") {
                        try StoreWorkload.open(image, StoreWorkload.options()).close()
                    }
                }
            }
        }
    }

    /// What a checkpoint that failed has left is not in the way of the next one, whether it could be removed or not.
    @Test(arguments: [true, false]) func aFailedCheckpointLeavesNothingInTheWay(isRemoved: Bool) throws {
        let disk = SimulatedFileSystem()
        let store = try StoreWorkload.open(disk, StoreWorkload.options())
        _ = try StoreTests.insert(store, 3, department: .null)
        disk.inject(.init(.fail(.ioError), of: .write, pathSuffix: ".tmp"))
        if !isRemoved { disk.inject(.init(.fail(.ioError), of: .unlink, pathSuffix: ".tmp")) }
        #expect(throws: StoreError.self) { try store.checkpoint() }
        let unfinished = try disk.list(StoreWorkload.path).filter { $0.hasSuffix(".tmp") }
        #expect(unfinished.isEmpty == isRemoved)
        try store.checkpoint()
        #expect(try !disk.list(StoreWorkload.path).contains { $0.hasSuffix(".tmp") })
        try store.close()
    }

    /// Pieces of a checkpoint that are longer than the buffer are written past it, in their turn.
    @Test func piecesLongerThanTheBufferAreInTheirPlace() throws {
        let disk = SimulatedFileSystem()
        let sink = CheckpointFileSink(file: try disk.open("/file", .create), path: "/file")
        var expected: [UInt8] = []
        for (number, count) in [100, 600_000, 0, 64, 262_144, 1].enumerated() {
            let piece = [UInt8](repeating: UInt8(number + 1), count: count)
            #expect(sink.position == Int64(expected.count))
            try piece.withBytes { bytes throws(StoreError) in try sink.write(bytes) }
            expected += piece
        }
        try sink.flush()
        #expect(try disk.contents(of: "/file") == expected)
        #expect(sink.checksum == expected.withUnsafeBytes { checksum($0) })
    }

    /// A checkpoint has its name and all of its bytes when the manifest may refer to it.
    @Test func aCheckpointIsWholeWhenItIsWritten() throws {
        let disk = SimulatedFileSystem()
        let store = try StoreWorkload.open(disk, StoreWorkload.options())
        _ = try StoreTests.insert(store, 300, department: .null)
        let files = store.snapshot.source.files
        let before = Set(try disk.list(files.directory))
        try store.checkpoint()
        let name = try #require(try disk.list(files.directory).first { $0.hasSuffix(".chk") && !before.contains($0) })
        let path = files.directory.appending(name)
        let written = try disk.contents(of: path)
        Self.crashes(disk) { image, hint in
            #expect((try? image.contents(of: path)) == written, hint)
        }
    }

    /// The first manifest of a directory, and each that follows in the other slot.
    @Test func aManifestIsDurableWhenItIsWritten() throws {
        let disk = SimulatedFileSystem()
        try disk.createDirectory("/store")
        try disk.syncDirectory("/")
        let files = StoreFiles(fileSystem: disk, directory: "/store")
        for number in 1...4 as ClosedRange<UInt64> {
            let manifest = Manifest(
                number: number, storeUUID: StoreUUID(high: 1, low: 2), segment: UInt32(number), checkpoint: 0,
                durable: LogPosition(segment: UInt32(number), offset: 4096))
            try manifest.write(files)
            Self.crashes(disk) { image, hint in
                let found = Manifest.read(StoreFiles(fileSystem: image, directory: "/store"))
                #expect(found == manifest, hint)
            }
        }
    }
}

/// A disk on which a write fails although all of its bytes have arrived.
private final class DeceivingFileSystem: ForwardingFileSystem {
    let base: any FileSystem
    fileprivate let state = AdaptiveMutex((isArmed: false, hasFailed: false))

    init(_ base: any FileSystem) { self.base = base }

    func failNextWrite() { state.withLock { $0 = (true, false) } }

    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        DeceivingFile(try base.open(path, mode), self)
    }
}

private final class DeceivingFile: ForwardingFile {
    let base: any File
    private let disk: DeceivingFileSystem

    init(_ base: any File, _ disk: DeceivingFileSystem) {
        self.base = base
        self.disk = disk
    }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int {
        let count = try base.write(buffers, at: offset)
        let fails = disk.state.withLock { state in
            defer { if state.isArmed { state = (false, true) } }
            return state.isArmed
        }
        if fails { throw .ioError }
        return count
    }
}
