import Foundation
import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataObjectStore
@testable import StrataShip

/// What waits to be shipped, and who waits for it.
extension ShipTroubleTests {
    @Test func aSaveIsWaitedFor() async throws {
        let machine = try ShipMachine(seed: 27)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects) { $0.interval = .seconds(600) }
        let running = Task { try await shipper.run() }
        for _ in 0..<5 {
            let sequence = try machine.save()
            try await shipper.shipped(through: sequence)
            #expect(shipper.status.sequence >= sequence)
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
        let waiting = Task { try await shipper.shipped(through: 100) }
        waiting.cancel()
        await #expect(throws: ShipError.self) { try await waiting.value }
        // Stopped, it ships what is there, with a checkpoint.
        let last = try machine.save()
        try machine.store.checkpoint()
        shipper.stop()
        try await running.value
        #expect(shipper.status.sequence == last)
        #expect(objects.contents.keys.contains { $0.hasPrefix("chk/") })
    }

    @Test func whoeverWaitsIsToldOfAFence() async throws {
        let (machine, objects) = try await Self.shipped()
        let shipper = machine.shipper(objects) { $0.interval = .seconds(600) }
        let running = Task { try await shipper.run() }
        try await shipper.shipped(through: machine.save())
        _ = try await ShipRestore.restore(objects, takesOver: true)
        let sequence = try machine.save()
        await #expect(throws: ShipError.self) { try await shipper.shipped(through: sequence) }
        await #expect(throws: ShipError.self) { try await running.value }
    }

    @Test func whatIsNotShippedIsGauged() async throws {
        let machine = try ShipMachine(seed: 28)
        let objects = SimulatedObjectStore()
        let client = objects.client()
        let shipper = machine.shipper(client)
        try machine.save()
        try await shipper.shipOnce()
        #expect(shipper.status.unshippedBytes == 0 && shipper.status.unshippedSeconds == 0)
        client.isPartitioned = true
        try machine.save()
        _ = try? await shipper.shipOnce()
        let first = shipper.status
        for _ in 0..<10 { try machine.save() }
        _ = try? await shipper.shipOnce()
        let second = shipper.status
        #expect(first.unshippedBytes > 0 && second.unshippedBytes > first.unshippedBytes)
        // The test's clock goes on by a second with each look.
        #expect(second.unshippedSeconds >= first.unshippedSeconds + 5)
        client.isPartitioned = false
        try await shipper.shipOnce()
        #expect(shipper.status.unshippedBytes == 0 && shipper.status.unshippedSeconds == 0)
    }

    /// The gauge said 0 seconds when nothing had ever been shipped, or the first segment was compacted away.
    @Test(arguments: [false, true]) func whatWasNeverShippedIsGauged(isCompacted: Bool) async throws {
        let machine = try ShipMachine(seed: 43)
        let client = SimulatedObjectStore().client()
        client.isPartitioned = true
        let shipper = machine.shipper(client)
        for _ in 0..<10 { try machine.save(3, textBytes: 9_000) }
        if isCompacted { try machine.store.compact() }
        _ = try? await shipper.shipOnce()
        let first = shipper.status
        #expect(first.unshippedBytes > 0 && first.unshippedSeconds > 0)
        for _ in 0..<10 { try machine.save() }
        _ = try? await shipper.shipOnce()
        #expect(shipper.status.unshippedSeconds >= first.unshippedSeconds + 5)
        // The writer's clock was set back: nothing is waiting since the future.
        machine.clock.move(seconds: -3_600)
        _ = try? await shipper.shipOnce()
        #expect(shipper.status.unshippedSeconds > 0)
        client.isPartitioned = false
        try await shipper.shipOnce()
        #expect(shipper.status.unshippedBytes == 0 && shipper.status.unshippedSeconds == 0)
    }

    /// Requests fail in a task that was cancelled: nothing was shipped, and nobody was told.
    @Test func aShipperThatIsCancelledShipsWhatIsLeft() async throws {
        let machine = try ShipMachine(seed: 44)
        let objects = SimulatedObjectStore()
        let client = objects.client()
        let shipper = machine.shipper(client) { $0.interval = .seconds(600) }
        let running = Task { try await shipper.run() }
        try await shipper.shipped(through: machine.save())
        let last = try machine.save()
        running.cancel()
        try await running.value
        #expect(shipper.status.sequence == last)
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[last])
        // If that does not work, it says so.
        try machine.save()
        let next = machine.shipper(client) { $0.interval = .seconds(600) }
        let going = Task { try await next.run() }
        try await next.shipped(through: last + 1)
        try machine.save()
        client.isPartitioned = true
        going.cancel()
        await #expect(throws: ShipError.self) { try await going.value }
        #expect(next.status.sequence == last + 1)
    }

    /// Whoever waited for a save when the shipper ended, or asked later, waited for ever.
    @Test func nobodyWaitsForAShipperThatHasEnded() async throws {
        let machine = try ShipMachine(seed: 45)
        let bucket = SilentObjectStore()
        let shipper = machine.shipper(bucket) { options in
            options.interval = .seconds(600)
            options.stopMaximum = .milliseconds(20)
        }
        let running = Task { try await shipper.run() }
        try await shipper.shipped(through: machine.save())
        // Nothing answers at the end.
        bucket.isSilent.isSet = true
        let sequence = try machine.save()
        let waiting = Task { try await shipper.shipped(through: sequence) }
        running.cancel()
        await #expect(throws: ShipError.self) { try await running.value }
        await #expect(throws: ShipError.self) { try await waiting.value }
        await #expect(throws: ShipError.self) { try await shipper.shipped(through: sequence) }
        // What was shipped stays so, and another run ships the rest.
        try await shipper.shipped(through: sequence - 1)
        bucket.isSilent.isSet = false
        try await shipper.shipOnce()
        try await shipper.shipped(through: sequence)
    }

    /// "Within a minute" was sixty pieces, which are days of a store that is seldom written.
    @Test func theHeadIsLookedAtOnceAMinute() async throws {
        let machine = try ShipMachine(seed: 46)
        let objects = SimulatedObjectStore()
        let now = machine.clock.now
        let time = ShipMachine.TestClock.Counter()
        time.value = now.value
        let shipper = machine.shipper(objects) { $0.clock = { time.value } }
        try machine.save()
        try await shipper.shipOnce()
        let heads = objects.counts.requests[.head] ?? 0
        for _ in 0..<100 {
            try machine.save(1, textBytes: 10)
            try await shipper.shipOnce()
        }
        #expect(objects.counts.requests[.head] ?? 0 == heads)
        objects.empty()
        time.value += 61_000_000_000
        let waiting = Task { try await shipper.shipped(through: 102) }
        try machine.save()
        #expect(await Self.code { try await shipper.shipOnce() } == .missing)
        await #expect(throws: ShipError.self) { try await waiting.value }
    }

    /// Nanoseconds that several threads may set and look at.
    private final class Time: Sendable {
        private let value: Mutex<Int64>
        var now: Int64 { value.withLock { $0 } }

        init(_ now: Int64) {
            value = Mutex(now)
        }

        func move(seconds: Int64) { value.withLock { $0 += seconds * 1_000_000_000 } }
    }

    /// A save of before was said to be in the bucket, which had been emptied since: an idle shipper does not look.
    @Test(arguments: [false, true]) func aSaveOfBeforeIsVouchedForByALookAMinute(isRunning: Bool) async throws {
        let machine = try ShipMachine(seed: 50)
        let (objects, time) = (SimulatedObjectStore(), Time(machine.clock.now.value))
        let shipper = machine.shipper(objects) { options in
            options.clock = { time.now }
            options.interval = .seconds(600)
        }
        let sequence = try machine.save()
        let running = isRunning ? Task { try await shipper.run() } : nil
        if !isRunning { try await shipper.shipOnce() }
        try await shipper.shipped(through: sequence)
        let before = objects.counts.total
        for _ in 0..<3 { try await shipper.shipped(through: sequence) }
        #expect(objects.counts.total == before)
        time.move(seconds: 61)
        if !isRunning {
            // Who gives up waiting is no trouble of the shipper.
            let waiting = Task {
                while !Task.isCancelled { await Task.yield() }
                try await shipper.shipped(through: sequence)
            }
            waiting.cancel()
            #expect(await Self.code { try await waiting.value } == .cancelled)
            #expect(!shipper.status.isFailing && shipper.status.lastProblem == nil)
        }
        for _ in 0..<3 { try await shipper.shipped(through: sequence) }
        #expect(objects.counts.total == before + 1)
        objects.empty()
        time.move(seconds: 61)
        for _ in 0..<2 {
            #expect(await Self.code { try await shipper.shipped(through: sequence) } == .missing)
        }
        if let running { #expect(await Self.code { try await running.value } == .missing) }
        try machine.close()
    }

    /// A piece was in the bucket, and the look behind it failed. The next round told those who waited before it looked.
    @Test(arguments: [false, true]) func nobodyIsToldBeforeALookThatIsOwed(hasWork: Bool) async throws {
        let machine = try ShipMachine(seed: 51)
        let (objects, time) = (SimulatedObjectStore(), Time(machine.clock.now.value))
        let client = objects.client()
        let shipper = machine.shipper(client) { $0.clock = { time.now } }
        try machine.save()
        try await shipper.shipOnce()
        let sequence = try machine.save()
        client.fail { request in
            // The piece takes more than a minute.
            if request.kind == .put, request.key.hasPrefix("log/") { time.move(seconds: 61) }
            return request.key == ShipKey.head ? .internalError : nil
        }
        await #expect(throws: ShipError.self) { try await shipper.shipOnce() }
        #expect(objects.contents.keys.count { $0.hasPrefix("log/") } == 2)
        if hasWork { try machine.save() }
        await #expect(throws: ShipError.self) { try await shipper.shipOnce() }
        #expect(shipper.status.sequence < sequence)
        objects.empty()
        client.fail(nil)
        #expect(await Self.code { try await shipper.shipOnce() } == .missing)
        #expect(await Self.code { try await shipper.shipped(through: sequence) } == .missing)
        try machine.close()
    }

    /// The bucket did not say whose the fence was, and the writer was stopped as if its store had been replaced.
    @Test func aFenceThatNobodyIsKnownToHavePutStopsNoWriter() async throws {
        let machine = try ShipMachine(seed: 47)
        let objects = SimulatedObjectStore()
        let client = objects.client()
        var options = ShipOptions()
        options.cipher = TestCipher.used
        options.slotMaximumBytes = 0
        let first = LogShipper(machine.store, in: machine.fileSystem, to: client, options: options)
        try machine.save()
        try await first.shipOnce()
        let second = machine.shipper(objects)
        try await second.shipOnce()
        try machine.save()
        client.fail { $0.kind == .get && $0.key == ShipKey.head ? .internalError : nil }
        for _ in 0..<3 {
            do throws(ShipError) {
                try await first.shipOnce()
                Issue.record("two shippers ship")
            } catch {
                #expect(error.mayPass, "\(error)")
            }
            try machine.save()
        }
        client.fail(nil)
        #expect(await Self.code { try await first.shipOnce() } == .fenced)
        try machine.save()
        try await second.shipOnce()
        #expect(try await ShipRestore.digest(objects, .newest) == machine.digests[6])
    }
}
