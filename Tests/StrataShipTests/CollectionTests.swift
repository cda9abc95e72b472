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
        objects.advance(seconds: 200_000)
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

    /// A machine whose clock was ahead raised the floor over everything that was to be kept.
    @Test func aClockThatIsAheadTakesNoStateOutOfTheWindow() async throws {
        let machine = try ShipMachine(seed: 73)
        let objects = SimulatedObjectStore()
        objects.clockOffset = Double(machine.clock.now.value) / 1e9 - 1_750_000_000
        let shipper = machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 }
        for step in 0..<20 {
            try machine.save(3, textBytes: 9_000)
            try await shipper.shipOnce()
            if step % 5 == 4 { try machine.store.compact() }
        }
        var retention = ShipRetention(age: .seconds(86_400))
        retention.grace = .zero
        let ahead = LogCollector(objects, retention: retention, cipher: TestCipher.used) { [clock = machine.clock] in
            clock.now.value + 400 * 86_400_000_000_000
        }
        for _ in 0..<3 { _ = try await ahead.collect() }
        for sequence in UInt64(1)...20 {
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
        // A floor that such a clock has set is not taken for one.
        let bucket = ShipBucket(objects, TestCipher.used)
        var (head, tag) = try #require(try await ShippedLog.head(bucket))
        head.floor = ShipHead.Floor(
            place: ShipHead.Place(segment: 2, offset: 0, sequence: 1, time: 0, checksum: 0),
            set: machine.clock.now.value + 300 * 86_400_000_000_000, grace: 0)
        tag = try #require(try await EpochLead.replace(head, .matching(tag), bucket))
        let error = await #expect(throws: ShipError.self) { _ = try await ahead.collect() }
        #expect(error?.code == .invalid && error?.key == ShipKey.head)
        try machine.close()
    }

    @Test func noMoreThanSoManyBytesAreKept() async throws {
        let machine = try ShipMachine(seed: 74)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects) { options in
            options.slotMaximumBytes = 1 << 30
            options.pieceMaximumBytes = 64 << 10
        }
        for step in 0..<60 {
            try machine.save(2, textBytes: 9_000)
            if step % 10 == 9 { try machine.store.compact() }
            try await shipper.shipOnce()
        }
        func byteCount() async throws -> Int {
            let log = try #require(try await ShippedLog.read(ShipBucket(objects, TestCipher.used)))
            return log.segments.reduce(0) { $0 + $1.byteCount }
        }
        let before = try await byteCount()
        let limit = before * 9 / 10
        var retention = ShipRetention(byteMaximum: Int64(limit))
        retention.grace = .zero
        var floor: UInt64 = 0
        for _ in 0..<3 { floor = try await Self.collector(objects, machine, retention).collect().floor ?? 0 }
        let after = try await byteCount()
        #expect(after <= limit && after > limit / 2, "\(before), \(after)")
        try #require(floor > 0 && floor < 60, "\(floor)")
        for sequence in floor + 1...60 {
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
        // Enough room: nothing goes.
        let report = try await Self.collector(objects, machine, ShipRetention(byteMaximum: 1 << 40)).collect()
        #expect(!report.isRaised)
        try machine.close()
    }
}
