import StrataIO
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// What a follower knows of a bucket, as it grows.
@Suite struct FollowCatalogTests {
    /// Asks until there is nothing new.
    private static func catchUp(_ poller: inout LogPoller) async {
        while await poller.step() == nil {}
    }

    /// Segments went as soon as the log said that it does not need them. Whoever then opened the store could not begin
    /// with the newest checkpoint that was there, and read all of the log.
    @Test(arguments: [false, true]) func retiredSegmentsStayUntilACheckpointBehindThemIsThere(isNew: Bool) async throws
    {
        let machine = try ShipMachine(seed: 43)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects) { $0.checkpointLogBytes = .max }
        for _ in 0..<8 { try machine.save(4, textBytes: 500) }
        try machine.store.checkpoint()
        try await shipper.shipOnce(withCheckpoint: true)
        let end = machine.store.logEnd.segment
        let disk = try Following.disk()
        var following = try await Following(objects.client(), disk: disk)
        for _ in 0..<12 {
            try machine.save(3, textBytes: 15_000)
            try machine.rewriteAll()
        }
        try await shipper.shipOnce()
        try machine.store.compact()
        for _ in 0..<6 { try machine.save(3, textBytes: 15_000) }
        try await shipper.shipOnce()
        let sequence = machine.store.snapshot.sequence
        #expect(try await following.digest(at: sequence) == machine.digests[sequence])
        let names = try machine.fileSystem.list(ShipMachine.path)
        #expect(!names.contains(LogStore.segmentFileName(end + 1)))
        if isNew {
            try await following.close()
            following = try await Following(objects.client(), disk: try Following.disk())
        } else {
            try following.reopen()
        }
        #expect(following.store.recovery.checkpoint != nil && shipper.status.gaps == 0)
        #expect(try ShipSchema.digest(following.store) == machine.digests[sequence])
        // Then they go.
        try await shipper.shipOnce(withCheckpoint: true)
        for _ in 0..<6 { try machine.save(3, textBytes: 15_000) }
        try await shipper.shipOnce()
        let last = machine.store.snapshot.sequence
        #expect(try await following.digest(at: last) == machine.digests[last])
        try following.reopen()
        #expect(following.store.recovery.checkpoint != nil)
        let catalog = following.follower.log.catalog
        #expect(!catalog.segments.contains { $0.number == end + 1 } && catalog.retired.isEmpty)
        let segments = try machine.fileSystem.list(ShipMachine.path).count { $0.hasSuffix(".seg") }
        #expect(catalog.segments.count <= segments)
        try await following.close()
        try machine.close()
    }

    /// A follower kept each checkpoint that had ever been there.
    @Test func onlyTheNewestCheckpointsAreKept() async throws {
        let machine = try ShipMachine(seed: 44)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try machine.save()
        try await shipper.shipOnce()
        let following = try await Following(objects.client(), disk: try Following.disk()) { $0.fetchesAhead = false }
        await following.follower.stop()
        let log = following.follower.log
        var poller = LogPoller(log, Following.options())
        for _ in 0..<10 {
            for _ in 0..<4 { try machine.save(3, textBytes: 15_000) }
            try machine.store.checkpoint()
            try await shipper.shipOnce(withCheckpoint: true)
            await Self.catchUp(&poller)
            #expect(log.catalog.checkpoints.count <= 2)
        }
        #expect(objects.contents.keys.count { $0.hasPrefix("chk/") } == 10)
        try following.reopen()
        let sequence = machine.store.snapshot.sequence
        #expect(try ShipSchema.digest(following.store) == machine.digests[sequence])
        let newest = try #require(log.catalog.checkpoints.last?.number)
        #expect(following.store.recovery.checkpoint == newest)
        let other = try await Following(objects.client(), disk: try Following.disk())
        #expect(other.follower.log.catalog.checkpoints.count == 2)
        try await other.close()
        try await following.close()
        try machine.close()
    }

    /// A segment that was not there whole when the one behind it was sealed lay in pieces for ever, although these are
    /// collected.
    @Test func wholeSegmentsThatComeLateAreFound() async throws {
        let machine = try ShipMachine(seed: 45)
        let objects = SimulatedObjectStore()
        let client = objects.client()
        let shipper = machine.shipper(client)
        try machine.save()
        try await shipper.shipOnce()
        let own = objects.client()
        let following = try await Following(own, disk: try Following.disk()) { $0.fetchesAhead = false }
        await following.follower.stop()
        let log = following.follower.log
        var poller = LogPoller(log, Following.options())
        client.fail { $0.key.hasSuffix("/whole") ? .internalError : nil }
        for _ in 0..<30 { try machine.save(3, textBytes: 15_000) }
        await #expect(throws: ShipError.self) { try await shipper.shipOnce() }
        await Self.catchUp(&poller)
        func inPieces() -> Int { log.catalog.segments.dropLast().count { $0.parts.count > 1 } }
        let late = inPieces()
        #expect(late > 10)
        client.fail(nil)
        let before = own.counts
        let first = machine.store.logEnd.segment
        for _ in 0..<16 {
            try machine.save(3, textBytes: 15_000)
            try await shipper.shipOnce()
            await Self.catchUp(&poller)
        }
        #expect(inPieces() <= 1)
        let sealed = Int(machine.store.logEnd.segment - first)
        let lists = (own.counts.requests[.list] ?? 0) - (before.requests[.list] ?? 0)
        #expect(sealed >= 5 && lists <= sealed)
        try following.reopen()
        let sequence = machine.store.snapshot.sequence
        #expect(try ShipSchema.digest(following.store) == machine.digests[sequence])
        try await following.close()
        try machine.close()
    }
}
