import StrataIO
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// What a follower keeps and asks for, where that could be another log's.
@Suite struct FollowerCacheTests {
    /// A machine that has shipped a few segments, and one that goes on from a fork of it in another way, unshipped.
    private static func forked() async throws -> (
        machine: ShipMachine, objects: SimulatedObjectStore, other: ShipMachine
    ) {
        let machine = try ShipMachine(seed: 61)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for _ in 0..<4 { try machine.save(3, textBytes: 9_000) }
        try await shipper.shipOnce()
        let fork = try await ShipRestore.restore(objects)
        // A little longer than what the fork has in the same segments.
        for _ in 0..<6 { try machine.save(3, textBytes: 9_100) }
        try await shipper.shipOnce()
        let other = try ShipMachine(restored: fork.fileSystem, from: machine)
        other.random = SeededGenerator(seed: 62)
        for _ in 0..<6 { try other.save(3, textBytes: 9_000) }
        return (machine, objects, other)
    }

    /// A fork's log has the same segments up to where it begins, and others of the same numbers behind: the two were
    /// mixed, and the store was found damaged.
    @Test func aCacheOfALogIsNotUsedForItsFork() async throws {
        let (machine, objects, other) = try await Self.forked()
        let disk = try Following.disk()
        let first = try await Following(objects, disk: disk)
        try await first.waitUntilWhollyCached()
        #expect(try ShipSchema.digest(first.store) == machine.digests[10])
        try await first.close()
        let others = SimulatedObjectStore(name: "other")
        try await other.shipper(others).shipOnce()
        let second = try await Following(others, disk: disk)
        #expect(try ShipSchema.digest(second.store) == other.digests[10])
        try await second.close()
        try other.close()
        try machine.close()
    }

    /// A follower that could not reach its bucket began with what the cache had of another one.
    @Test func aStartWithoutTheBucketUsesNoCacheOfAnotherOne() async throws {
        let machine = try ShipMachine(seed: 63)
        let (objects, others) = (SimulatedObjectStore(), SimulatedObjectStore(name: "other"))
        for _ in 0..<5 { try machine.save() }
        try await machine.shipper(objects).shipOnce()
        let disk = try Following.disk()
        let first = try await Following(objects, disk: disk)
        try await first.waitUntilWhollyCached()
        try await first.close()
        for bucket in [others, objects] {
            let client = bucket.client()
            client.isPartitioned = true
            let code = await ShipTroubleTests.code {
                let following = try await Following(client, disk: disk)
                #expect(try ShipSchema.digest(following.store) == machine.digests[5])
                try await following.close()
            }
            #expect(code == (bucket === others ? .store : nil))
        }
        try machine.close()
    }

    /// A bucket was emptied, and the fork's log begun there: a follower that was running went on in that, or never
    /// noticed it as long as the other log was shorter.
    @Test(arguments: [false, true]) func aFollowerDoesNotGoOnInAnotherLog(isLonger: Bool) async throws {
        let (machine, objects, other) = try await Self.forked()
        let following = try await Following(objects, disk: try Following.disk())
        try await following.waitUntilWhollyCached()
        await following.follower.stop()
        objects.empty()
        if isLonger { for _ in 0..<4 { try other.save(3, textBytes: 9_000) } }
        try await other.shipper(objects).shipOnce()
        let log = following.follower.log
        var poller = LogPoller(log, Following.options())
        for _ in 0..<30 { _ = await poller.step() }
        #expect(log.error?.code == .damaged)
        #expect(try following.store.refresh() == false)
        #expect(try ShipSchema.digest(following.store) == machine.digests[10])
        try await following.close()
        try other.close()
        try machine.close()
    }

    /// Nothing ever removed what a follower that was killed had begun to write.
    @Test func halfWrittenFilesAreRemoved() throws {
        let disk = SimulatedFileSystem()
        var cache: ChunkCache? = try ChunkCache("/cache", in: disk, budgetBytes: 1 << 20)
        cache?.keep(.init(kind: .segment, log: 7, epoch: 1, number: 1, chunk: 0), [1, 2, 3], isWhole: true)
        let name = try #require(try disk.list("/cache").first)
        cache = nil
        for left in [name + ".new", "catalog.new", "notes.new"] {
            _ = try disk.open(FilePath("/cache").appending(left), .create)
        }
        cache = try ChunkCache("/cache", in: disk, budgetBytes: 1 << 20)
        #expect(try disk.list("/cache").sorted() == [name, "notes.new"].sorted())
    }

    /// Behind a fence whose epoch has not begun, each poll read all names of the bucket.
    @Test func aFenceOfAnEpochThatDoesNotBeginCostsNoLists() async throws {
        let machine = try ShipMachine(seed: 64)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try machine.save()
        try await shipper.shipOnce()
        let client = objects.client()
        let following = try await Following(client, disk: try Following.disk()) { $0.fetchesAhead = false }
        await following.follower.stop()
        var poller = LogPoller(following.follower.log, Following.options())
        // Dies between its fence and the head that says where its epoch begins.
        let dying = objects.client()
        dying.fail { [objects] request in
            let names = objects.contents.keys.filter { $0.hasPrefix("log/") }
            return request.key == ShipKey.head && names.count == 2 ? .denied : nil
        }
        await #expect(throws: ShipError.self) { try await machine.shipper(dying).shipOnce() }
        let before = client.counts
        for _ in 0..<10 { _ = await poller.step() }
        #expect(client.counts.requests[.list] == before.requests[.list])
        #expect(client.counts.total - before.total <= 20)
        // The next one does, and is followed.
        let sequence = try machine.save()
        try await machine.shipper(objects).shipOnce()
        while await poller.step() == nil {}
        try following.store.refresh()
        #expect(try ShipSchema.digest(following.store) == machine.digests[sequence])
        try await following.close()
        try machine.close()
    }
}
