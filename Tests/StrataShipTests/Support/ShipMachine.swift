import StrataIO
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// A machine with a store on its disk, which is changed at random; and what the store held after each transaction.
final class ShipMachine {
    static let path: FilePath = "/data/store"

    let fileSystem: SimulatedFileSystem
    private(set) var store: LogStore
    /// What the store held after each transaction, by number.
    var digests: [UInt64: ObjectDigest] = [:]
    var times: [UInt64: Int64] = [:]
    private(set) var version = 0
    private var keys: [UInt64] = []
    private(set) var clock: TestClock
    /// What the store was told when it asked for the time, and the last transaction before.
    private let readings = Readings()
    var random: SeededGenerator

    /// Nanoseconds that go on with each look, and now and then back.
    final class TestClock: Sendable {
        let now = Counter()

        final class Counter: @unchecked Sendable {
            // Unchecked: used by one thread at a time, that which writes.
            var value: Int64 = 1_700_000_000_000_000_000
        }

        func tick() -> Int64 {
            now.value += 1_000_000_000
            return now.value
        }

        /// Goes on, or is set to another time.
        func move(seconds: Int) { now.value += Int64(seconds) * 1_000_000_000 }
    }

    private final class Readings: @unchecked Sendable {
        // Unchecked: used by one thread at a time, that which writes.
        var all: [(after: UInt64, time: Int64)] = []
        var sequence: UInt64 = 0
    }

    init(
        seed: UInt64, durability: LogOptions.Durability = .full, segmentMaximumBytes: Int = 64 << 10
    ) throws {
        fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory("/data")
        random = SeededGenerator(seed: seed)
        clock = TestClock()
        var options = ShipSchema.options(uuid: seed + 1)
        options.durability = durability
        options.segmentMaximumBytes = segmentMaximumBytes
        options.clock = Self.told(clock, readings)
        store = try LogStore.open(Self.path, in: fileSystem, options: options, schema: ShipSchema.first)
    }

    /// A machine to which a store was restored.
    init(restored fileSystem: SimulatedFileSystem, from other: ShipMachine) throws {
        self.fileSystem = fileSystem
        random = other.random
        clock = other.clock
        var options = ShipSchema.options()
        options.clock = Self.told(clock, readings)
        readings.all = other.readings.all
        readings.sequence = other.readings.sequence
        store = try LogStore.open(Self.path, in: fileSystem, options: options, schema: nil)
        let sequence = store.snapshot.sequence
        readings.all.removeAll { $0.after > sequence }
        readings.sequence = sequence
        digests = other.digests.filter { $0.key <= sequence }
        times = other.times.filter { $0.key <= sequence }
        version = ShipSchema.versions.firstIndex { $0.entities == store.schema.entities } ?? 0
        keys = try Self.keys(store)
    }

    private static func keys(_ store: LogStore) throws -> [UInt64] {
        var keys: [UInt64] = []
        try store.snapshot.forEachRun(root: ShipSchema.thing) { run throws(StoreError) in
            keys += (0..<UInt64(run.count)).map { run.firstKey + $0 }
            return true
        }
        return keys
    }

    /// Commits some changes at random.
    @discardableResult
    func save(_ count: Int? = nil, textBytes: Int? = nil) throws -> UInt64 {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: ShipSchema.thing)
        var touched: Set<UInt64> = []
        let isThird = version == 2
        let (number, text, owner) = (isThird ? 3 : 0, isThird ? 0 : 1, 2)
        for index in 0..<(count ?? 1 + random.below(4)) {
            // The first one always changes something.
            let roll = index == 0 ? 0 : random.below(10)
            var bytes: [UInt8] = []
            let count = textBytes ?? random.below(3_000)
            bytes.reserveCapacity(count + 12)
            while bytes.count < count { bytes.append(contentsOf: String(random.next(), radix: 36).utf8) }
            let other = keys.isEmpty || random.chance(0.3) ? nil : keys[random.below(keys.count)]
            func fill() {
                writer.set(number, Int64(random.below(1_000)))
                bytes.withUnsafeBytes { writer.set(text, bytes: $0) }
                if let other, !touched.contains(other) {
                    writer.set(owner, ObjectRef(entity: ShipSchema.thing, key: other))
                } else {
                    writer.set(owner, ObjectRef.null)
                }
                if version == 1 { writer.set(3, Int32(random.below(100))) }
                if version == 2 { writer.set(1, Int32(random.below(100))) }
                writer.endRow()
            }
            if roll < 5 || keys.count < 5 {
                let key = try store.allocateKeys(root: ShipSchema.thing, count: 1)
                writer.beginInsert(key: key)
                fill()
                touched.insert(key)
                keys.append(key)
                continue
            }
            let key = keys[random.below(keys.count)]
            guard !touched.contains(key),
                let row = try store.snapshot.row(ObjectRef(entity: ShipSchema.thing, key: key))
            else { continue }
            touched.insert(key)
            if roll < 9 {
                let slots = (0..<store.schema.entities[0].slots.count).map { $0 }
                try writer.beginUpdate(key: key, replacing: row.version, changed: SlotSet(slots))
                fill()
            } else if try store.snapshot.referrers(postings: ShipSchema.postings, to: row.ref).isEmpty {
                try writer.delete(key: key, replacing: row.version)
                keys.removeAll { $0 == key }
            }
        }
        let receipt = try store.commit(transaction)
        readings.sequence = receipt.sequence
        digests[receipt.sequence] = try ShipSchema.digest(store)
        times[receipt.sequence] = receipt.timestampNanoseconds
        return receipt.sequence
    }

    /// Commits a transaction that changes every row, of the first version.
    @discardableResult
    func rewriteAll() throws -> UInt64 {
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: ShipSchema.thing)
        for key in keys {
            guard let row = try store.snapshot.row(ObjectRef(entity: ShipSchema.thing, key: key)) else { continue }
            try writer.beginUpdate(key: key, replacing: row.version, changed: SlotSet([0, 1, 2]))
            writer.set(0, Int64(random.below(1_000)))
            let text = Array(String(random.next(), radix: 36).utf8)
            text.withUnsafeBytes { writer.set(1, bytes: $0) }
            writer.set(2, ObjectRef.null)
            writer.endRow()
        }
        let receipt = try store.commit(transaction)
        readings.sequence = receipt.sequence
        digests[receipt.sequence] = try ShipSchema.digest(store)
        times[receipt.sequence] = receipt.timestampNanoseconds
        return receipt.sequence
    }

    func migrate() throws {
        guard version < 2 else { return }
        version += 1
        try store.register(ShipSchema.versions[version])
        // What a transaction held is compared in the schema that the store had then.
    }

    func close() throws { try store.close() }

    func reopen() throws {
        var options = ShipSchema.options()
        options.clock = Self.told(clock, readings)
        store = try LogStore.open(Self.path, in: fileSystem, options: options, schema: nil)
    }

    private static func told(_ clock: TestClock, _ readings: Readings) -> @Sendable () -> Int64 {
        { [clock, readings] in
            let time = clock.tick()
            readings.all.append((readings.sequence, time))
            return time
        }
    }

    /// Between which transactions the longest beginning of the log ends of which nothing is later than a time: at the
    /// least, if everything that the store asked the time for is in a record; at the most, if only transactions are.
    func longestBeginning(until time: Int64) -> ClosedRange<UInt64> {
        let first = readings.all.first { $0.time > time }?.after
        let late = times.filter { $0.value > time }.keys.min()
        let last = readings.sequence
        let most = late.map { $0 - 1 } ?? last
        return min(first ?? last, most)...most
    }

    func shipper(_ objects: any ObjectStore, _ change: (inout ShipOptions) -> Void = { _ in }) -> LogShipper {
        var options = ShipOptions()
        options.pieceMaximumBytes = 16 << 10
        options.checkpointLogBytes = 96 << 10
        options.slotMaximumBytes = 0
        options.name = "test"
        options.cipher = TestCipher.used
        let clock = clock
        options.clock = { clock.now.value }
        change(&options)
        return LogShipper(storeAt: Self.path, in: fileSystem, to: objects, options: options)
    }
}

/// Restores on machines of their own.
enum ShipRestore {
    /// A disk with a restored store, and what was done.
    static func restore(
        _ objects: any ObjectStore, _ target: RestoreTarget = .newest, takesOver: Bool = false, verifies: Bool = false
    ) async throws -> (fileSystem: SimulatedFileSystem, plan: RestorePlan) {
        let fileSystem = SimulatedFileSystem()
        try fileSystem.createDirectory("/data")
        var options = RestoreOptions()
        options.target = target
        options.takesOver = takesOver
        options.verifies = verifies
        let plan = try await LogRestorer(from: objects, cipher: TestCipher.used).restore(
            to: ShipMachine.path, in: fileSystem, options: options)
        return (fileSystem, plan)
    }

    /// The store on a disk, to be read.
    static func open(_ fileSystem: SimulatedFileSystem) throws -> LogStore {
        var options = ShipSchema.options()
        options.access = .readOnly
        options.createsIfMissing = false
        return try LogStore.open(ShipMachine.path, in: fileSystem, options: options, schema: nil)
    }

    static func digest(_ fileSystem: SimulatedFileSystem) throws -> ObjectDigest {
        let store = try open(fileSystem)
        defer { try? store.close() }
        return try ShipSchema.digest(store)
    }

    /// What the restored store of a state holds.
    static func digest(_ objects: any ObjectStore, _ target: RestoreTarget) async throws -> ObjectDigest {
        try digest(try await restore(objects, target).fileSystem)
    }
}
