import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// A store, its bucket, and stores restored from it.
@Suite struct ShipTests {
    @Test func whatIsShippedIsRestored() async throws {
        let machine = try ShipMachine(seed: 1)
        for _ in 0..<20 { try machine.save() }
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try await shipper.shipOnce()
        #expect(shipper.status.sequence == 20)
        let restored = try await ShipRestore.restore(objects, verifies: true)
        #expect(restored.plan.transaction?.sequence == 20)
        #expect(restored.plan.next == nil)
        #expect(try ShipRestore.digest(restored.fileSystem) == machine.digests[20])
    }

    @Test func everyTransactionIsRestored() async throws {
        let machine = try ShipMachine(seed: 2)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        for number in 0..<60 {
            try machine.save()
            if number % 3 == 0 { try await shipper.shipOnce() }
            if number % 20 == 19 { try machine.store.compact() }
        }
        try await shipper.shipOnce(withCheckpoint: true)
        for sequence in 1...UInt64(60) {
            let digest = try await ShipRestore.digest(objects, .transaction(sequence))
            #expect(digest == machine.digests[sequence], "transaction \(sequence)")
        }
    }

    @Test func anIdleStoreCostsNoRequests() async throws {
        let machine = try ShipMachine(seed: 3)
        try machine.save()
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try await shipper.shipOnce()
        let before = objects.counts
        for _ in 0..<100 { try await shipper.shipOnce() }
        #expect(objects.counts == before)
        try machine.save()
        try await shipper.shipOnce()
        #expect(objects.counts.total == before.total + 1)
    }
}
