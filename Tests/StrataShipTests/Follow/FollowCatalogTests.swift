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
    @Test(arguments: [false, true]) func retiredSegmentsStayUntilACheckpointBehindThemIsThere(isNew: Bool) async throws {
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
}
