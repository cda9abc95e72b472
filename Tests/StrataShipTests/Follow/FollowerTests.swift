import StrataIO
import StrataObjectStore
import StrataTestKit
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
            case 12: shipper = machine.shipper(objects)
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

    @Test func whatIsCachedIsReadWithoutTheBucket() async throws {
        let machine = try ShipMachine(seed: 33)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for _ in 0..<30 { try machine.save() }
        try await shipper.shipOnce(withCheckpoint: true)
        let (client, disk) = (objects.client(), try Following.disk())
        let following = try await Following(client, disk: disk)
        while !following.follower.status.isWhollyCached { try await Task.sleep(for: .milliseconds(2)) }
        client.isPartitioned = true
        while following.follower.status.error == nil { try await Task.sleep(for: .milliseconds(2)) }
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
        while !first.follower.status.isWhollyCached { try await Task.sleep(for: .milliseconds(2)) }
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

    @Test func damageInTheCacheIsFetchedAnew() async throws {
        let machine = try ShipMachine(seed: 36)
        let objects = SimulatedObjectStore()
        for _ in 0..<20 { try machine.save() }
        try await machine.shipper(objects).shipOnce()
        let disk = try Following.disk()
        let first = try await Following(objects.client(), disk: disk)
        while !first.follower.status.isWhollyCached { try await Task.sleep(for: .milliseconds(2)) }
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
            while !following.follower.status.isWhollyCached { try await Task.sleep(for: .milliseconds(2)) }
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
        while !following.follower.status.isWhollyCached { try await Task.sleep(for: .milliseconds(2)) }
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
