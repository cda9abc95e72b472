import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// Machines whose disks were put back to what they were in the middle of a segment, and that wrote on from there.
@Suite struct PutBackTests {
    /// How the store goes on that was put back.
    enum Rest: CaseIterable {
        /// With other records in the same segment.
        case same
        /// With one that has no room there: the segment ends in the store before it does in the bucket.
        case next
        /// The segment that the bucket ends in is compacted away.
        case compacted
        /// It is kept for the shipper, and those behind it are compacted away.
        case kept
    }

    /// A segment that ended in the store before it did in the bucket was taken for one whose end a failed flush had
    /// moved. One that was compacted away was not looked at. Transactions that had been shipped were lost, and others
    /// had their numbers.
    @Test(arguments: Rest.allCases, [false, true])
    func aStoreThatWasPutBackWithinItsSegmentIsRefused(rest: Rest, isHandedOver: Bool) async throws {
        let machine = try ShipMachine(seed: 91)
        let objects = SimulatedObjectStore()
        let isCompacted = rest == .compacted || rest == .kept
        for _ in 0..<(isCompacted ? 12 : 3) { try machine.save(3, textBytes: isCompacted ? 9_000 : 1_000) }
        let shipper = machine.shipper(objects) { $0.slotMaximumBytes = rest == .kept ? 100_000 : 0 }
        try await shipper.shipOnce()
        if isHandedOver { await shipper.handOver() }
        let before = machine.fileSystem.fork()
        let segment = machine.store.logEnd.segment
        for _ in 0..<4 {
            try machine.save(1, textBytes: 1_000)
            try await shipper.shipOnce()
        }
        try #require(machine.store.logEnd.segment == segment)
        if isHandedOver { await shipper.handOver() }
        let newest = machine.store.snapshot.sequence
        let other = try ShipMachine(restored: before, from: machine)
        other.random = SeededGenerator(seed: 4)
        switch rest {
        case .same: for _ in 0..<8 { try other.save(1, textBytes: 1_000) }
        case .next:
            for _ in 0..<8 { try other.save(4, textBytes: 20_000) }
            let scanner = try LogScanner(ShipMachine.path, in: other.fileSystem)
            let end = try scanner.start(of: segment + 1).previousValidByteCount
            try #require(end < machine.store.logEnd.offset)
        case .compacted, .kept:
            for _ in 0..<60 { try other.save(3, textBytes: 9_000) }
            try other.store.compact()
            let names = try other.fileSystem.list(ShipMachine.path)
            try #require(names.contains(ShipKey.hex(segment) + ".seg") == (rest == .kept))
            try #require(!names.contains(ShipKey.hex(segment + 1) + ".seg"))
        }
        try #require(other.store.snapshot.sequence > newest)
        let names = objects.contents.keys
        let code = await ShipTroubleTests.code { try await other.shipper(objects).shipOnce() }
        #expect(code == .conflict)
        #expect(objects.contents.keys.filter { !$0.hasPrefix("probe/") } == names)
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[newest])
        try other.close()
        try machine.close()
    }
}
