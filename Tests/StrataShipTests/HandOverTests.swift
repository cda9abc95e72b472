import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// Shippers of a store that come one after the other, and what they leave in the head.
@Suite struct HandOverTests {
    /// Ships what is there and ends, as a program does that is stopped.
    private static func run(
        _ machine: ShipMachine, _ objects: any ObjectStore, _ change: (inout ShipOptions) -> Void = { _ in }
    ) async throws {
        let shipper = machine.shipper(objects) { options in
            // However slow the machine is.
            options.stopMaximum = .seconds(86_400)
            change(&options)
        }
        shipper.stop()
        try await shipper.run()
    }

    private static func head(_ objects: SimulatedObjectStore) async throws -> ShipHead {
        try #require(try await ShippedLog.head(ShipBucket(objects, TestCipher.used))).head
    }

    /// Each `strata backup --to` added an epoch. Every follower reads the head.
    @Test func theHeadDoesNotGrowWithTheRuns() async throws {
        let machine = try ShipMachine(seed: 81)
        let objects = SimulatedObjectStore()
        for _ in 0..<20 {
            try machine.save(3, textBytes: 9_000)
            try await Self.run(machine, objects)
        }
        #expect(try await Self.head(objects).epochs.count == 1)
        for sequence in UInt64(1)...20 {
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
        // One that was not asked to hand over may have something on its way: it is fenced.
        let crashed = machine.shipper(objects)
        try machine.save()
        try await crashed.shipOnce()
        try await Self.run(machine, objects)
        #expect(try await Self.head(objects).epochs.count == 2)
        #expect(
            await ShipTroubleTests.code {
                try machine.save()
                try await crashed.shipOnce()
            } == .fenced)
        // One that has handed over and ships again begins anew.
        let again = machine.shipper(objects)
        for _ in 0..<3 {
            try await again.shipOnce()
            await again.handOver()
            try machine.save()
        }
        #expect(try await Self.head(objects).epochs.count == 2)
        try machine.close()
    }

    /// Two that were started at once have read the same word that the one before has left.
    @Test(arguments: [false, true]) func oneOfTwoGoesOn(hasShipped: Bool) async throws {
        let machine = try ShipMachine(seed: 82)
        let objects = SimulatedObjectStore()
        try machine.save()
        try await Self.run(machine, objects)
        try machine.save()
        let slot = try #require(try ShipSlot.all(besideStoreAt: ShipMachine.path, in: machine.fileSystem).first)
        #expect(slot.release != nil)
        let first = machine.shipper(objects)
        if !hasShipped {
            // It begins, and the bucket does not take what it ships.
            objects.fail { $0.kind == .put && $0.key.hasPrefix("log/") ? .internalError : nil }
            await #expect(throws: ShipError.self) { try await first.shipOnce() }
            objects.fail(nil)
        } else {
            try await first.shipOnce()
        }
        try slot.write(besideStoreAt: ShipMachine.path, in: machine.fileSystem)
        let second = machine.shipper(objects)
        try await second.shipOnce()
        #expect(second.status.epoch == 2)
        try machine.save()
        #expect(await ShipTroubleTests.code { try await first.shipOnce() } == .fenced)
        try await second.shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[3])
        try machine.close()
    }

    /// The word of a shipper that had ended stayed in the slot when the next one went on: after a crash of that one, it
    /// said that nothing was on its way.
    @Test func theWordForTheNextOneIsGoneOnceItIsTaken() async throws {
        let machine = try ShipMachine(seed: 85)
        let objects = SimulatedObjectStore()
        func release() throws -> ShipSlot.Release? {
            try #require(try ShipSlot.all(besideStoreAt: ShipMachine.path, in: machine.fileSystem).first).release
        }
        try machine.save()
        try await Self.run(machine, objects)
        #expect(try release() != nil)
        let next = machine.shipper(objects)
        try await next.shipOnce()
        #expect(next.status.epoch == 1)
        #expect(try release() == nil)
        await next.handOver()
        #expect(try release() != nil)
        try machine.close()
    }

    /// Of a segment that was compacted away nothing can be compared. A shipper that was stopped in order vouches for
    /// it; one that was not, does not.
    @Test(arguments: [false, true]) func whoWasStoppedInOrderVouchesForWhatIsGone(isInOrder: Bool) async throws {
        let machine = try ShipMachine(seed: 86)
        let objects = SimulatedObjectStore()
        for _ in 0..<10 { try machine.save(3, textBytes: 9_000) }
        if isInOrder { try await Self.run(machine, objects) } else { try await machine.shipper(objects).shipOnce() }
        let segment = machine.store.logEnd.segment
        for _ in 0..<40 { try machine.save(3, textBytes: 9_000) }
        try machine.store.compact()
        try #require(!machine.fileSystem.list(ShipMachine.path).contains(ShipKey.hex(segment) + ".seg"))
        let next = machine.shipper(objects)
        let code = await ShipTroubleTests.code { try await next.shipOnce() }
        #expect(code == (isInOrder ? nil : .conflict))
        #expect((next.status.gaps > 0) == isInOrder)
        let last: UInt64 = isInOrder ? 50 : 10
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[last])
        try machine.close()
    }

    @Test func aTakeOverBetweenEndsIt() async throws {
        let machine = try ShipMachine(seed: 83)
        let objects = SimulatedObjectStore()
        try machine.save()
        try await Self.run(machine, objects)
        let taken = try await ShipRestore.restore(objects, takesOver: true)
        #expect(await ShipTroubleTests.code { try await Self.run(machine, objects) } == .conflict)
        let other = try ShipMachine(restored: taken.fileSystem, from: machine)
        try other.save()
        try await Self.run(other, objects)
        try machine.save()
        #expect(await ShipTroubleTests.code { try await Self.run(machine, objects) } == .conflict)
        #expect(try await ShipRestore.digest(objects, .newest) == other.digests[2])
        try other.close()
        try machine.close()
    }

    /// Whatever fails while one hands over to the next, each transaction that was shipped is there.
    @Test func everyRequestOfARunMayFail() async throws {
        for kind in [SimulatedObjectStore.Fault.internalError, .lostAnswer, .delayed] {
            var number = 1
            while true {
                let machine = try ShipMachine(seed: 84)
                let objects = SimulatedObjectStore()
                try machine.save()
                try await Self.run(machine, objects)
                let before = objects.counts.total
                try machine.save()
                let failing = before + number
                objects.fail { $0.number == failing ? kind : nil }
                let hasFailed = await ShipTroubleTests.code { try await Self.run(machine, objects) } != nil
                objects.fail(nil)
                let isOver = objects.counts.total < failing
                try machine.save()
                try await Self.run(machine, objects)
                for sequence in UInt64(1)...3 {
                    let digest = try await ShipRestore.digest(objects, .transaction(sequence))
                    #expect(digest == machine.digests[sequence], "\(kind) at \(number)")
                }
                #expect(try await Self.head(objects).epochs.count <= (hasFailed ? 2 : 1), "\(kind) at \(number)")
                try machine.close()
                number += 1
                guard !isOver else { break }
            }
            #expect(number > 5)
        }
    }
}
