import Foundation
import StrataIO
import StrataSupport
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// While anything of a store is there, one that cannot be read is refused, and nothing is changed.
@Suite struct DamagedDirectoryTests {
    private typealias Fixture = DirectoryFixture

    /// A store of one segment, with a checkpoint.
    private func store(segments: Int = 1) throws -> SimulatedFileSystem {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory("/d")
        let log = try LogStore.open(Fixture.store, in: fileSystem, options: Fixture.options(), schema: Fixture.schema)
        try Fixture.add("old", 3, to: log)
        for _ in 1..<segments { try fill(log) }
        try log.close()
        return fileSystem
    }

    /// Writes until a new segment has been begun.
    private func fill(_ log: LogStore) throws {
        let segment = log.statistics.newestSegment
        var random = SeededGenerator(seed: UInt64(segment))
        while log.statistics.newestSegment == segment {
            try Fixture.add((0..<400).map { _ in String(random.next(), radix: 36) }.joined(), 4, to: log)
        }
    }

    private func overwrite(_ name: String, _ fileSystem: SimulatedFileSystem, with byte: UInt8, from: Int = 0) throws {
        let file = try fileSystem.open(Fixture.store.appending(name), .readWrite)
        let count = Int(try file.byteCount()) - from
        let bytes = [UInt8](repeating: byte, count: count)
        try bytes.withUnsafeBytes { try file.writeAll([$0], at: Int64(from)) }
    }

    private func contents(_ fileSystem: SimulatedFileSystem) throws -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        // The lock's contents are for messages only.
        for path in fileSystem.filePaths where path.lastComponent?.string != "LOCK" {
            contents[path.string] = try fileSystem.contents(of: path)
        }
        return contents
    }

    private func expectRefusal(_ fileSystem: SimulatedFileSystem, _ what: String) throws {
        let before = try contents(fileSystem)
        for creates in [true, false] {
            for access in [LogOptions.Access.readWrite, .readOnly] {
                var options = Fixture.options(77)
                options.access = access
                options.createsIfMissing = creates
                let error = #expect(throws: StoreError.self, "\(what)") {
                    try LogStore.open(Fixture.store, in: fileSystem, options: options, schema: Fixture.schema)
                }
                #expect(error?.code == .corruption, "\(what): \(error?.description ?? "")")
            }
        }
        #expect(try contents(fileSystem) == before, "\(what): something was changed")
    }

    /// A new store was made in its place, and the rest removed.
    @Test(arguments: [UInt8(0), 0xFF]) func manifestAndTheOnlySegmentUnreadable(byte: UInt8) throws {
        let fileSystem = try store()
        try overwrite("MANIFEST", fileSystem, with: byte)
        try overwrite("00000001.seg", fileSystem, with: byte)
        try expectRefusal(fileSystem, "both overwritten")
        // Also without the checkpoints.
        for name in try fileSystem.list(Fixture.store) where name.hasSuffix(".chk") {
            try fileSystem.unlink(Fixture.store.appending(name))
        }
        try expectRefusal(fileSystem, "no checkpoints")
    }

    @Test func onlyCheckpointsLeft() throws {
        let fileSystem = try store()
        for name in try fileSystem.list(Fixture.store) where !name.hasSuffix(".chk") {
            try fileSystem.unlink(Fixture.store.appending(name))
        }
        #expect(try !fileSystem.list(Fixture.store).isEmpty)
        try expectRefusal(fileSystem, "only checkpoints")
    }

    @Test func theManifestMissingAndTheSegmentsHeaderDamaged() throws {
        let fileSystem = try store()
        try fileSystem.unlink(Fixture.store.appending("MANIFEST"))
        let file = try fileSystem.open(Fixture.store.appending("00000001.seg"), .readWrite)
        let zeros = [UInt8](repeating: 0, count: 512)
        try zeros.withUnsafeBytes { try file.writeAll([$0], at: 0) }
        try expectRefusal(fileSystem, "first sector zeroed")
    }

    /// It was unlinked first, and what was left was refused then.
    @Test(arguments: [true, false]) func aZeroedNewestSegmentStays(hasManifest: Bool) throws {
        let fileSystem = try store(segments: 3)
        if !hasManifest { try fileSystem.unlink(Fixture.store.appending("MANIFEST")) }
        let newest = try #require(try fileSystem.list(Fixture.store).last { $0.hasSuffix(".seg") })
        try overwrite(newest, fileSystem, with: 0)
        try expectRefusal(fileSystem, newest)
    }

    /// A file that was being made when the power went, and that lies where a segment was that has been removed.
    @Test func oldBlocksInANewSegmentAreNoDamage() throws {
        let fileSystem = try store(segments: 3)
        let newest = try #require(try fileSystem.list(Fixture.store).last { $0.hasSuffix(".seg") })
        let number = try #require(UInt32(newest.prefix(8), radix: 16))
        let old = try fileSystem.contents(of: Fixture.store.appending(newest))
        let next = Fixture.store.appending("0000000\(number + 1).seg")
        for shift in [0, 512, 4096] {
            let image = fileSystem.fork()
            let file = try image.open(next, .create)
            // Neither header nor preamble has come to the disk; the rest shows records of other places.
            let blocks = [UInt8](repeating: 0, count: 512 + shift) + old.dropFirst(512)
            try blocks.withUnsafeBytes { try file.writeAll([$0], at: 0) }
            try file.close()
            let log = try LogStore.open(Fixture.store, in: image, options: Fixture.options(), schema: nil)
            #expect(log.recovery.unfinishedSegments == 1)
            try fill(log)
            try Fixture.add("+more", 1, to: log)
            try log.close()
            let again = try LogStore.open(Fixture.store, in: image, options: Fixture.options(), schema: nil)
            #expect(try again.verify().problems.isEmpty)
            #expect(again.snapshot.sequence > 0)
        }
        // Records of this very place are another matter.
        let image = fileSystem.fork()
        try image.unlink(Fixture.store.appending("MANIFEST"))
        let file = try image.open(Fixture.store.appending(newest), .readWrite)
        let zeros = [UInt8](repeating: 0, count: 128)
        try zeros.withUnsafeBytes { try file.writeAll([$0], at: 0) }
        try expectRefusal(image, "header and preamble zeroed")
    }

    /// Whatever is made of a store before it is complete is no store.
    @Test func aStoreThatWasNeverCompleteIsMadeAnew() throws {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory("/d")
        try fileSystem.createDirectory(Fixture.store)
        let left = ["LOCK", "STRATA-VOID", "00000001.seg", "MANIFEST", "00000002.seg", "00000007.chk"]
        for name in left {
            let file = try fileSystem.open(Fixture.store.appending(name), .create)
            let noise = [UInt8](repeating: 0xA5, count: 600)
            try noise.withUnsafeBytes { try file.writeAll([$0], at: 0) }
        }
        #expect(try Fixture.look(fileSystem, .readOnly) == .none)
        let log = try LogStore.open(Fixture.store, in: fileSystem, options: Fixture.options(), schema: Fixture.schema)
        #expect(log.recovery.isNew)
        try log.close()
        let names = try fileSystem.list(Fixture.store)
        for name in ["STRATA-VOID", "00000002.seg", "00000007.chk"] { #expect(!names.contains(name)) }
        #expect(try Fixture.look(fileSystem, .readWrite) == DirectoryState(version: "empty"))
    }

    // MARK: Replacing and removing

    /// What an interrupted replacement has left is in nobody's way, also if no opening comes between.
    @Test(arguments: ["strata-copy", "strata-old", "strata-new"])
    func aStoreIsReplacedWhereAReplacementWasInterrupted(suffix: String) throws {
        let work = DirectoryWork.replace
        let fileSystem = try work.fixture()
        try Fixture.make("left", at: "/d/x", fileSystem, uuid: 6)
        try fileSystem.rename("/d/x", to: FilePath("/d/store.\(suffix)"))
        try work.run(fileSystem)
        #expect(try Fixture.look(fileSystem, .readOnly) == work.after)
        #expect(try !fileSystem.list("/d").contains { $0.hasPrefix("store.") })
    }

    /// The lock that keeps others out of an empty directory goes again.
    @Test func anEmptyDirectoryStaysEmptyWhenNothingTakesItsPlace() throws {
        struct Stop: Error {}
        let fileSystem = try DirectoryWork.replaceEmpty.fixture()
        #expect(throws: Stop.self) {
            try StoreDirectory(Fixture.store, fileSystem).replace { _ in throw Stop() }
        }
        #expect(try fileSystem.list(Fixture.store) == [])
    }

    /// Who gets an error finds the store of before at once, and nothing beside it: without a crash, and without anybody
    /// who opens it for writing first. (In steps the last flush comes when the new store has its place.)
    @Test(arguments: [DirectoryWork.replace, .replaceNothing, .replaceEmpty, .replaceInSteps])
    func aReplacementThatCannotBeFlushedIsUndone(work: DirectoryWork) throws {
        let base = try work.fixture()
        let quiet = base.fork()
        if !work.canExchange { quiet.refuseExchange() }
        try work.run(quiet)
        var undone = 0
        for call in 1...quiet.callCount(of: .syncDirectory) {
            let live = base.fork()
            if !work.canExchange { live.refuseExchange() }
            live.inject(.init(.fail(.ioError), atCall: call, of: .syncDirectory, flushLoss: .nothing))
            guard (try? work.run(live)) == nil else { continue }
            undone += 1
            let names = try live.list("/d").filter { $0.hasPrefix("store.") }
            let found = try Fixture.look(live, .readOnly)
            if found == work.after, !work.canExchange, names == ["store.strata-old"] { continue }
            #expect(found == work.before, "flush \(call)")
            #expect(names.isEmpty, "flush \(call)")
        }
        #expect(undone > 1)
    }

    @Test(arguments: [DirectoryWork.destroy, .destroyBesideForeign])
    func nothingIsLeftOfAStoreThatIsDestroyed(work: DirectoryWork) throws {
        let fileSystem = try work.fixture()
        try work.run(fileSystem)
        #expect(try fileSystem.list(Fixture.store) == work.foreign)
    }

    /// Without a manifest to rename, its files counted as a damaged store once the first of them was gone.
    @Test func aCrashLeavesTheStoreWithoutManifestOrNone() throws {
        let base = try store(segments: 3)
        try base.unlink(Fixture.store.appending("MANIFEST"))
        let old = try Fixture.look(base.fork(), .readOnly)
        let live = base.resting()
        _ = try StoreDirectory(Fixture.store, live).destroy()
        var found: Set<DirectoryState> = []
        var cursor = live.trace.cursor()
        repeat {
            for policy in SimulatedFileSystem.CrashPolicy.allCases {
                for seed in UInt64(0)..<8 {
                    let image = cursor.image(policy: policy, seed: seed)
                    found.insert(try Fixture.look(image, .readWrite))
                }
            }
        } while cursor.advance()
        #expect(found == [.none, old])
    }

    // MARK: The lock

    /// Who is refused learns who has the store; and not who had it once, when the disk had no room for the new number.
    @Test func theRefusalNamesTheProcess() throws {
        let mine = "process \(ProcessInfo.processInfo.processIdentifier)"
        for isFull in [false, true] {
            let fileSystem = try store()
            let lock = try fileSystem.open(Fixture.store.appending("LOCK"), .createIfMissing)
            let former = Array("4242424\n".utf8)
            try former.withUnsafeBytes { try lock.writeAll([$0], at: 0) }
            try lock.close()
            if isFull {
                fileSystem.inject(.init(.fail(.noSpace), of: .write, pathSuffix: "LOCK", repetition: .always))
            }
            let log = try #require(try Fixture.open(fileSystem, .readWrite))
            let error = #expect(throws: StoreError.self) { try Fixture.open(fileSystem, .readWrite) }
            #expect(error?.code == .locked)
            #expect(error?.message.contains(mine) == !isFull)
            #expect(error?.message.contains("4242424") == false)
            try log.close()
        }
    }

    // MARK: The lock beside

    @Test func whileAStoreIsReplacedItIsLocked() throws {
        let work = DirectoryWork.replace
        let fileSystem = try work.fixture()
        try StoreDirectory(Fixture.store, fileSystem).replace { path in
            try Fixture.make("new", at: path, fileSystem, uuid: 5)
            for creates in [true, false] {
                let error = #expect(throws: StoreError.self) {
                    try Fixture.open(fileSystem, .readWrite, creates: creates)
                }
                #expect(error?.code == .locked)
            }
            let error = #expect(throws: StoreError.self) {
                try StoreDirectory(Fixture.store, fileSystem).destroy()
            }
            #expect(error?.code == .locked)
            #expect(try Fixture.look(fileSystem, .readOnly) == work.before)
        }
        #expect(try Fixture.look(fileSystem, .readWrite) == work.after)
        #expect(try fileSystem.list("/d") == ["backup", "source", "store"])
    }

    /// They stayed for ever, also beside a store that had been destroyed.
    @Test(arguments: ["strata-copy", "strata-old", "strata-new"])
    func theNextOpeningRemovesWhatIsLeft(suffix: String) throws {
        for work in [DirectoryWork.replace, .create] {
            let fileSystem = try work.fixture()
            let left = FilePath("/d/store.\(suffix)")
            // Put back by a version that did not know better, or left by a crash.
            try Fixture.make("left", at: "/d/x", fileSystem, uuid: 6)
            try fileSystem.rename("/d/x", to: left)
            if work.hasStore {
                #expect(try Fixture.look(fileSystem, .readOnly) == work.before)
                #expect(try fileSystem.attributes(left) != nil, "a reader cleaned up")
                #expect(try Fixture.look(fileSystem, .readWrite) == work.before)
            } else {
                try Fixture.open(fileSystem, .readWrite, creates: true)?.close()
            }
            #expect(try fileSystem.attributes(left) == nil)
            // What is complete and has no store to replace, or to be replaced by, is the store.
            if !work.hasStore, suffix != "strata-copy" {
                #expect(try Fixture.look(fileSystem, .readWrite) == DirectoryState(version: "left"))
            }
        }
    }

    /// After a crash between the two steps of a replacement, before anybody has ended it, somebody puts something else
    /// at the store's place: both copies were removed, and only then the opening refused.
    @Test(arguments: ["a file", "a directory with the user's files", "a directory with a lock"])
    func whatHasTakenTheStoresPlaceKeepsTheCopiesBeside(_ what: String) throws {
        let fileSystem = try DirectoryWork.create.fixture()
        for (suffix, version, uuid) in [("strata-new", "new", UInt64(6)), ("strata-old", "old", 7)] {
            try Fixture.make(version, at: "/d/x", fileSystem, uuid: uuid)
            try fileSystem.rename("/d/x", to: FilePath("/d/store.\(suffix)"))
        }
        switch what {
        case "a file": try fileSystem.open("/d/store", .createIfMissing).close()
        case "a directory with a lock":
            try fileSystem.createDirectory("/d/store")
            try fileSystem.open("/d/store/LOCK", .createIfMissing).close()
        default:
            try fileSystem.createDirectory("/d/store")
            try fileSystem.open("/d/store/letter.txt", .createIfMissing).close()
        }
        let before = fileSystem.filePaths.filter { $0.lastComponent != "LOCK" }
        #expect(throws: StoreError.self) { try Fixture.open(fileSystem, .readWrite, creates: true)?.close() }
        #expect(throws: StoreError.self) { try StoreDirectory("/d/store", fileSystem).destroy() }
        #expect(fileSystem.filePaths.filter { $0.lastComponent != "LOCK" } == before)
        // Once it is moved away, the new one is the store.
        try fileSystem.rename("/d/store", to: "/d/elsewhere")
        #expect(try Fixture.look(fileSystem, .readWrite) == DirectoryState(version: "new"))
    }

    /// A directory of the user's that happens to have the name of a replacement.
    @Test func aForeignDirectoryOfThatNameIsNotTheStore() throws {
        let fileSystem = try DirectoryWork.create.fixture()
        try fileSystem.createDirectory("/d/store.strata-new")
        try fileSystem.open("/d/store.strata-new/letter.txt", .createIfMissing).close()
        #expect(try StoreDirectory("/d/store", fileSystem).destroy() == [])
        #expect(try fileSystem.attributes("/d/store") == nil)
        try Fixture.open(fileSystem, .readWrite, creates: true)?.close()
        #expect(try fileSystem.attributes("/d/store.strata-new/letter.txt") != nil)
    }

    /// The lock of another user, who is at work or died while he was: without it nothing may be made.
    @Test(arguments: [Errno.permissionDenied, .notPermitted])
    func theLockOfAnotherUserIsNotIgnored(_ error: Errno) throws {
        let fileSystem = try DirectoryWork.create.fixture()
        try fileSystem.open("/d/.store.strata-lock", .createIfMissing).close()
        // The first call finds the name taken.
        fileSystem.inject(.init(.fail(error), atCall: 2, of: .open, pathSuffix: ".strata-lock", repetition: .always))
        do {
            try Fixture.open(fileSystem, .readWrite, creates: true)?.close()
            Issue.record("a store was made")
        } catch let error as StoreError {
            #expect(error.code == .locked)
        }
        #expect(try fileSystem.attributes("/d/store") == nil)
    }

    /// What the system says about the lock's file is what the caller gets, and not that others are busy.
    @Test(arguments: [Errno.permissionDenied, .ioError]) func aLockThatCannotBeOpenedIsNamed(_ errno: Errno) throws {
        let fileSystem = try store()
        fileSystem.inject(.init(.fail(errno), of: .open, pathSuffix: "LOCK", repetition: .always))
        let error = #expect(throws: StoreError.self) {
            try LogStore.open(Fixture.store, in: fileSystem, options: Fixture.options(), schema: Fixture.schema)
        }
        #expect(error?.code == .io && error?.errno == errno)
    }

    /// Neither where there is nothing, nor in an empty directory.
    @Test(arguments: [false, true], [LogOptions.Access.readWrite, .readOnly])
    func aStoreIsMadeOnlyWhereThatIsWanted(isThere: Bool, access: LogOptions.Access) throws {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory("/d")
        if isThere { try fileSystem.createDirectory(Fixture.store) }
        for creates in access == .readWrite ? [false] : [false, true] {
            var options = Fixture.options()
            options.access = access
            options.createsIfMissing = creates
            let error = #expect(throws: StoreError.self) {
                try LogStore.open(Fixture.store, in: fileSystem, options: options, schema: Fixture.schema)
            }
            #expect(error?.code == .notFound)
            #expect(try fileSystem.list("/d") == (isThere ? [Fixture.store.lastComponent!.string] : []))
            if isThere { #expect(try fileSystem.list(Fixture.store).isEmpty) }
        }
    }
}
