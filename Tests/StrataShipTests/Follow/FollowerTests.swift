import StrataIO
import StrataObjectStore
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// Stores that are read from the bucket that another machine ships to.
@Suite struct FollowerTests {
    @Test func eachShippedTransactionIsSeen() async throws {
        let machine = try ShipMachine(seed: 31)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try machine.save()
        try await shipper.shipOnce()
        let following = try await Following(objects.client(), disk: try Following.disk())
        for number in 0..<40 {
            let sequence = try machine.save()
            if number % 10 == 9 { try machine.store.compact() }
            try await shipper.shipOnce(withCheckpoint: number % 15 == 14)
            #expect(try await following.digest(at: sequence) == machine.digests[sequence], "transaction \(sequence)")
        }
        // Not before it is shipped.
        let sequence = try machine.save()
        try await Task.sleep(for: .milliseconds(50))
        #expect(try following.store.refresh() == false)
        try await shipper.shipOnce()
        #expect(try await following.digest(at: sequence) == machine.digests[sequence])
        try await following.close()
    }

    /// Behind a compaction that moved it, nobody knows when the last transaction was. Whoever has to begin anew then
    /// goes on all the same.
    @Test func whoDoesNotKnowWhenTheLastTransactionWasGoesOn() throws {
        let machine = try ShipMachine(seed: 32)
        for _ in 0..<6 { try machine.save(4, textBytes: 500) }
        for _ in 0..<8 { try machine.rewriteAll() }
        try machine.store.compact()
        // A follower of a bucket has no checkpoint that was not shipped.
        for name in try machine.fileSystem.list(ShipMachine.path) where name.hasSuffix(".chk") {
            try machine.fileSystem.unlink(ShipMachine.path.appending(name))
        }
        var options = ShipSchema.options()
        options.access = .readOnly
        options.createsIfMissing = false
        let files = OtherProcessFileSystem(machine.fileSystem)
        let reader = try LogStore.open(ShipMachine.path, in: files, options: options, schema: nil)
        #expect(reader.snapshot.timestampNanoseconds == 0)
        // The log goes on without a transaction, and a checkpoint comes that knows the time.
        try machine.store.setMetadata([1])
        try machine.store.checkpoint()
        let sequence = machine.store.snapshot.sequence
        // The way on from where it is leads nowhere at first, as when compaction removes segments meanwhile.
        machine.fileSystem.inject(.init(.fail(.noSuchFileOrDirectory), of: .read, pathSuffix: ".seg"))
        #expect(try reader.refresh())
        #expect(machine.fileSystem.firedFaultCount == 1)
        #expect(try ShipSchema.digest(reader) == machine.digests[sequence])
        let next = try machine.save()
        #expect(try reader.refresh())
        #expect(try ShipSchema.digest(reader) == machine.digests[next])
        try reader.close()
        try machine.close()
    }

    /// The same with everything that happens to a store, and requests that fail.
    @Test(arguments: Array(UInt64(0)..<4))
    func followersKeepUpThroughEverything(seed: UInt64) async throws {
        var machine = try ShipMachine(seed: 100 + seed)
        let objects = SimulatedObjectStore()
        var shipper = machine.shipper(objects)
        var random = SeededGenerator(seed: seed, stream: 8)
        try machine.save()
        try await shipper.shipOnce()
        let client = objects.client()
        client.fail(
            seed: seed, probability: 0.1, [.lostAnswer, .lostRequest, .internalError, .slowDown, .bitFlip, .truncated])
        let disk = try Following.disk()
        var following = try await Self.patiently { try await Following(client, disk: disk) }
        for step in 0..<60 {
            switch random.below(16) {
            case 0..<9: try machine.save()
            case 9: try machine.save(2, textBytes: 20_000)
            case 10: try machine.store.compact()
            case 11: try machine.store.checkpoint()
            case 12:
                // Nothing may be left to compare, since nothing keeps segments for it.
                shipper = machine.shipper(objects) { $0.takesOver = true }
            case 13 where step > 20 && shipper.status.sequence == machine.store.snapshot.sequence:
                // Another machine takes over and goes on where this one was.
                let taken = try await ShipRestore.restore(objects, takesOver: true)
                try machine.close()
                machine = try ShipMachine(restored: taken.fileSystem, from: machine)
                shipper = machine.shipper(objects)
                try machine.save()
            case 14:
                // A follower that is killed leaves its cache.
                try following.store.close()
                following = try await Self.patiently { try await Following(client, disk: disk) }
            default: try machine.save()
            }
            guard random.chance(0.6) else { continue }
            try await shipper.shipOnce(withCheckpoint: random.chance(0.15))
            let sequence = shipper.status.sequence
            let found = try await Self.patiently { try await following.digest(at: sequence) }
            #expect(sequence == machine.store.snapshot.sequence)
            // Opened behind a compaction, and without a checkpoint, it does not know when its last transaction was.
            let wanted = try ShipSchema.digest(
                machine.store, isTimeless: following.store.snapshot.timestampNanoseconds == 0)
            #expect(found == wanted, "transaction \(sequence)")
        }
        try await following.close()
        try machine.close()
    }

    /// Tries again what fails because a request does.
    private static func patiently<Result>(_ body: () async throws -> Result) async throws -> Result {
        for _ in 0..<50 {
            do {
                return try await body()
            } catch let error as ShipError where error.mayPass {
            } catch let error as StoreError where error.code == .io || error.code == .corruption {
            }
        }
        return try await body()
    }

    /// The newest checkpoint was of the end that counts no more: followers could not open the store.
    @Test func aFollowerOpensAStoreThatWasTakenOverInThePast() async throws {
        let machine = try ShipMachine(seed: 36)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for count in [10, 20] {
            for _ in 0..<count { try machine.save() }
            try machine.store.checkpoint()
            try await shipper.shipOnce(withCheckpoint: true)
        }
        #expect(objects.contents.keys.count { $0.hasPrefix("chk/") } == 2)
        let taken = try await ShipRestore.restore(objects, .transaction(17), takesOver: true)
        let other = try ShipMachine(restored: taken.fileSystem, from: machine)
        let next = other.shipper(objects)
        for _ in 0..<2 {
            let following = try await Following(objects.client(), disk: try Following.disk())
            let sequence = other.store.snapshot.sequence
            #expect(try await following.digest(at: sequence) == ShipSchema.digest(other.store))
            try await following.close()
            try other.save()
            try await next.shipOnce()
        }
        try other.close()
        try machine.close()
    }

    private final class Asked: Sendable {
        let value = Mutex<[SimulatedObjectStore.Request]>([])
    }

    /// All names of the bucket were read at each sealed segment, however many there were.
    @Test func aSealedSegmentCostsTwoRequests() async throws {
        let machine = try ShipMachine(seed: 37)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try machine.save()
        try await shipper.shipOnce()
        let client = objects.client()
        let following = try await Following(client, disk: try Following.disk()) { $0.fetchesAhead = false }
        let asked = Asked()
        client.fail { request in
            asked.value.withLock { $0.append(request) }
            return nil
        }
        let first = machine.store.logEnd.segment
        for number in 0..<30 {
            let sequence = try machine.save(3, textBytes: 15_000)
            if number % 10 == 9 { try machine.store.checkpoint() }
            try await shipper.shipOnce(withCheckpoint: number % 10 == 9)
            #expect(try await following.digest(at: sequence) == machine.digests[sequence])
        }
        try await following.close()
        let sealed = Int(machine.store.logEnd.segment - first)
        let requests = asked.value.withLock { $0 }
        let lists = requests.count { $0.kind == .list }
        let heads = requests.count { $0.key == ShipKey.head }
        print("follower: \(lists) lists and \(heads) reads of the head for \(sealed) sealed segments")
        #expect(sealed >= 10 && lists <= sealed && requests.allSatisfy { $0.kind != .list || $0.key.hasPrefix("chk/") })
        #expect(
            requests.count { $0.key.hasSuffix("/whole") } > 0 && following.follower.log.catalog.checkpoints.count >= 2)
        try machine.close()
    }

    /// A follower far behind listed the newest checkpoint as soon as it had come to the end of any segment: whoever
    /// opened the store then found it damaged.
    @Test func aFollowerThatLagsOpensWhatItHas() async throws {
        let machine = try ShipMachine(seed: 39)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try machine.save()
        try await shipper.shipOnce()
        let following = try await Following(objects.client(), disk: try Following.disk()) { $0.fetchesAhead = false }
        // From here on, it asks when it is told to.
        await following.follower.stop()
        let log = following.follower.log
        var poller = LogPoller(log, Following.options())
        let first = log.catalog.nextSegment
        for _ in 0..<20 { try machine.save(3, textBytes: 15_000) }
        try machine.store.checkpoint()
        try await shipper.shipOnce(withCheckpoint: true)
        #expect(machine.store.logEnd.segment >= first + 10)
        #expect(objects.contents.keys.contains { $0.hasPrefix("chk/") })
        for _ in 0..<1_000 {
            if log.catalog.nextSegment > first { break }
            _ = await poller.step()
        }
        #expect(log.catalog.nextSegment == first + 1 && log.catalog.checkpoints.isEmpty)
        try following.reopen()
        let sequence = following.store.snapshot.sequence
        #expect(try ShipSchema.digest(following.store) == machine.digests[sequence])
        // It comes once that is known which it is of.
        for _ in 0..<5 { try machine.save(3, textBytes: 15_000) }
        try await shipper.shipOnce()
        for _ in 0..<1_000 { if await poller.step() != nil { break } }
        #expect(!log.catalog.checkpoints.isEmpty)
        try following.reopen()
        let last = machine.store.snapshot.sequence
        #expect(following.store.snapshot.sequence == last)
        #expect(try ShipSchema.digest(following.store) == machine.digests[last])
        try await following.close()
        try machine.close()
    }

    /// A follower kept, and fetched, each segment that had ever been there.
    @Test func segmentsThatTheLogDoesNotNeedAreLetGo() async throws {
        let machine = try ShipMachine(seed: 38)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for _ in 0..<6 { try machine.save(4, textBytes: 500) }
        try await shipper.shipOnce()
        let following = try await Following(objects.client(), disk: try Following.disk())
        var old: Snapshot? = following.store.snapshot
        let key = ObjectRef(entity: ShipSchema.thing, key: 1)
        let version = try old?.row(key)?.version
        for _ in 0..<60 {
            try machine.save(3, textBytes: 9_000)
            try machine.rewriteAll()
            try await shipper.shipOnce()
            if machine.store.logEnd.segment % 6 == 0 { try machine.store.compact() }
            let sequence = machine.store.snapshot.sequence
            #expect(try await following.digest(at: sequence) == machine.digests[sequence])
        }
        // Who still reads a state of before may.
        #expect(try old?.row(key)?.version == version)
        old = nil
        let segments = try machine.fileSystem.list(ShipMachine.path).count { $0.hasSuffix(".seg") }
        let catalog = following.follower.log.catalog
        #expect(catalog.segments.count <= segments + 8, "\(catalog.segments.count), \(segments)")
        #expect(catalog.segments.count < Int(machine.store.logEnd.segment) / 2)
        try following.store.close()
        #expect(following.follower.log.catalog.retired.isEmpty)
        try await following.close()
        try machine.close()
    }

    @Test func whatIsCachedIsReadWithoutTheBucket() async throws {
        let machine = try ShipMachine(seed: 33)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for _ in 0..<30 { try machine.save() }
        try await shipper.shipOnce(withCheckpoint: true)
        let (client, disk) = (objects.client(), try Following.disk())
        let following = try await Following(client, disk: disk)
        try await following.waitUntilWhollyCached()
        client.isPartitioned = true
        try await wait(until: { following.follower.status.error != nil }, "an error")
        try following.reopen()
        #expect(try ShipSchema.digest(following.store) == machine.digests[30])
        let age = try #require(following.follower.status.age)
        try await Task.sleep(for: .milliseconds(30))
        #expect(try #require(following.follower.status.age) >= age + .milliseconds(25))
        try await following.close()

        // A start without the bucket, too; it does not know how old what it has is.
        let later = try await Following(client, disk: disk)
        #expect(later.follower.status.age == nil && later.follower.status.error != nil)
        #expect(try ShipSchema.digest(later.store) == machine.digests[30])
        // And it goes on once the bucket is back.
        let sequence = try machine.save()
        try await shipper.shipOnce()
        client.isPartitioned = false
        #expect(try await later.digest(at: sequence) == machine.digests[sequence])
        #expect(later.follower.status.error == nil && later.follower.status.age != nil)
        try await later.close()
    }

    @Test func whatIsNotCachedIsAnErrorThatPasses() async throws {
        let machine = try ShipMachine(seed: 34)
        let objects = SimulatedObjectStore()
        for _ in 0..<30 { try machine.save() }
        try await machine.shipper(objects).shipOnce()
        let client = objects.client()
        let follower = try await BucketFollower.start(
            from: client, cache: "/cache/log", in: try Following.disk(),
            options: Following.options { $0.fetchesAhead = false })
        client.isPartitioned = true
        let error = #expect(throws: StoreError.self) { try follower.openLog() }
        #expect(error?.code == .io)
        client.isPartitioned = false
        let store = try follower.openLog()
        #expect(try ShipSchema.digest(store) == machine.digests[30])
        try store.close()
        await follower.stop()
    }

    @Test func aRestartFetchesNothingTwice() async throws {
        let machine = try ShipMachine(seed: 35)
        let objects = SimulatedObjectStore()
        for _ in 0..<12 { try machine.save(3, textBytes: 30_000) }
        try await machine.shipper(objects).shipOnce()
        let disk = try Following.disk()
        let first = try await Following(objects.client(), disk: disk)
        try await first.waitUntilWhollyCached()
        #expect(try ShipSchema.digest(first.store) == machine.digests[12])
        try await first.close()
        let client = objects.client()
        let second = try await Following(client, disk: disk)
        #expect(try ShipSchema.digest(second.store) == machine.digests[12])
        // The names, and headers where names do not tell.
        #expect(client.counts.bytesRead < 10_000)
        #expect(second.follower.status.shippedBytes > 500_000)
        try await second.close()
    }

    /// Objects that are too long to be read whole are not compared with their digest. Then the log's and the
    /// checkpoint's own checksums have to find every byte that matters: nothing wrong is ever shown.
    @Test func aFlippedByteOfAnObjectThatIsReadInPartsShowsNothingWrong() async throws {
        let machine = try ShipMachine(seed: 39)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for _ in 0..<6 { try machine.save(3, textBytes: 700) }
        for _ in 0..<4 { try machine.rewriteAll() }
        try machine.store.setMetadata(Array("about the store".utf8))
        try machine.save(1, textBytes: 20_000)
        try machine.store.compact()
        try machine.store.checkpoint()
        try machine.save(2, textBytes: 300)
        try await shipper.shipOnce(withCheckpoint: true)
        let wanted = try #require(machine.digests[machine.store.snapshot.sequence])
        let metadata = machine.store.metadata
        var random = SeededGenerator(seed: 5)
        var (harmless, noticed) = (0, 0)
        for key in objects.contents.keys where key != ShipKey.head {
            let count = try #require(objects.bytes(of: key)).count
            // All of the first record's header and of what is around it, then here and there.
            var offset = ObjectHeader.byteCount
            while offset < count {
                let fork = objects.fork()
                fork.tamper(key) { $0?[offset] ^= 1 << UInt8(random.below(8)) }
                do {
                    let following = try await Following(fork.client(), disk: try Following.disk()) {
                        $0.wholeObjectBytes = 0
                        $0.fetchesAhead = false
                    }
                    let found = Result { try ShipSchema.digest(following.store) }
                    let foundMetadata = following.store.metadata
                    try await following.close()
                    #expect(try found.get() == wanted && foundMetadata == metadata, "byte \(offset) of \(key)")
                    harmless += 1
                } catch {
                    #expect(error is StoreError || error is ShipError, "byte \(offset) of \(key): \(error)")
                    noticed += 1
                }
                offset += offset < 400 ? 5 : 1 + random.below(count > 10_000 ? 400 : 60)
            }
        }
        print("flipped: \(noticed) noticed, \(harmless) harmless")
        #expect(noticed > 100)
        try machine.close()
    }

    @Test func damageInTheCacheIsFetchedAnew() async throws {
        let machine = try ShipMachine(seed: 36)
        let objects = SimulatedObjectStore()
        for _ in 0..<20 { try machine.save() }
        try await machine.shipper(objects).shipOnce()
        let disk = try Following.disk()
        let first = try await Following(objects.client(), disk: disk)
        try await first.waitUntilWhollyCached()
        try await first.close()
        let names = try disk.list("/cache/log").filter { $0.contains(".seg-") }
        #expect(!names.isEmpty)
        for (number, name) in names.enumerated() {
            let file = try disk.open(FilePath("/cache/log").appending(name), .readWrite)
            let count = try file.byteCount()
            let bytes: [UInt8] = [0xFF, 0x00, 0xFF]
            try bytes.withBytes { bytes throws(Errno) in
                try file.writeAll([bytes], at: number % 3 == 0 ? 5 : count / 2)
            }
            if number % 3 == 2 { try file.truncate(to: count - 1) }
            try file.close()
        }
        let second = try await Following(objects.client(), disk: disk)
        #expect(try ShipSchema.digest(second.store) == machine.digests[20])
        try await second.close()
    }

    @Test func theCacheKeepsToItsBudget() async throws {
        let machine = try ShipMachine(seed: 37)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects) { $0.pieceMaximumBytes = 1 << 20 }
        for _ in 0..<20 { try machine.save(3, textBytes: 60_000) }
        try await shipper.shipOnce()
        let budget = 1 << 20
        let following = try await Following(objects.client(), disk: try Following.disk()) {
            $0.cacheMaximumBytes = budget
        }
        #expect(try ShipSchema.digest(following.store) == machine.digests[20])
        let status = following.follower.status
        #expect(status.shippedBytes > 2 * budget && status.cachedBytes <= budget && status.cachedBytes > budget / 2)
        let sequence = try machine.save(3, textBytes: 60_000)
        try await shipper.shipOnce()
        #expect(try await following.digest(at: sequence) == machine.digests[sequence])
        #expect(following.follower.status.cachedBytes <= budget)
        try await following.close()
    }

    @Test func aCacheOfAnotherStoreIsNotUsed() async throws {
        let disk = try Following.disk()
        for seed in [38, 39] as [UInt64] {
            let machine = try ShipMachine(seed: seed)
            let objects = SimulatedObjectStore()
            for _ in 0..<10 { try machine.save() }
            try await machine.shipper(objects).shipOnce()
            let following = try await Following(objects, disk: disk)
            #expect(try ShipSchema.digest(following.store) == machine.digests[10])
            try await following.waitUntilWhollyCached()
            try await following.close()
        }
    }

    @Test func idleFollowersAskRarely() async throws {
        let machine = try ShipMachine(seed: 40)
        let objects = SimulatedObjectStore()
        try machine.save()
        try await machine.shipper(objects).shipOnce()
        let client = objects.client()
        let following = try await Following(client, disk: try Following.disk()) {
            $0.shortestPoll = .milliseconds(20)
            $0.longestPoll = .milliseconds(200)
        }
        try await following.waitUntilWhollyCached()
        let before = client.counts
        try await Task.sleep(for: .seconds(1))
        let after = client.counts
        #expect(after.requests[.list] == before.requests[.list])
        #expect((2...20).contains(after.total - before.total))
        try await following.close()
    }

    @Test func aBucketWithoutALogIsAnError() async throws {
        let error = await #expect(throws: ShipError.self) {
            try await Following(SimulatedObjectStore(), disk: try Following.disk())
        }
        #expect(error?.code == .missing)
        let disk = SimulatedFileSystem()
        let machine = try ShipMachine(seed: 41)
        try machine.save()
        let objects = SimulatedObjectStore()
        try await machine.shipper(objects).shipOnce()
        let noRoom = await #expect(throws: ShipError.self) { try await Following(objects, disk: disk) }
        #expect(noRoom?.code == .local)
    }

    @Test func nothingCanBeWritten() async throws {
        let machine = try ShipMachine(seed: 42)
        try machine.save()
        let objects = SimulatedObjectStore()
        try await machine.shipper(objects).shipOnce()
        let following = try await Following(objects, disk: try Following.disk())
        #expect(throws: StoreError.self) { try following.follower.openLog { $0.access = .readWrite } }
        #expect(try ShipSchema.digest(following.store) == machine.digests[1])
        try await following.close()
    }
}
