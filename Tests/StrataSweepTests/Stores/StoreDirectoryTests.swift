import Foundation
import StrataIO
import StrataLog
import StrataTestKit
import SystemPackage
import Testing

@testable import Strata

/// Replacing a store, with a crash after every operation: what is opened then is the old or the new store, whole.
@Suite struct StoreDirectoryTests {
    private static let schema = Schema(entities: [
        EntityLayout(id: 1, rootID: 1, name: "E", slots: [SlotLayout(.string)])
    ])

    private func write(_ text: String, at path: FilePath, in fileSystem: any FileSystem) throws -> StoreUUID {
        let log = try LogStore.open(path, in: fileSystem, options: LogOptions(), schema: Self.schema)
        for _ in 0..<3 {
            let transaction = log.makeTransaction()
            let writer = transaction.writer(for: 1)
            writer.beginInsert(key: try log.allocateKeys(root: 1, count: 1))
            writer.set(0, text)
            writer.endRow()
            _ = try log.commit(transaction)
        }
        try log.close()
        return log.storeUUID
    }

    private func texts(at path: FilePath, in fileSystem: any FileSystem) throws -> [String] {
        var options = LogOptions()
        options.createsIfMissing = false
        let log = try LogStore.open(path, in: fileSystem, options: options, schema: nil)
        defer { try? log.close() }
        return try (UInt64(1)...3).map { key in
            let row = try #require(try log.snapshot.row(ObjectRef(entity: 1, key: key)))
            return String(decoding: try row.block.column(0).bytes(row.index), as: UTF8.self)
        }
    }

    @Test func aCrashLeavesTheOldOrTheNewStore() throws {
        let base = SimulatedFileSystem()
        let old = try write("old", at: "/store", in: base)
        let new = try write("new", at: "/source", in: base)
        #expect(old != new)
        let whole = base.fork()
        let before = whole.trace.operations.count
        try StoreDirectory("/store", whole).replace(with: "/source")
        let count = whole.trace.operations.count - before
        #expect(count > 30)
        #expect(try texts(at: "/store", in: whole) == ["new", "new", "new"])
        var seen: Set<String> = []
        for operation in 0...count {
            let crashing = base.fork()
            crashing.crash(atOperation: crashing.trace.operations.count + operation)
            try? StoreDirectory("/store", crashing).replace(with: "/source")
            for policy in SimulatedFileSystem.CrashPolicy.allCases {
                for seed in 0..<1 {
                    let image = crashing.crashImage(policy: policy, seed: UInt64(operation * 10 + seed))
                    let found = try texts(at: "/store", in: image)
                    #expect(Set(found).count == 1, "operation \(operation), \(policy), seed \(seed)")
                    seen.formUnion(found)
                    // Whatever was left over does not stand in the way of the next replacement.
                    try StoreDirectory("/store", image).replace(with: "/source")
                    #expect(try texts(at: "/store", in: image).first == "new")
                    // The lock beside the source, which was just made there, goes when somebody writes the source
                    // again.
                    let names = try image.list("/").filter { $0 != ".source.strata-lock" }
                    #expect(names == ["source", "store"], "operation \(operation), \(policy): \(names)")
                }
            }
        }
        #expect(seen == ["old", "new"])
    }

    @Test func aCrashLeavesTheStoreOrNone() throws {
        let base = SimulatedFileSystem()
        _ = try write("old", at: "/store", in: base)
        for operation in 0..<20 {
            let crashing = base.fork()
            crashing.crash(atOperation: crashing.trace.operations.count + operation)
            _ = try? StoreDirectory("/store", crashing).destroy()
            for policy in SimulatedFileSystem.CrashPolicy.allCases {
                let image = crashing.crashImage(policy: policy, seed: UInt64(operation))
                do {
                    #expect(try texts(at: "/store", in: image) == ["old", "old", "old"])
                } catch let error as StoreError where error.code == .notFound {
                    #expect(operation > 1)
                }
            }
        }
    }

    @Test func aFailedCopyLeavesTheStore() throws {
        let fileSystem = MemoryFileSystem()
        _ = try write("old", at: "/store", in: fileSystem)
        #expect(throws: StoreError.self) { try StoreDirectory("/store", fileSystem).replace(with: "/nothing") }
        try fileSystem.createDirectory("/empty")
        #expect(throws: StoreError.self) { try StoreDirectory("/store", fileSystem).replace(with: "/empty") }
        #expect(try texts(at: "/store", in: fileSystem) == ["old", "old", "old"])
        #expect(try fileSystem.list("/") == ["empty", "store"])
    }

    /// A store of several segments with little in them, whose writer compacts and writes on while it is copied: what is
    /// copied is the store before or after that, whole. Segments went between listing and copying them, and the copy
    /// failed.
    @Test func aStoreIsCopiedWhileItIsCompacted() throws {
        var opened = 1
        var fewest = Int.max
        var position = 0
        var texts: Set<String> = []
        while position < opened {
            let fileSystem = MemoryFileSystem()
            var options = LogOptions()
            options.segmentMaximumBytes = 64 << 10
            options.compaction.isAutomatic = false
            options.retention.historyFloor = .max
            let log = try LogStore.open("/source", in: fileSystem, options: options, schema: Self.schema)
            defer { try? log.close() }
            for text in ["first", "second", "third"] { try Self.fill(log, 400, text) }
            try log.checkpoint()
            let segments = try fileSystem.list("/source").filter { $0.hasSuffix(".seg") }
            #expect(segments.count > 3)
            let calls = LockedBox(0)
            let interfering = InterferingFileSystem(fileSystem) { [position] path in
                guard path.string.hasPrefix("/source/") else { return }
                calls.change { $0 += 1 }
                guard calls.value == position + 1 else { return }
                do {
                    try log.compact()
                    try Self.fill(log, 1, "newest")
                } catch {
                    Issue.record("\(error)")
                }
            }
            try StoreDirectory("/copy", interfering).replace(with: "/source")
            if calls.value > position {
                #expect(try fileSystem.list("/source").filter { $0.hasSuffix(".seg") }.count < segments.count)
            }
            options.createsIfMissing = false
            let copy = try LogStore.open("/copy", in: fileSystem, options: options, schema: nil)
            #expect(try copy.verify().problems.isEmpty)
            for key in UInt64(1)...400 {
                let row = try #require(try copy.snapshot.row(ObjectRef(entity: 1, key: key)))
                let text = String(decoding: try row.block.column(0).bytes(row.index), as: UTF8.self)
                if key == 1 { texts.insert(String(text.prefix(6))) } else { #expect(text.hasPrefix("third")) }
            }
            try copy.close()
            opened = max(opened, calls.value)
            fewest = min(fewest, calls.value)
            position += 1
        }
        #expect(fewest > 5 && opened > fewest, "no copy was begun anew: \(fewest) to \(opened) openings")
        #expect(texts == ["third ", "newest"])
    }

    /// Writes so many rows, each with a long text of its own.
    private static func fill(_ log: LogStore, _ count: UInt64, _ text: String) throws {
        var random = SeededGenerator(seed: UInt64(text.utf8.count))
        for first in stride(from: UInt64(1), through: count, by: 50) {
            let transaction = log.makeTransaction()
            let writer = transaction.writer(for: 1)
            for key in first..<min(first + 50, count + 1) {
                if let row = try log.snapshot.row(ObjectRef(entity: 1, key: key)) {
                    try writer.beginUpdate(key: key, replacing: row.version, changed: SlotSet([0]))
                } else {
                    writer.beginInsert(key: key)
                }
                writer.set(0, text + " " + (0..<40).map { _ in String(random.next(), radix: 36) }.joined())
                writer.endRow()
            }
            _ = try log.commit(transaction)
        }
    }

    /// The file beside it is one that the other writer has: it must not be taken away and put in the store's place.
    @Test func twoWhoWriteAFileDoNotMixTheirs() throws {
        let url = URL(fileURLWithPath: "/file")
        let fileSystem = MemoryFileSystem()
        try StoreFile.write(Data("old".utf8), to: url, in: fileSystem)
        let other = try fileSystem.open("/file.strata-new", .create)
        #expect(try other.tryLockExclusively())
        #expect(throws: CocoaError.self) { try StoreFile.write(Data("new".utf8), to: url, in: fileSystem) }
        #expect(throws: CocoaError.self) { try StoreFile.remove(url, in: fileSystem) }
        #expect(try StoreFile.read(url, in: fileSystem) == Data("old".utf8))
        try other.close()
        // It has died: what it left is made anew.
        try StoreFile.write(Data("new".utf8), to: url, in: fileSystem)
        #expect(try StoreFile.read(url, in: fileSystem) == Data("new".utf8))
        #expect(try fileSystem.list("/") == ["file"])
    }

    @Test func wholeFilesAreWrittenAtomically() throws {
        let url = URL(fileURLWithPath: "/file")
        let base = SimulatedFileSystem()
        try StoreFile.write(Data("old contents".utf8), to: url, in: base)
        for operation in 0..<8 {
            let crashing = base.fork()
            crashing.crash(atOperation: crashing.trace.operations.count + operation)
            try? StoreFile.write(Data("new".utf8), to: url, in: crashing)
            for policy in SimulatedFileSystem.CrashPolicy.allCases {
                let image = crashing.crashImage(policy: policy, seed: UInt64(operation))
                let found = try StoreFile.read(url, in: image).map { String(decoding: $0, as: UTF8.self) }
                #expect(found == "old contents" || found == "new", "operation \(operation), \(policy)")
                try StoreFile.write(Data("newest".utf8), to: url, in: image)
                #expect(try StoreFile.read(url, in: image) == Data("newest".utf8))
            }
        }
    }
}
