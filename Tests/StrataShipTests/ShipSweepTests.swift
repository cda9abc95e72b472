import Foundation
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// Every request of a shipper's life fails in every way, and the shipper dies there or tries again. Then another one
/// goes on, or another machine takes over while the first is only asleep.
///
/// Whatever happened: what was acknowledged as shipped is restored, every state that is restored is one that the store
/// had, and of two shippers one is refused.
@Suite struct ShipSweepTests {
    typealias Fault = SimulatedObjectStore.Fault

    /// Faults of a network and of a server that keep what they promise. (Objects that vanish have tests of their own.)
    static let faults: [Fault] = [
        .lostAnswer, .lostRequest, .delayed, .conflict, .falsePrecondition, .internalError, .slowDown, .bitFlip,
        .truncated, .staleList, .expiredCredentials, .denied,
    ]

    /// The first request that fails: another one for each fault, so that a few runs meet all requests.
    private static func first(_ fault: Fault, _ stride: Int) -> Int {
        1 + (faults.firstIndex(of: fault) ?? 0) % stride
    }

    /// Saves and ships some times; all from the same seed, so that the n-th request is the same one in every run.
    private static func work(
        _ machine: ShipMachine, _ shipper: LogShipper, rounds: Int, tries: Int, acknowledged: inout UInt64
    ) async throws -> Bool {
        for round in 0..<rounds {
            try machine.save(2, textBytes: round % 3 == 1 ? 30_000 : 500)
            if round == 4 { try machine.store.compact() }
            for attempt in 1...tries {
                do throws(ShipError) {
                    try await shipper.shipOnce(withCheckpoint: round % 3 == 2)
                    acknowledged = shipper.status.sequence
                    break
                } catch {
                    acknowledged = max(acknowledged, shipper.status.sequence)
                    if !error.mayPass { return false }
                    if attempt == tries { return true }
                }
            }
        }
        return true
    }

    /// What must hold of a bucket.
    private static func check(
        _ objects: SimulatedObjectStore, _ digests: [UInt64: ObjectDigest], atLeast acknowledged: UInt64, _ hint: String
    ) async throws {
        let found = try await ShipRestore.restore(objects)
        let sequence = found.plan.transaction?.sequence ?? 0
        #expect(sequence >= acknowledged, "\(hint): lost")
        if sequence > 0 {
            #expect(try ShipRestore.digest(found.fileSystem) == digests[sequence], "\(hint): wrong at \(sequence)")
        }
    }

    /// How many requests an undisturbed run makes.
    private static func requests(rounds: Int) async throws -> Int {
        let machine = try ShipMachine(seed: 11)
        let objects = SimulatedObjectStore()
        var acknowledged: UInt64 = 0
        _ = try await work(machine, machine.shipper(objects), rounds: rounds, tries: 1, acknowledged: &acknowledged)
        #expect(acknowledged == UInt64(rounds))
        return objects.counts.total
    }

    /// Calls a body with the numbers of requests, with encryption or without it; for every request with both.
    private static func eachRequest(
        _ fault: Fault, rounds: Int, beyond: Int = 0, _ body: (Int) async throws -> Void
    ) async throws {
        let stride = Effort.number("STRATA_SHIP_SWEEP") ?? 9
        var isEncrypted = (faults.firstIndex(of: fault) ?? 0) % 2 == 1
        let count = try await requests(rounds: rounds) + beyond
        for number in Swift.stride(from: first(fault, stride), through: count, by: stride) {
            for _ in 0..<(stride == 1 ? 2 : 1) {
                try await TestCipher.use(isEncrypted) { try await body(number) }
                isEncrypted.toggle()
            }
        }
    }

    @Test(arguments: faults) func aFailedRequestIsGotOver(fault: Fault) async throws {
        let rounds = 8
        try await Self.eachRequest(fault, rounds: rounds, beyond: 4) { number in
            let machine = try ShipMachine(seed: 11)
            let objects = SimulatedObjectStore()
            let client = objects.client()
            client.fail { $0.number == number ? fault : nil }
            var acknowledged: UInt64 = 0
            let goesOn = try await Self.work(
                machine, machine.shipper(client), rounds: rounds, tries: 3, acknowledged: &acknowledged)
            let hint = "\(fault) at \(number)"
            // A fence or a head that was sent by this very shipper, and arrives late, stops it as any other's.
            if fault != .delayed {
                #expect(goesOn && acknowledged == UInt64(rounds), "\(hint)")
            }
            if acknowledged > 0 { try await Self.check(objects, machine.digests, atLeast: acknowledged, hint) }
            // Another process goes on.
            let next = machine.shipper(objects.client())
            try machine.save()
            try await next.shipOnce()
            try await Self.check(objects, machine.digests, atLeast: machine.store.snapshot.sequence, hint + ", next")
            try machine.close()
        }
    }

    @Test(arguments: faults) func aShipperThatDiesIsReplaced(fault: Fault) async throws {
        let rounds = 6
        try await Self.eachRequest(fault, rounds: rounds) { number in
            let machine = try ShipMachine(seed: 11)
            let objects = SimulatedObjectStore()
            let client = objects.client()
            client.fail { $0.number == number ? fault : nil }
            var acknowledged: UInt64 = 0
            _ = try await Self.work(
                machine, machine.shipper(client), rounds: rounds, tries: 1, acknowledged: &acknowledged)
            let hint = "\(fault) at \(number)"
            for _ in 0..<3 {
                // It dies again after a few requests, until one lives.
                let dying = objects.client()
                let limit = number % 5 + 2
                dying.fail { $0.number > limit ? .lostRequest : nil }
                _ = try? await machine.shipper(dying).shipOnce()
            }
            let next = machine.shipper(objects.client())
            try machine.save()
            try await next.shipOnce()
            try await Self.check(
                objects, machine.digests, atLeast: max(acknowledged, machine.store.snapshot.sequence), hint)
            try machine.close()
        }
    }

    /// The old machine is cut off, another takes over and writes on; then the old one wakes up in the middle of
    /// whatever it was doing, and goes on.
    @Test(arguments: [Fault.lostRequest, .lostAnswer, .delayed, .falsePrecondition])
    func aSleeperIsFenced(fault: Fault) async throws {
        let rounds = 6
        try await Self.eachRequest(fault, rounds: rounds) { number in
            let machine = try ShipMachine(seed: 11)
            let objects = SimulatedObjectStore()
            let client = objects.client()
            // From this request on nothing comes back; the first may have been carried out, or be carried out later.
            client.fail { $0.number == number ? fault : $0.number > number ? .lostRequest : nil }
            let old = machine.shipper(client)
            var acknowledged: UInt64 = 0
            _ = try await Self.work(machine, old, rounds: rounds, tries: 1, acknowledged: &acknowledged)
            let hint = "\(fault) at \(number)"
            guard objects.bytes(of: ShipKey.head) != nil else { return }
            let taken: (fileSystem: SimulatedFileSystem, plan: RestorePlan)
            do {
                taken = try await ShipRestore.restore(objects, takesOver: true)
            } catch let error as ShipError where error.code == .notRestorable && acknowledged == 0 {
                return
            }
            let reached = taken.plan.transaction?.sequence ?? 0
            #expect(reached >= acknowledged, "\(hint): lost by taking over")
            let other = try ShipMachine(restored: taken.fileSystem, from: machine)
            let next = other.shipper(objects.client())
            try other.save()
            try await next.shipOnce()
            // The old one wakes up.
            client.fail(nil)
            try machine.save()
            for _ in 0..<3 { _ = try? await old.shipOnce() }
            #expect(
                old.status.sequence <= reached, "\(hint): two writers, the old one at \(old.status.sequence)")
            await #expect(throws: ShipError.self, "\(hint)") { try await old.shipOnce() }
            try other.save()
            try await next.shipOnce()
            try await Self.check(objects, other.digests, atLeast: other.store.snapshot.sequence, hint)
            try other.close()
            try machine.close()
        }
    }

    /// Two shippers by mistake, over a bucket where anything may fail; and what each says it has shipped.
    @Test(arguments: 0..<UInt64(Effort.number("STRATA_SHIP_RUNS") ?? 4))
    func faultsAtRandom(seed: UInt64) async throws {
        try await TestCipher.use(seed % 2 == 1) { try await Self.meetFaults(seed) }
    }

    private static func meetFaults(_ seed: UInt64) async throws {
        var machine = try ShipMachine(seed: seed)
        let objects = SimulatedObjectStore()
        var random = SeededGenerator(seed: seed, stream: 3)
        var clients = 0
        var lastError: ShipError?
        func client() -> SimulatedObjectStore {
            let client = objects.client()
            clients += 1
            client.fail(seed: seed &* 1_000 &+ UInt64(clients), probability: 0.15, faults)
            return client
        }
        func begin(takesOver: Bool = true) -> LogShipper {
            machine.shipper(client()) { options in
                options.takesOver = takesOver
                // So that nothing is compacted away that was not shipped.
                options.slotMaximumBytes = 1 << 30
            }
        }
        var shipper = begin(takesOver: false)
        var acknowledged: UInt64 = 0
        for step in 0..<60 {
            try machine.save()
            if step % 11 == 10 { try machine.store.compact() }
            do throws(ShipError) {
                try await shipper.shipOnce(withCheckpoint: random.chance(0.1))
            } catch {
                lastError = error
                if !error.mayPass { shipper = begin() }
            }
            acknowledged = max(acknowledged, shipper.status.sequence)
            if random.chance(0.05) {
                if step % 2 == 0 { await shipper.handOver() }
                shipper = begin(takesOver: false)
            }
            if random.chance(0.05), acknowledged > 0 {
                // Repeated until it works, as people do. If it never does, the old machine goes on.
                let old = shipper
                shipper = begin()
                for _ in 0..<20 {
                    guard let taken = try? await ShipRestore.restore(client(), takesOver: true) else { continue }
                    let reached = taken.plan.transaction?.sequence ?? 0
                    #expect(reached >= acknowledged, "step \(step): lost by taking over")
                    // One that has no epoch yet takes the next, as it was told to.
                    if old.status.epoch > 0 {
                        _ = try? await old.shipOnce()
                        #expect(old.status.sequence <= reached, "step \(step): two writers")
                    }
                    machine = try ShipMachine(restored: taken.fileSystem, from: machine)
                    #expect(try ShipSchema.digest(machine.store) == machine.digests[reached])
                    shipper = begin(takesOver: false)
                    break
                }
            }
        }
        #expect(acknowledged > 0, "\(lastError?.description ?? "no error")")
        try await check(objects, machine.digests, atLeast: acknowledged, "at the end")
        let last = machine.shipper(objects.client()) { $0.takesOver = true }
        try await last.shipOnce()
        for sequence in stride(from: UInt64(1), through: last.status.sequence, by: 5) {
            #expect(try await ShipRestore.digest(objects, .transaction(sequence)) == machine.digests[sequence])
        }
        try machine.close()
    }
}
