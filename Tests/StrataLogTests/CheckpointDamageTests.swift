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
}
