import Foundation
import StrataIO
import StrataSupport
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

/// A store that was moved, removed or replaced while it is open. The writer went on by path: its segments, checkpoint
/// and manifest landed in the store that had taken its place, which could not be opened any more.
@Suite struct DisplacedStoreTests {
    enum Change: CaseIterable, Sendable {
        case moved
        case movedAndMadeAnew
        case removed
        case removedAndMadeAnew
        /// Another store's files in the same directory, as when a backup is put back.
        case filesReplaced
    }

    /// Where the stores lie: on the disk, or where a crash can be simulated.
    enum Place: CaseIterable, Sendable {
        case disk
        case simulated

        func withDirectory(_ body: (any FileSystem, FilePath) throws -> Void) throws {
            guard self == .disk else {
                let fileSystem = SimulatedFileSystem()
                try fileSystem.createDirectory("/d")
                return try body(fileSystem, "/d")
            }
            let url = FileManager.default.temporaryDirectory.appendingPathComponent("displaced-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: url) }
            try body(PosixFileSystem(), FilePath(url.path))
        }
    }

    private static func open(
        _ path: FilePath, _ fileSystem: any FileSystem, _ access: LogOptions.Access = .readWrite
    ) throws -> LogStore {
        var options = StoreTests.options()
        options.access = access
        return try LogStore.open(
            path, in: fileSystem, options: options, schema: access == .readWrite ? SampleSchema.schema : nil)
    }

    private static func make(_ count: Int, at path: FilePath, _ fileSystem: any FileSystem) throws {
        let store = try open(path, fileSystem)
        _ = try StoreTests.insert(store, count, department: .null)
        try store.close()
    }

    private static func empty(_ path: FilePath, _ fileSystem: any FileSystem) throws {
        for name in try fileSystem.list(path) { try fileSystem.unlink(path.appending(name)) }
    }

    private static func carryOut(_ change: Change, _ path: FilePath, _ fileSystem: any FileSystem) throws {
        let aside = path.removingLastComponent().appending("aside")
        switch change {
        case .moved: try fileSystem.rename(path, to: aside)
        case .movedAndMadeAnew:
            try fileSystem.rename(path, to: aside)
            try make(3, at: path, fileSystem)
        case .removed, .removedAndMadeAnew:
            try empty(path, fileSystem)
            try fileSystem.removeDirectory(path)
            if change == .removedAndMadeAnew { try make(3, at: path, fileSystem) }
        case .filesReplaced:
            let backup = path.removingLastComponent().appending("backup")
            try make(3, at: backup, fileSystem)
            try empty(path, fileSystem)
            for name in try fileSystem.list(backup) {
                try fileSystem.rename(backup.appending(name), to: path.appending(name))
            }
        }
    }

    private static func bytes(at path: FilePath, _ fileSystem: any FileSystem) throws -> [String: [UInt8]] {
        guard try fileSystem.attributes(path) != nil else { return [:] }
        var contents: [String: [UInt8]] = [:]
        for name in try fileSystem.list(path) {
            let file = try fileSystem.open(path.appending(name), .read)
            var bytes = [UInt8](repeating: 0, count: Int(try file.byteCount()))
            _ = try bytes.withUnsafeMutableBytes { try file.readPrefix(into: $0, at: 0) }
            contents[name] = bytes
        }
        return contents
    }

    @Test(arguments: Change.allCases, Place.allCases)
    func aWriterSaysSoAndTouchesNothingElse(_ change: Change, _ place: Place) throws {
        try place.withDirectory { fileSystem, directory in
            let path = directory.appending("store")
            let store = try Self.open(path, fileSystem)
            _ = try StoreTests.insert(store, 200, department: .null)
            let references = try StoreTests.insert(store, 1, department: .null)
            try Self.carryOut(change, path, fileSystem)
            let before = try Self.bytes(at: path, fileSystem)
            #expect(!store.isAtItsPath)
            for _ in 0..<2 {
                let error = #expect(throws: StoreError.self) { try StoreTests.insert(store, 1, department: .null) }
                #expect(error?.errno == .staleNFSFileHandle)
                #expect(error?.description.contains("not at its path") == true)
            }
            #expect(throws: StoreError.self) { try store.setMetadata([1, 2, 3]) }
            #expect(throws: StoreError.self) { try store.compact() }
            #expect(throws: StoreError.self) { try store.checkpoint() }
            store.keepReserve(for: 1 << 30)
            // What was read stays readable.
            #expect(try store.snapshot.row(references[0]) != nil)
            try store.close()
            #expect(try Self.bytes(at: path, fileSystem) == before)
            guard before["MANIFEST"] != nil else { return }
            let again = try Self.open(path, fileSystem)
            #expect(again.snapshot.count(entity: SampleSchema.person) == 3)
            _ = try StoreTests.insert(again, 1, department: .null)
            try again.close()
        }
    }

    @Test(arguments: Place.allCases) func aStoreThatIsMovedBackIsWrittenAgain(_ place: Place) throws {
        try place.withDirectory { fileSystem, directory in
            let (path, aside) = (directory.appending("store"), directory.appending("aside"))
            let store = try Self.open(path, fileSystem)
            _ = try StoreTests.insert(store, 5, department: .null)
            try fileSystem.rename(path, to: aside)
            #expect(throws: StoreError.self) { try StoreTests.insert(store, 1, department: .null) }
            try fileSystem.rename(aside, to: path)
            _ = try StoreTests.insert(store, 1, department: .null)
            try store.close()
            let again = try Self.open(path, fileSystem)
            #expect(again.snapshot.count(entity: SampleSchema.person) == 6)
            try again.close()
        }
    }

    /// What was acknowledged before is in the directory that was moved.
    @Test(arguments: Place.allCases) func whatWasSavedMovesAlong(_ place: Place) throws {
        try place.withDirectory { fileSystem, directory in
            let (path, aside) = (directory.appending("store"), directory.appending("aside"))
            let store = try Self.open(path, fileSystem)
            _ = try StoreTests.insert(store, 5, department: .null)
            try fileSystem.rename(path, to: aside)
            #expect(throws: StoreError.self) { try Self.open(aside, fileSystem) }
            try store.close()
            let moved = try Self.open(aside, fileSystem)
            #expect(moved.snapshot.count(entity: SampleSchema.person) == 5)
            try moved.close()
        }
    }

    @Test(arguments: [Change.moved, .movedAndMadeAnew, .removed, .removedAndMadeAnew])
    func aReaderShowsNothingOfTheOtherStoreAndSaysSo(_ change: Change) throws {
        try Place.disk.withDirectory { fileSystem, directory in
            let path = directory.appending("store")
            let store = try Self.open(path, fileSystem)
            _ = try StoreTests.insert(store, 5, department: .null)
            let reader = try Self.open(path, fileSystem, .readOnly)
            let told = DispatchSemaphore(value: 0)
            let errors = Mutex<[StoreError]>([])
            let follower = reader.follow { result in
                guard case .failure(let error) = result else { return }
                errors.withLock { $0.append(error) }
                told.signal()
            }
            try Self.carryOut(change, path, fileSystem)
            #expect(told.wait(timeout: .now() + 60) == .success)
            #expect(errors.withLock { $0.first?.errno } == .staleNFSFileHandle)
            #expect(reader.snapshot.count(entity: SampleSchema.person) == 5)
            follower.stop()
            try reader.close()
            try store.close()
        }
    }

    /// A backup put back where there was no store when the replacement began is not ours to replace.
    @Test(arguments: Place.allCases) func aStoreThatAppearsWhileItsReplacementIsMadeStays(_ place: Place) throws {
        try place.withDirectory { fileSystem, directory in
            let path = directory.appending("store")
            let error = #expect(throws: StoreError.self) {
                try StoreDirectory(path, fileSystem).replace { copy in
                    try Self.make(5, at: copy, fileSystem)
                    try Self.make(3, at: directory.appending("backup"), fileSystem)
                    try fileSystem.rename(directory.appending("backup"), to: path)
                }
            }
            #expect(error?.code == .locked)
            let store = try Self.open(path, fileSystem)
            #expect(store.snapshot.count(entity: SampleSchema.person) == 3)
            try store.close()
            #expect(try fileSystem.attributes(directory.appending("store.strata-copy")) == nil)
        }
    }

    /// The directory above has become another one, in which somebody else replaces a store of this name.
    @Test(arguments: Place.allCases, [false, true])
    func aReplacementTouchesNothingInAnotherDirectory(_ place: Place, _ fails: Bool) throws {
        try place.withDirectory { fileSystem, directory in
            let above = directory.appending("above")
            let path = above.appending("store")
            try fileSystem.createDirectory(above)
            try Self.make(1, at: path, fileSystem)
            #expect(throws: (any Error).self) {
                try StoreDirectory(path, fileSystem).replace { copy in
                    if !fails { try Self.make(5, at: copy, fileSystem) }
                    try fileSystem.rename(above, to: directory.appending("aside"))
                    try fileSystem.createDirectory(above)
                    try Self.make(3, at: path, fileSystem)
                    try Self.make(4, at: copy, fileSystem)
                    if fails { throw CancellationError() }
                }
            }
            for (path, count) in [
                (path, 3), (above.appending("store.strata-copy"), 4), (directory.appending("aside/store"), 1),
            ] {
                // What is looked at ends nobody's work.
                let store = try Self.open(path, fileSystem, .readOnly)
                #expect(store.snapshot.count(entity: SampleSchema.person) == count, "\(path)")
                try store.close()
            }
        }
    }

    /// The path that a link leads to counts, not the link's own target at the time of opening.
    @Test func aLinkThatLeadsElsewhereByNowIsAnotherPlace() throws {
        try Place.disk.withDirectory { fileSystem, directory in
            let link = directory.appending("link")
            for name in ["one", "two"] { try Self.make(1, at: directory.appending(name), fileSystem) }
            let files = FileManager.default
            try files.createSymbolicLink(atPath: link.string, withDestinationPath: directory.appending("one").string)
            let store = try Self.open(link, fileSystem)
            _ = try StoreTests.insert(store, 1, department: .null)
            try files.removeItem(atPath: link.string)
            try files.createSymbolicLink(atPath: link.string, withDestinationPath: directory.appending("two").string)
            #expect(throws: StoreError.self) { try StoreTests.insert(store, 1, department: .null) }
            try store.close()
        }
    }

    /// Closing threw, though nothing was lost: the checkpoint is a cache.
    @Test(arguments: [Errno.noSpace, .diskQuotaExceeded, .fileTooLarge])
    func aStoreIsClosedWhereNoCheckpointCanBeMade(_ errno: Errno) throws {
        let fileSystem = SimulatedFileSystem()
        let store = try Self.open("/store", fileSystem)
        _ = try StoreTests.insert(store, 10, department: .null)
        fileSystem.inject(.init(.fail(errno), of: .open, pathSuffix: ".tmp", repetition: .always))
        try store.close()
        fileSystem.removeFaults()
        let again = try Self.open("/store", fileSystem)
        #expect(again.snapshot.count(entity: SampleSchema.person) == 10)
        try again.close()
    }
}
