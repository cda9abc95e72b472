import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Zeros that small durable commits find behind the end of the log.
@Suite struct WrittenAheadTests {
    private static func store(_ fs: SimulatedFileSystem, _ durability: LogOptions.Durability) throws -> LogStore {
        var options = StoreWorkload.options(durability)
        options.segmentMaximumBytes = 4 << 20
        options.preallocationMinimumBytes = 1 << 20
        options.checkpointTailBytes = 64 << 20
        return try StoreWorkload.open(fs, options)
    }

    @discardableResult
    private static func insert(_ store: LogStore, noteBytes: Int = 0) throws -> ObjectRef {
        let key = try store.allocateKeys(root: SampleSchema.person, count: 1)
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: key)
        writer.set(0, "person \(key)")
        if noteBytes > 0 {
            var generator = SeededGenerator(seed: key)
            let bytes = (0..<noteBytes).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            bytes.withUnsafeBytes { writer.set(6, bytes: $0) }
        }
        writer.endRow()
        _ = try store.commit(transaction)
        return ObjectRef(entity: SampleSchema.person, key: key)
    }

    /// How many writes a number of commits make.
    private static func writes(
        of commits: Int, _ durability: LogOptions.Durability, noteBytes: Int = 0
    ) throws -> Int {
        let fs = SimulatedFileSystem()
        let store = try store(fs, durability)
        let before = fs.callCount(of: .write)
        for _ in 0..<commits { try insert(store, noteBytes: noteBytes) }
        return fs.callCount(of: .write) - before
    }

    /// 16 KiB of zeros, then up to 128 KiB at a time, do for some hundreds of commits.
    @Test func smallDurableCommitsWriteZerosAheadNowAndThen() throws {
        let count = try Self.writes(of: 1_000, .full)
        #expect(count > 1_000)
        #expect(count <= 1_010)
    }

    /// They wait for more data than a change of the file system's tables costs, or for nothing.
    @Test(arguments: [
        (LogOptions.Durability.full, 40_000), (.interval(milliseconds: 1_000_000), 0), (.os, 0),
    ])
    func otherCommitsWriteNone(_ durability: LogOptions.Durability, noteBytes: Int) throws {
        #expect(try Self.writes(of: 20, durability, noteBytes: noteBytes) == 20)
    }

    /// Zeros that cannot be written fail no commit, and are not tried again with each.
    @Test func aCommitDoesNotFailWithItsZeros() throws {
        let fs = SimulatedFileSystem()
        let store = try Self.store(fs, .full)
        let before = fs.callCount(of: .write)
        fs.inject(.init(.fail(.noSpace), atCall: 2, of: .write))
        var refs: [ObjectRef] = []
        for _ in 0..<50 { refs.append(try Self.insert(store)) }
        #expect(fs.firedFaultCount == 1)
        #expect(fs.callCount(of: .write) - before == 51)
        for seed in UInt64(0)..<20 {
            let reopened = try StoreWorkload.open(
                fs.crashImage(policy: .strict, seed: seed), StoreWorkload.options())
            for ref in refs { #expect(try reopened.snapshot.row(ref) != nil) }
        }
    }

    /// After a crash the zeros are reserved space, whatever came of them.
    @Test(arguments: [SimulatedFileSystem.CrashPolicy.strict, .evil])
    func aStoreGoesOnOverItsZerosAfterACrash(_ policy: SimulatedFileSystem.CrashPolicy) throws {
        let fs = SimulatedFileSystem()
        let store = try Self.store(fs, .full)
        let first = try Self.insert(store)
        for seed in UInt64(0)..<20 {
            let reopened = try StoreWorkload.open(fs.crashImage(policy: policy, seed: seed), StoreWorkload.options())
            let second = try Self.insert(reopened)
            #expect(try reopened.snapshot.row(first) != nil)
            #expect(try reopened.snapshot.row(second) != nil)
            #expect(second != first)
        }
    }
}
