import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// A checkpoint is a cache: it is used as it was written, or not at all.
@Suite struct CheckpointDamageTests {
    private static let path = StoreWorkload.path

    /// A store that was closed, with one checkpoint.
    private static func sample() throws -> (fileSystem: SimulatedFileSystem, checkpoint: FilePath, people: [ObjectRef])
    {
        let fileSystem = SimulatedFileSystem()
        let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        let people = try StoreTests.insert(store, 5, department: .null)
        try store.close()
        let checkpoint = try #require(fileSystem.filePaths.last { $0.string.hasSuffix(".chk") })
        return (fileSystem, checkpoint, people)
    }

    /// Also where nothing is read from yet: a reserved byte that is not as it was written says that others need not be.
    @Test func everyByteCounts() throws {
        let (fileSystem, path, people) = try Self.sample()
        for offset in try fileSystem.contents(of: path).indices {
            let image = fileSystem.fork()
            try image.corrupt(path, .flipByte(offset: offset))
            let store = try StoreWorkload.open(image, StoreWorkload.options())
            #expect(store.recovery.damagedCheckpoints.count == 1, "byte \(offset)")
            #expect(store.recovery.checkpoint == nil, "byte \(offset)")
            for person in people { #expect(try store.snapshot.row(person) != nil, "byte \(offset)") }
            try store.close()
        }
    }

    /// With its checksum made right again. The offset of the directory and its length decide what is read next.
    @Test func aTrailerOfAnotherCheckpointIsRefused() throws {
        let (fileSystem, path, people) = try Self.sample()
        let count = try fileSystem.contents(of: path).count
        let trailer = count - Checkpoint.trailerByteCount
        let numberOffset = 44
        let number = try fileSystem.contents(of: path).withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: trailer + numberOffset, as: UInt64.self)
        }
        let forgeries: [(offset: Int, value: UInt64)] = [
            (0, 0), (8, 0), (16, 0), (24, .max), (24, 1 << 62), (24, UInt64(count) + 1), (32, .max), (32, 1 << 62),
            (32, UInt64(Checkpoint.directoryMaximumByteCount) + 1), (32, UInt64(count)), (numberOffset, number + 1),
        ]
        for (offset, value) in forgeries {
            let image = fileSystem.fork()
            var bytes = try image.contents(of: path)
            put(value, into: &bytes, at: trailer + offset)
            let crc = bytes.withUnsafeBytes { checksum(UnsafeRawBufferPointer(rebasing: $0[trailer..<trailer + 60])) }
            put(crc, into: &bytes, at: trailer + 60)
            try image.corrupt(path, .overwrite(offset: 0, bytes))
            let store = try StoreWorkload.open(image, StoreWorkload.options())
            #expect(store.recovery.damagedCheckpoints.count == 1, "\(value) at \(offset)")
            // Nothing of what it names was read.
            let message = store.recovery.damagedCheckpoints.first
            #expect(message?.contains("trailer does not match") == true, "\(value) at \(offset): \(message ?? "")")
            for person in people { #expect(try store.snapshot.row(person) != nil) }
            try store.close()
        }
    }

    /// The checkpoint knows rows that are gone with the end of the segment: nothing may be cut off there.
    @Test func aSegmentThatEndsBeforeItsCheckpointIsRefused() throws {
        let (fileSystem, _, people) = try Self.sample()
        let store = try StoreWorkload.open(fileSystem.fork(), StoreWorkload.options())
        let end = store.snapshot.end
        try store.close()
        let segment = Self.path.appending(LogStore.segmentFileName(end.segment))
        for byteCount in [end.offset - Location.alignmentBytes, end.offset] {
            let image = fileSystem.fork()
            try image.corrupt(segment, .truncate(byteCount: byteCount))
            if byteCount == end.offset {
                let store = try StoreWorkload.open(image, StoreWorkload.options())
                #expect(try store.snapshot.row(people[0]) != nil)
                try store.close()
            } else {
                let error = #expect(throws: StoreError.self) {
                    try StoreWorkload.open(image, StoreWorkload.options())
                }
                #expect(error?.code == .corruption)
            }
        }
    }

    @Test(arguments: [0, 10, Checkpoint.trailerByteCount - 1]) func oneThatIsCutOffIsDamage(byteCount: Int) throws {
        let (fileSystem, path, people) = try Self.sample()
        try fileSystem.corrupt(path, .truncate(byteCount: byteCount))
        let report = try LogStore.verifyFiles(Self.path, in: fileSystem)
        #expect(report.problems.isEmpty && report.damagedCaches.map(\.path) == [path.string])
        #expect(report.damagedCaches.first?.message.contains("too short") == true)
        let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        #expect(store.recovery.damagedCheckpoints.count == 1)
        #expect(try store.snapshot.row(people[0]) != nil)
        try store.close()
    }

    /// Made anew by the next opening: one that is there is a page long.
    @Test(arguments: [(0, true), (1, false), (4095, false), (4096, true)])
    func aPageOfReadersThatIsCutOffIsDamage(byteCount: Int, isSound: Bool) throws {
        let (fileSystem, _, _) = try Self.sample()
        let file = try fileSystem.open(Self.path.appending("TAIL"), .createIfMissing)
        try file.truncate(to: Int64(byteCount))
        try file.close()
        let report = try LogStore.verifyFiles(Self.path, in: fileSystem)
        #expect(report.problems.isEmpty && report.damagedCaches.isEmpty == isSound)
    }

    /// Named by the check of a store that is not opened, too.
    @Test func verifyNamesIt() throws {
        let (fileSystem, path, _) = try Self.sample()
        #expect(try LogStore.verifyFiles(Self.path, in: fileSystem).isSound)
        let count = try fileSystem.contents(of: path).count
        for offset in [0, count / 2, count - Checkpoint.trailerByteCount, count - 8, count - 1] {
            let image = fileSystem.fork()
            try image.corrupt(path, .flipByte(offset: offset))
            let report = try LogStore.verifyFiles(Self.path, in: image)
            #expect(report.problems.isEmpty, "byte \(offset)")
            #expect(report.damagedCaches.map(\.path) == [path.string], "byte \(offset)")
        }
    }

    /// A checkpoint is a cache: a damaged page of it must not make an object unreadable that the log has.
    @Test func aDamagedCheckpointPageIsMadeGoodFromTheLog() throws {
        let fs = SimulatedFileSystem()
        var refs: [ObjectRef] = []
        do {
            let store = try StoreWorkload.open(fs, StoreWorkload.options())
            for number in 0..<5 { refs.append(try FailedFlushTests.insert(store, name: "n\(number)")) }
            try store.close()
        }
        let path = try #require(fs.filePaths.last { $0.string.hasSuffix(".chk") })
        let count = try fs.contents(of: path).count
        var unreadable = 0
        var unwritable = 0
        var unclosable = 0
        for offset in 0..<count {
            let image = fs.fork()
            try image.corrupt(path, .flipByte(offset: offset))
            for _ in 0..<2 {
                guard let store = try? StoreWorkload.open(image, StoreWorkload.options()) else {
                    unreadable += 1
                    continue
                }
                do { for ref in refs { _ = try store.snapshot.row(ref) } } catch { unreadable += 1 }
                do { _ = try FailedFlushTests.insert(store, name: "new") } catch { unwritable += 1 }
                do { try store.close() } catch { unclosable += 1 }
            }
        }
        #expect(
            unreadable + unwritable + unclosable == 0,
            "of \(count) bytes flipped, two openings each: unreadable \(unreadable), no commit \(unwritable), no close \(unclosable)"
        )
    }

    /// Errors that name the folder passed for those of a checkpoint where the folder was called like one: a store was
    /// opened although a flush of its directory had failed.
    @Test func theNameOfAFolderDecidesNothing() throws {
        func outcomes(_ path: FilePath) throws -> [String] {
            let fileSystem = SimulatedFileSystem()
            func open(_ fileSystem: SimulatedFileSystem) throws -> LogStore {
                try LogStore.open(path, in: fileSystem, options: StoreWorkload.options(), schema: SampleSchema.schema)
            }
            // A checkpoint, and a transaction after it, of a process that is killed.
            let first = try open(fileSystem)
            _ = try StoreTests.insert(first, 5, department: .null)
            try first.close()
            let second = try open(fileSystem)
            _ = try StoreTests.insert(second, 1, department: .null)
            let killed = fileSystem.crashImage(policy: .killed, seed: 1)
            try second.close()
            var outcomes: [String] = []
            for number in 1... {
                let image = killed.fork()
                image.inject(SimulatedFileSystem.Fault(.fail(.ioError), atCall: number))
                do {
                    let store = try open(image)
                    outcomes.append("opened, damaged checkpoints: \(store.recovery.damagedCheckpoints.count)")
                    try? store.close()
                } catch {
                    outcomes.append("\((error as? StoreError)?.code ?? .closed)")
                }
                if image.firedFaultCount == 0 { break }
            }
            return outcomes
        }
        let usual = try outcomes("/store")
        #expect(usual.contains("io") && usual.count > 20)
        #expect(try outcomes("/store.chk") == usual)
    }
}
