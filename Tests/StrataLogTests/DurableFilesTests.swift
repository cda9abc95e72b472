import StrataIO
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

    /// A write that failed may have put a whole record onto the disk. The commit has been reported as failed, the file was
    /// cut back, and then the machine stops: the cut was lost, and the commit was there again.
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
