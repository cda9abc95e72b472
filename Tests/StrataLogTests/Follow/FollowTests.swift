import Foundation
import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

/// Following a store through real files, by the signal of its writer.
@Suite struct FollowTests {
    private static func withDirectory(_ body: (FilePath) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("follow-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: url) }
        try body(FilePath(url.path))
    }

    private static func options(_ access: LogOptions.Access) -> LogOptions {
        var options = StoreTests.options()
        options.access = access
        return options
    }

    private static func writer(_ path: FilePath) throws -> LogStore {
        try LogStore.open(path, in: PosixFileSystem(), options: options(.readWrite), schema: SampleSchema.schema)
    }

    private static func reader(_ path: FilePath) throws -> LogStore {
        try LogStore.open(path, in: PosixFileSystem(), options: options(.readOnly), schema: nil)
    }

    @Test func aFollowerIsWokenByEachCommit() throws {
        try Self.withDirectory { directory in
            let path = directory.appending("store")
            let store = try Self.writer(path)
            let reader = try Self.reader(path)
            #expect(reader.snapshot.sequence == 0)
            let arrived = DispatchSemaphore(value: 0)
            let newest = Mutex<UInt64>(0)
            let follower = reader.follow { result in
                guard case .success(let snapshot) = result else { return }
                newest.withLock { $0 = snapshot.sequence }
                arrived.signal()
            }
            for expected in 1...UInt64(50) {
                _ = try StoreTests.insert(store, 1, department: .null)
                while newest.withLock({ $0 }) < expected {
                    guard arrived.wait(timeout: .now() + 60) == .success else {
                        Issue.record("transaction \(expected) did not arrive")
                        return
                    }
                }
                #expect(reader.snapshot.count(entity: SampleSchema.person) == Int(expected))
            }
            follower.stop()
            try reader.close()
            try store.close()
        }
    }

    @Test func metadataAndSchemasArrive() throws {
        try Self.withDirectory { directory in
            let path = directory.appending("store")
            let store = try Self.writer(path)
            let reader = try Self.reader(path)
            try store.setMetadata([1, 2, 3])
            #expect(reader.metadata == [])
            #expect(try reader.refresh())
            #expect(reader.metadata == [1, 2, 3])
            #expect(try !reader.refresh())
            try store.close()
            var schema = SampleSchema.schema
            schema.entities.append(EntityLayout(id: 9, rootID: 9, name: "New", slots: [SlotLayout(.int64)]))
            let again = try LogStore.open(
                path, in: PosixFileSystem(), options: Self.options(.readWrite), schema: schema)
            let transaction = again.makeTransaction()
            let writer = transaction.writer(for: 9)
            writer.beginInsert(key: try again.allocateKeys(root: 9, count: 1))
            writer.set(0, Int64(5))
            writer.endRow()
            _ = try again.commit(transaction)
            #expect(try reader.refresh())
            #expect(reader.schema == schema)
            let row = try #require(try reader.snapshot.row(ObjectRef(entity: 9, key: 1)))
            #expect(try row.block.column(0).int64(row.index) == 5)
            try again.close()
        }
    }

    /// The page is only a help: without it readers go by what the log says, and still see all that is durable.
    @Test func withoutThePageTheLogIsAsked() throws {
        try Self.withDirectory { directory in
            let path = directory.appending("store")
            let store = try Self.writer(path)
            for _ in 0..<3 { _ = try StoreTests.insert(store, 2, department: .null) }
            try PosixFileSystem().unlink(path.appending("TAIL"))
            let reader = try Self.reader(path)
            // The newest record is only proven by the one that follows it.
            #expect(reader.snapshot.sequence == 2)
            _ = try StoreTests.insert(store, 2, department: .null)
            #expect(try reader.refresh())
            #expect(reader.snapshot.sequence == 3)
            try store.close()
            #expect(try reader.refresh())
            #expect(reader.snapshot.sequence == 4)
        }
    }

    /// A writer that can make no page takes away the one of the writer before it, which says where that one ended.
    @Test func aWriterWithoutAPageLeavesNoOlderOne() throws {
        try Self.withDirectory { directory in
            let path = directory.appending("store")
            var former: LogStore? = try Self.writer(path)
            _ = try StoreTests.insert(try #require(former), 2, department: .null)
            // Not closed: it might still be announcing.
            former = nil
            let store = try LogStore.open(
                path, in: PagelessFileSystem(base: PosixFileSystem()), options: Self.options(.readWrite),
                schema: SampleSchema.schema)
            for _ in 0..<3 { _ = try StoreTests.insert(store, 2, department: .null) }
            let reader = try Self.reader(path)
            // The newest record is only proven by the one that follows it.
            #expect(reader.snapshot.sequence == 3)
            try reader.close()
            try store.close()
        }
    }

    /// A page that came with a copy, or from before the system was started, says nothing.
    @Test func aCopiedPageIsNotBelieved() throws {
        try Self.withDirectory { directory in
            let path = directory.appending("store")
            let store = try Self.writer(path)
            _ = try StoreTests.insert(store, 2, department: .null)
            try store.close()
            let copy = directory.appending("copy")
            try FileManager.default.copyItem(atPath: path.string, toPath: copy.string)
            // The copied page says less than the copied log: as if the page had been copied first.
            let stale = try Data(contentsOf: URL(fileURLWithPath: copy.appending("TAIL").string))
            let again = try Self.writer(copy)
            for _ in 0..<5 { _ = try StoreTests.insert(again, 2, department: .null) }
            try again.close()
            try PosixFileSystem().unlink(copy.appending("TAIL"))
            try stale.write(to: URL(fileURLWithPath: copy.appending("TAIL").string))
            #expect(try Self.reader(copy).snapshot.sequence == 6)
        }
    }

    @Test func anOlderStoreInItsPlaceIsNoticed() throws {
        try Self.withDirectory { directory in
            let path = directory.appending("store")
            var store = try Self.writer(path)
            _ = try StoreTests.insert(store, 1, department: .null)
            try store.close()
            let backup = directory.appending("backup")
            try FileManager.default.copyItem(atPath: path.string, toPath: backup.string)
            store = try Self.writer(path)
            _ = try StoreTests.insert(store, 1, department: .null)
            let reader = try Self.reader(path)
            #expect(reader.snapshot.sequence == 2)
            try store.close()
            try FileManager.default.removeItem(atPath: path.string)
            try FileManager.default.moveItem(atPath: backup.string, toPath: path.string)
            // What has been opened stays as it is; a refresh says what is wrong, or finds nothing new.
            #expect(reader.snapshot.count(entity: SampleSchema.person) == 2)
            store = try Self.writer(path)
            _ = try StoreTests.insert(store, 1, department: .null)
            _ = try StoreTests.insert(store, 1, department: .null)
            reader.tail?.reattach()
            #expect(throws: StoreError.self) { try reader.refresh() }
            #expect(reader.snapshot.sequence == 2)
            try store.close()
        }
    }

    /// Whoever fails to make a store unlinks the lock: a process that has just taken that one must not think it has
    /// the store.
    @Test func anUnlinkedLockDoesNotCount() throws {
        try Self.withDirectory { directory in
            let path = directory.appending("store")
            let fileSystem = UnlinkingFileSystem(PosixFileSystem(), path.appending("LOCK"))
            let store = try LogStore.open(
                path, in: fileSystem, options: Self.options(.readWrite), schema: SampleSchema.schema)
            #expect(fileSystem.count == 1)
            #expect(throws: StoreError.self) { try Self.writer(path) }
            try store.close()
        }
    }
}

/// Removes the lock file just after it was opened for the first time, as a process that gives up would.
private final class UnlinkingFileSystem: ForwardingFileSystem {
    let base: any FileSystem
    private let lock: FilePath
    private let unlinked = Mutex(0)

    init(_ base: any FileSystem, _ lock: FilePath) {
        self.base = base
        self.lock = lock
    }

    var count: Int { unlinked.withLock { $0 } }

    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        let file = try base.open(path, mode)
        if path == lock, count == 0 {
            try base.unlink(path)
            unlinked.withLock { $0 += 1 }
        }
        return file
    }
}

/// Where no page can be shared for writing.
private struct PagelessFileSystem: ForwardingFileSystem {
    let base: any FileSystem

    func sharedPage(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> SharedPage {
        guard mode == .read else { throw .notSupported }
        return try base.sharedPage(path, mode)
    }
}
