import Dispatch
import Foundation
import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Ordered indexes as parts of a store. What a random workload does to them the sweeps check (`StoreModel`).
@Suite struct OrderedStoreTests {
    private static func open(
        _ fs: any FileSystem, _ definitions: [OrderedIndexDefinition], _ change: (inout LogOptions) -> Void = { _ in }
    ) throws -> LogStore {
        var options = StoreTests.options()
        change(&options)
        let store = try LogStore.open("/store", in: fs, options: options, schema: SampleSchema.schema)
        try store.maintain(definitions)
        return store
    }

    private static func keys(_ store: LogStore, _ number: Int = 0) throws -> [UInt64] {
        var keys: [UInt64] = []
        let index = store.snapshot.orderedIndexes[number]
        #expect(index.isReady)
        _ = try index.forEach(in: .all) {
            keys.append($0.key)
            return true
        }
        return keys
    }

    /// By age, which is the key as far as sixteen bits go.
    private static let byAge = OrderedIndexDefinition(
        root: SampleSchema.person, entities: [SampleSchema.person], elements: [.init(slot: 1, kind: .int16)])
    private static let byAgeDown = OrderedIndexDefinition(
        root: SampleSchema.person, entities: [SampleSchema.person],
        elements: [.init(slot: 1, kind: .int16, isDescending: true)])

    @Test(arguments: [true, false]) func anIndexIsBuiltForRowsThatAreThere(inBackground: Bool) async throws {
        let fs = SimulatedFileSystem()
        let store = try Self.open(fs, []) { $0.checkpointsInBackground = inBackground }
        _ = try StoreTests.insert(store, 5_000, department: .null)
        try store.maintain([Self.byAge])
        // Commits go on while it is built.
        _ = try StoreTests.insert(store, 100, department: .null)
        while !store.snapshot.orderedIndexes[0].isReady { try await Task.sleep(for: .milliseconds(1)) }
        _ = try StoreTests.insert(store, 100, department: .null)
        #expect(try Self.keys(store) == Array(1...5_200))
        #expect(try store.verify().problems.isEmpty)
        try store.close()
    }

    /// The values are those of a small integer that runs over, so that their order is not that of the keys.
    @Test(arguments: ["a disk", "memory", "a full disk", "names that are taken"])
    func anIndexLargerThanItsMemoryIsTheSame(on what: String) throws {
        let memory = MemoryFileSystem()
        let fs: any FileSystem =
            switch what {
            case "a disk": SimulatedFileSystem()
            case "a full disk": ScratchFileSystem(base: memory, hasRoom: false)
            default: memory
            }
        let store = try Self.open(fs, []) {
            $0.indexBuildMaximumBytes = 16 << 10
            $0.checkpointsInBackground = false
        }
        let count = 140_000
        for _ in 0..<14 { _ = try StoreTests.insert(store, count / 14, department: .null) }
        let before = try fs.list("/store")
        let taken = what == "names that are taken" ? ["/store/ffffffff.tmp", "/store/fffffffe.tmp"] : []
        for name in taken { _ = try fs.open(FilePath(name), .create) }
        try store.maintain([Self.byAge])
        for name in taken { try fs.unlink(FilePath(name)) }
        #expect(try fs.list("/store") == before)
        #expect((store.snapshot.orderedIndexes[0].base?.directory == nil) == (what == "a full disk"))
        func expected(_ count: Int) -> [UInt64] {
            (1...UInt64(count)).sorted { left, right in
                let (a, b) = (Int16(truncatingIfNeeded: left), Int16(truncatingIfNeeded: right))
                return (a, left) < (b, right)
            }
        }
        #expect(try Self.keys(store) == expected(count))
        #expect(try store.verify().problems.isEmpty)
        // What is written to a checkpoint from there is sound.
        _ = try StoreTests.insert(store, 10, department: .null)
        try store.checkpoint()
        #expect(try Self.keys(store) == expected(count + 10))
        try store.close()
        let again = try Self.open(fs, [Self.byAge])
        #expect(try Self.keys(again) == expected(count + 10))
        #expect(try again.verify().problems.isEmpty)
        try again.close()
    }

    /// As soon as closing returns, the directory may be another store's.
    @Test func closingWaitsUntilAFileHasLostItsName() throws {
        let fs = ScratchFileSystem(base: MemoryFileSystem())
        let store = try Self.open(fs, []) {
            $0.indexBuildMaximumBytes = 1 << 10
            $0.checkpointsInBackground = false
        }
        _ = try StoreTests.insert(store, 5_000, department: .null)
        let isClosed = DispatchSemaphore(value: 0)
        fs.onCreate = {
            Thread.detachNewThread {
                try? store.close()
                isClosed.signal()
            }
            #expect(isClosed.wait(timeout: .now() + 0.2) == .timedOut)
        }
        try store.maintain([Self.byAge])
        isClosed.wait()
        #expect(!store.snapshot.orderedIndexes[0].isReady)
        // After that none is made.
        #expect(fs.createdCount == 1)
        #expect(try !fs.list("/store").contains { $0.hasSuffix(".tmp") })
    }

    @Test func anIndexThatCannotBeReadKeepsNoCheckpointFromBeingWritten() throws {
        let fs = ScratchFileSystem(base: MemoryFileSystem())
        let store = try Self.open(fs, []) {
            $0.indexBuildMaximumBytes = 1 << 10
            $0.checkpointsInBackground = false
        }
        _ = try StoreTests.insert(store, 5_000, department: .null)
        try store.maintain([Self.byAge])
        #expect(store.snapshot.orderedIndexes[0].base?.directory != nil)
        fs.failsReading = true
        _ = try StoreTests.insert(store, 10, department: .null)
        try store.checkpoint()
        _ = try StoreTests.insert(store, 10, department: .null)
        try store.close()
        let again = try Self.open(fs, [Self.byAge])
        #expect(try Self.keys(again) == Array(1...5_020))
        #expect(try again.verify().problems.isEmpty)
    }

    /// An index that was built since the last commit need not be built again.
    @Test func closingWritesACheckpointOfANewIndex() throws {
        let fs = MemoryFileSystem()
        let store = try Self.open(fs, [])
        _ = try StoreTests.insert(store, 10, department: .null)
        try store.close()
        let second = try Self.open(fs, [Self.byAge])
        #expect(try Self.keys(second) == Array(1...10))
        try second.close()
        func opened() throws -> LogStore {
            try LogStore.open("/store", in: fs, options: StoreTests.options(), schema: SampleSchema.schema)
        }
        let third = try opened()
        try #require(third.snapshot.orderedIndexes.count == 1)
        #expect(try Self.keys(third) == Array(1...10))
        let files = try fs.list("/store")
        try third.close()
        // Nothing is new any more.
        #expect(try fs.list("/store") == files)
        let fourth = try opened()
        try fourth.maintain([])
        try fourth.close()
        #expect(try fs.list("/store") == files)
    }

    /// Nothing is read or written any more either, and no list is kept in memory in its stead.
    @Test func buildingEndsWhenTheStoreIsClosed() throws {
        let fs = ScratchFileSystem(base: MemoryFileSystem())
        let store = try Self.open(fs, [])
        _ = try StoreTests.insert(store, 5_000, department: .null)
        let sorter = OrderedSorter(maximumByteCount: 1 << 10, scratch: OrderedScratch(Self.byAge, of: store))
        fs.onWrite = { try? store.close() }
        let error = #expect(throws: StoreError.self) {
            for _ in 0..<4 {
                _ = try OrderedIndexBuilder(Self.byAge, store.snapshot).build(with: sorter) { true }
            }
        }
        #expect(error?.code == .closed)
    }

    @Test func whatADeathLeavesOfBuildingIsRemoved() throws {
        let fs = MemoryFileSystem()
        let store = try Self.open(fs, [])
        _ = try StoreTests.insert(store, 10, department: .null)
        try store.close()
        _ = try fs.open("/store/ffffffff.tmp", .create)
        try Self.open(fs, [Self.byAge]).close()
        #expect(try !fs.list("/store").contains("ffffffff.tmp"))
    }

    @Test func whatACheckpointHoldsIsNotBuiltAgain() throws {
        let fs = SimulatedFileSystem()
        let store = try Self.open(fs, [Self.byAge])
        _ = try StoreTests.insert(store, 3_000, department: .null)
        try store.checkpoint()
        #expect(store.snapshot.orderedIndexes[0].runs.list.isEmpty)
        _ = try StoreTests.insert(store, 10, department: .null)
        let killed = try LogStore.open(
            "/store", in: fs.crashImage(policy: .killed, seed: 1), options: StoreTests.options(),
            schema: SampleSchema.schema)
        // Before anybody says which indexes there are: those of the checkpoint, with the log's tail laid over them.
        #expect(try Self.keys(killed) == Array(1...3_010))
        #expect(killed.snapshot.orderedIndexes[0].base?.directory != nil)
        try killed.maintain([Self.byAgeDown])
        #expect(killed.snapshot.orderedIndexes.count == 1)
        #expect(try Self.keys(killed) == (1...3_010).reversed())
        try killed.maintain([Self.byAge, Self.byAgeDown])
        #expect(try Self.keys(killed, 0) == (try Self.keys(killed, 1)).reversed())
        #expect(try killed.verify().problems.isEmpty)
    }

    @Test func transactionsBegunBeforeTheIndexAreNotMissed() throws {
        let store = try Self.open(SimulatedFileSystem(), [])
        _ = try StoreTests.insert(store, 5, department: .null)
        let early = store.makeTransaction()
        let writer = early.writer(for: SampleSchema.person)
        writer.beginInsert(key: try store.allocateKeys(root: SampleSchema.person, count: 1))
        writer.set(1, Int16(-1))
        writer.endRow()
        try store.maintain([Self.byAge])
        #expect(try Self.keys(store) == [1, 2, 3, 4, 5])
        _ = try store.commit(early)
        // Its values are not known to the index, which is then built anew.
        #expect(!store.snapshot.orderedIndexes[0].isReady)
        try store.checkpoint()
        #expect(try Self.keys(store) == [6, 1, 2, 3, 4, 5])
        #expect(try store.verify().problems.isEmpty)
    }

    @Test func aDamagedBlockIsAnErrorAndRebuildingMakesItGood() throws {
        let fs = SimulatedFileSystem()
        let store = try Self.open(fs, [Self.byAge])
        _ = try StoreTests.insert(store, 30_000, department: .null)
        try store.checkpoint()
        let index = store.snapshot.orderedIndexes[0]
        let place = try #require(index.base?.directory?.entries[3])
        try fs.corrupt("/store/00000001.chk", .flipBit(offset: Int(place.offset) + 20, bit: 3))
        #expect(throws: StoreError.self) { try Self.keys(store) }
        store.rebuild(index)
        #expect(try Self.keys(store).count == 30_000)
        #expect(try store.verify().problems.isEmpty)
    }

    @Test func aFailedCommitLeavesTheIndexAsItWas() throws {
        let fs = SimulatedFileSystem()
        let store = try Self.open(fs, [Self.byAge])
        let refs = try StoreTests.insert(store, 5, department: .null)
        fs.inject(.init(.fail(.noSpace), of: .write, repetition: .always))
        let row = try #require(try store.snapshot.row(refs[2]))
        let deletion = store.makeTransaction()
        try deletion.delete(refs[2], replacing: row.version)
        #expect(throws: StoreError.self) { try store.commit(deletion) }
        #expect(throws: StoreError.self) { try StoreTests.insert(store, 2, department: .null) }
        fs.removeFaults()
        #expect(try Self.keys(store) == [1, 2, 3, 4, 5])
        let again = store.makeTransaction()
        try again.delete(refs[2], replacing: row.version)
        _ = try store.commit(again)
        #expect(try Self.keys(store) == [1, 2, 4, 5])
    }

    /// Values that lie out of line, and values that only differ behind what an index looks at.
    @Test func longValues() throws {
        let definition = OrderedIndexDefinition(
            root: SampleSchema.person, entities: [SampleSchema.person], elements: [.init(slot: 0, kind: .string)])
        let store = try Self.open(SimulatedFileSystem(), [definition])
        func insert(_ names: [String]) throws {
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.person)
            for name in names {
                writer.beginInsert(key: try store.allocateKeys(root: SampleSchema.person, count: 1))
                writer.set(0, name)
                writer.endRow()
            }
            _ = try store.commit(transaction)
        }
        try insert(["b", "a"])
        #expect(store.snapshot.orderedIndexes[0].isExact)
        let long = String(repeating: "m", count: 70_000)
        try insert([long + "2", long + "1", "z"])
        #expect(!store.snapshot.orderedIndexes[0].isExact)
        // The long ones are not told apart, but lie where they belong otherwise.
        #expect(try Self.keys(store) == [2, 1, 3, 4, 5])
        let row = try #require(try store.snapshot.row(ObjectRef(entity: SampleSchema.person, key: 3)))
        let transaction = store.makeTransaction()
        try transaction.delete(row.ref, replacing: row.version)
        _ = try store.commit(transaction)
        #expect(try Self.keys(store) == [2, 1, 4, 5])
    }
}

/// With faults of the files that are to have no name.
private final class ScratchFileSystem: ForwardingFileSystem, @unchecked Sendable {
    // Unchecked: changed by one thread, while nobody works.
    let base: any FileSystem
    private let hasRoom: Bool
    /// Called once, when such a file has been made and has its name.
    var onCreate: (() -> Void)?
    /// Called once, before something is written to one.
    var onWrite: (() -> Void)?
    private(set) var createdCount = 0
    var failsReading = false

    init(base: any FileSystem, hasRoom: Bool = true) {
        self.base = base
        self.hasRoom = hasRoom
    }

    func open(_ path: FilePath, _ mode: FileOpenMode) throws(Errno) -> any File {
        let file = try base.open(path, mode)
        guard path.lastComponent?.string.hasPrefix("ffffff") == true else { return file }
        createdCount += 1
        onCreate?()
        onCreate = nil
        return ScratchFile(file, self, hasRoom: hasRoom)
    }
}

private final class ScratchFile: ForwardingFile {
    let base: any File
    private let owner: ScratchFileSystem
    private let hasRoom: Bool

    init(_ base: any File, _ owner: ScratchFileSystem, hasRoom: Bool) {
        (self.base, self.owner, self.hasRoom) = (base, owner, hasRoom)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        if owner.failsReading { throw .ioError }
        return try base.read(into: buffer, at: offset)
    }

    func write(_ buffers: [UnsafeRawBufferPointer], at offset: Int64) throws(Errno) -> Int {
        if !hasRoom { throw .noSpace }
        owner.onWrite?()
        owner.onWrite = nil
        return try base.write(buffers, at: offset)
    }
}
