import StrataObjectStore
import StrataTestKit
import Testing

@testable import StrataLog
@testable import StrataShip

/// What a collection must leave alone.
@Suite struct CollectionTests {
    private static func collector(
        _ objects: SimulatedObjectStore, _ machine: ShipMachine, _ retention: ShipRetention?
    ) -> LogCollector {
        LogCollector(objects, retention: retention, cipher: TestCipher.used) { [clock = machine.clock] in
            clock.now.value
        }
    }

    /// A segment that lies in one piece never lies in the bucket whole. An object without bytes says that it is over.
    @Test(arguments: [false, true]) func theEndOfASegmentInOnePieceIsKept(isEncrypted: Bool) async throws {
        try await TestCipher.use(isEncrypted) {
            let machine = try ShipMachine(seed: 71)
            let objects = SimulatedObjectStore()
            let shipper = machine.shipper(objects) { options in
                options.pieceMaximumBytes = 64 << 10
                options.slotMaximumBytes = 1 << 30
            }
            for _ in 0..<12 {
                // The next one finds no room in a segment of 64 KiB.
                try machine.save(3, textBytes: 15_500)
                try await shipper.shipOnce()
            }
            let log = try #require(try await ShippedLog.read(ShipBucket(objects, TestCipher.used)))
            #expect(log.ends.count > 5 && log.segments.allSatisfy { $0.parts.count == 1 })
            machine.clock.move(seconds: 3_600)
            var retention = ShipRetention(age: .seconds(3_600))
            retention.grace = .zero
            var floor: UInt64 = 0
            for _ in 0..<3 { floor = try await Self.collector(objects, machine, retention).collect().floor ?? 0 }
            #expect(floor > 3)
            for sequence in floor + 1...shipper.status.sequence {
                #expect(
                    try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence],
                    "transaction \(sequence), floor \(floor)")
            }
            try machine.close()
        }
    }

    /// Where somebody takes over from before another take-over, that one's epoch counts no more, nor does the whole
    /// segment that it has written.
    @Test func whatAnEpochHasOfASegmentStaysWhereALaterOneHasItWhole() async throws {
        var machine = try ShipMachine(seed: 72)
        let objects = SimulatedObjectStore()
        objects.clockOffset = Double(machine.clock.now.value) / 1e9 - 1_750_000_000
        for _ in 0..<3 {
            try machine.save(1, textBytes: 60)
            try await machine.shipper(objects).shipOnce()
        }
        let taken = try await ShipRestore.restore(objects, takesOver: true)
        machine = try ShipMachine(restored: taken.fileSystem, from: machine)
        let shipper = machine.shipper(objects)
        for _ in 0..<6 {
            try machine.save(3, textBytes: 9_000)
            try await shipper.shipOnce()
        }
        #expect(objects.contents.keys.contains { $0.hasSuffix("/00000001/whole") })
        machine.clock.move(seconds: 200_000)
        #expect(try await Self.collector(objects, machine, nil).collect().objects > 0)
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[9])

        let earlier = try await ShipRestore.restore(objects, .transaction(2), takesOver: true)
        machine = try ShipMachine(restored: earlier.fileSystem, from: machine)
        // Shippers come and go.
        for _ in 0..<8 {
            try machine.save(3, textBytes: 9_000)
            try await machine.shipper(objects).shipOnce()
            let sequence = machine.store.snapshot.sequence
            for number in 1...sequence {
                #expect(
                    try await ShipRestore.digest(objects, .transaction(number)) == machine.digests[number],
                    "transaction \(number) of \(sequence)")
            }
        }
        try machine.close()
    }
}
