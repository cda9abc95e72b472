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
            writer.beginInsert(key: log.allocateKeys(root: 1, count: 1))
            writer.set(0, text)
            writer.endRow()
            _ = try log.commit(transaction)
        }
        try log.close()
        return log.storeUUID
    }

    private func texts(at path: FilePath, in fileSystem: any FileSystem) throws -> [String] {
        try StoreDirectory(path, fileSystem).finishReplacement()
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
                    #expect(try image.list("/") == ["source", "store"])
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
            try? StoreDirectory("/store", crashing).remove()
            for policy in SimulatedFileSystem.CrashPolicy.allCases {
                let image = crashing.crashImage(policy: policy, seed: UInt64(operation))
                guard try image.attributes("/store") != nil else { continue }
                #expect(try texts(at: "/store", in: image) == ["old", "old", "old"])
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
