import Foundation
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// Runs at random with everything that happens to a store; then every transaction is restored and compared.
@Suite struct ShipRunTests {
    /// Seeds of `make test`; more with STRATA_SHIP_RUNS.
    static let seeds = Array(UInt64(0)..<UInt64(Effort.number("STRATA_SHIP_RUNS") ?? 3))

    @Test(arguments: seeds) func everyTransactionIsRestored(seed: UInt64) async throws {
        var machine = try ShipMachine(seed: seed, durability: seed % 3 == 2 ? .os : .full)
        let objects = SimulatedObjectStore()
        // Compaction leaves alone what was not shipped, so that every state is kept.
        func begin() -> LogShipper { machine.shipper(objects) { $0.slotMaximumBytes = 1 << 30 } }
        var shipper = begin()
        try machine.save()
        try await shipper.shipOnce()
        var shipped: UInt64 = 1
        var shippedDigest = machine.digests[1]
        var random = SeededGenerator(seed: seed, stream: 7)
        for step in 0..<80 {
            switch random.below(20) {
            case 0..<11: try machine.save()
            case 11: try machine.save(2, textBytes: 20_000)
            case 12: try machine.store.compact()
            case 13: try machine.store.checkpoint()
            case 14 where step > 25: try machine.migrate()
            case 15:
                try machine.close()
                try machine.reopen()
            case 16:
                // The shipper's process dies and another one takes its place.
                shipper = begin()
            case 17 where step > 40 && shipped > 0:
                // The machine is lost with what was not shipped.
                let taken = try await ShipRestore.restore(objects, takesOver: true)
                #expect(taken.plan.transaction?.sequence == shipped)
                let old = shipper
                try machine.save()
                await #expect(throws: ShipError.self) { try await old.shipOnce() }
                machine = try ShipMachine(restored: taken.fileSystem, from: machine)
                #expect(try ShipSchema.digest(machine.store) == shippedDigest)
                shipper = begin()
            case 18 where shipped > 0:
                // A fork goes its own way; what it does changes nothing here.
                let sequence = UInt64(1 + random.below(Int(shipped)))
                let fork = try await ShipRestore.restore(objects, .transaction(sequence))
                #expect(try ShipRestore.digest(fork.fileSystem) == machine.digests[sequence], "fork at \(sequence)")
                let other = try ShipMachine(restored: fork.fileSystem, from: machine)
                try other.save()
                await #expect(throws: ShipError.self) { try await other.shipper(objects).shipOnce() }
                try other.close()
            default: break
            }
            if random.chance(0.6) {
                try await shipper.shipOnce(withCheckpoint: random.chance(0.1))
                shipped = shipper.status.sequence
                #expect(shipped == machine.store.snapshot.sequence)
                shippedDigest = try ShipSchema.digest(machine.store)
            }
        }
        try await shipper.shipOnce(withCheckpoint: true)
        shipped = shipper.status.sequence
        #expect(shipped == machine.store.snapshot.sequence)
        for sequence in 1...shipped {
            let found = try await ShipRestore.restore(objects, .transaction(sequence), verifies: sequence % 8 == 0)
            #expect(try ShipRestore.digest(found.fileSystem) == machine.digests[sequence], "transaction \(sequence)")
            #expect(found.plan.transaction?.sequence == sequence)
            #expect(found.plan.transaction?.timestampNanoseconds == machine.times[sequence])
            #expect(found.plan.next?.sequence == (sequence < shipped ? sequence + 1 : nil))
            if let time = machine.times[sequence] {
                let plan = try await LogRestorer(from: objects, cipher: TestCipher.used).plan(.time(time))
                #expect(plan.transaction?.sequence == sequence, "at the time of \(sequence)")
            }
        }
        try machine.close()
    }
}

/// How much tests do.
enum Effort {
    /// A number of the environment.
    static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
}
