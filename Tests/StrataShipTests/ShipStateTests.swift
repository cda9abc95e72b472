import Foundation
import StrataObjectStore
import StrataTestKit
import Synchronization
import Testing

@testable import StrataLog
@testable import StrataShip

/// A short life of a store and its bucket for each number, in which two or three requests fail in some ways; then what
/// must hold is checked. `STRATA_SHIP_STATES` says how many, `STRATA_SHIP_STATE` the first, to repeat one that failed.
///
/// Which requests fail and how, what the shippers do about it, whether another machine takes over, whether clocks jump,
/// whether the bucket is collected or encrypted, and what the store is, all follow from the number.
@Suite struct ShipStateTests {
    private typealias Fault = SimulatedObjectStore.Fault

    private enum Life: Int, CaseIterable {
        /// The shipper tries again.
        case patient
        /// It dies with the first error, and another process goes on.
        case mortal
        /// Another machine takes over, and the old one wakes up.
        case sleeper
        /// Two shippers of the same store, by turns.
        case rivals
        /// What only old states need is removed.
        case collected
    }

    /// What went wrong.
    private struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    private static func hold(_ condition: Bool, _ what: @autoclosure () -> String) throws {
        if !condition { throw Wrong(description: what()) }
    }

    /// A client whose requests fail as a number says.
    private static func client(_ objects: SimulatedObjectStore, _ random: inout SeededGenerator) -> SimulatedObjectStore
    {
        var faults: [Int: Fault] = [:]
        for _ in 0..<2 + random.below(2) {
            faults[1 + random.below(40)] = ShipSweepTests.faults[random.below(ShipSweepTests.faults.count)]
        }
        let plan = faults
        let client = objects.client()
        client.fail { plan[$0.number] }
        return client
    }

    private static func shipper(
        _ machine: ShipMachine, _ client: SimulatedObjectStore, pieceBytes: Int, takesOver: Bool = false
    ) -> LogShipper {
        machine.shipper(client) { options in
            options.pieceMaximumBytes = pieceBytes
            options.checkpointLogBytes = 16 << 10
            options.takesOver = takesOver
            // So that nothing is compacted away that was not shipped.
            options.slotMaximumBytes = 1 << 30
        }
    }

    /// Saves, also where another machine has begun to take over and failed: then somebody opens the store again.
    private static func save(_ machine: ShipMachine, _ count: Int, textBytes: Int) throws {
        do {
            try machine.save(count, textBytes: textBytes)
        } catch let error as StoreError where error.code == .readOnly {
            try? machine.close()
            try machine.reopen()
            try machine.save(count, textBytes: textBytes)
        }
    }

    private static func check(
        _ objects: SimulatedObjectStore, _ machine: ShipMachine, atLeast acknowledged: UInt64, _ when: String
    ) async throws {
        guard acknowledged > 0 else { return }
        let found = try await ShipRestore.restore(objects)
        let sequence = found.plan.transaction?.sequence ?? 0
        try hold(sequence >= acknowledged, "\(when): \(acknowledged) was shipped, and \(sequence) is restored")
        try hold(
            try ShipRestore.digest(found.fileSystem) == machine.digests[sequence],
            "\(when): transaction \(sequence) is wrong")
    }

    private static func live(_ number: UInt64, _ tally: Tally) async throws {
        var random = SeededGenerator(seed: number, stream: 11)
        var machine = try ShipMachine(seed: number)
        let life = Life.allCases[random.below(Life.allCases.count)]
        let objects = SimulatedObjectStore()
        // The bucket's clock goes as the machine's, or an hour before or behind it.
        objects.clockOffset = Double(machine.clock.now.value) / 1e9 - 1_750_000_000
        if random.chance(0.2) { objects.clockOffset += random.chance(0.5) ? 3_600 : -3_600 }
        let textBytes = life == .collected ? 20_000 : 2_500
        // Segments in several pieces, or in one.
        let pieceBytes = random.chance(0.5) ? 4 << 10 : 64 << 10
        var clients: [SimulatedObjectStore] = []
        func client() -> SimulatedObjectStore {
            let client = Self.client(objects, &random)
            clients.append(client)
            return client
        }
        let first = client()
        var shippers = [shipper(machine, first, pieceBytes: pieceBytes)]
        if life == .rivals { shippers.append(shipper(machine, client(), pieceBytes: pieceBytes)) }
        var acknowledged: UInt64 = 0
        let rounds = 3 + random.below(3)
        let turn = 1 + random.below(rounds)
        for round in 0..<rounds {
            if random.chance(0.1) { machine.clock.move(seconds: random.chance(0.5) ? 3_600 : -3_600) }
            try save(machine, 1 + random.below(3), textBytes: random.chance(0.4) ? textBytes : 60)
            // Before the first shipper nothing keeps segments for it.
            if random.chance(0.25), acknowledged > 0 { try machine.store.compact() }
            if random.chance(0.15) { try machine.store.checkpoint() }
            let index = round % shippers.count
            for _ in 0..<(life == .mortal ? 1 : 3) {
                do throws(ShipError) {
                    try await shippers[index].shipOnce(withCheckpoint: random.chance(0.3))
                    acknowledged = max(acknowledged, shippers[index].status.sequence)
                    break
                } catch {
                    acknowledged = max(acknowledged, shippers[index].status.sequence)
                    if life == .mortal || !error.mayPass {
                        shippers[index] = shipper(machine, first, pieceBytes: pieceBytes, takesOver: true)
                    }
                }
            }
            if life == .collected, acknowledged > 0 {
                var retention = ShipRetention(age: .seconds(2))
                retention.grace = .zero
                objects.advance(seconds: 10)
                let collector = LogCollector(
                    client(), retention: retention, cipher: TestCipher.used
                ) { [clock = machine.clock] in clock.now.value }
                for _ in 0..<2 {
                    guard let report = try? await collector.collect() else { continue }
                    tally.collected.add(report.objects, ordering: .relaxed)
                }
            }
            if life == .sleeper, round + 1 == turn, acknowledged > 0 {
                try await check(objects, machine, atLeast: acknowledged, "before the take-over")
                let old = shippers[0]
                let way = client()
                for _ in 0..<8 {
                    guard let taken = try? await ShipRestore.restore(way, takesOver: true) else { continue }
                    tally.takeOvers.add(1, ordering: .relaxed)
                    let reached = taken.plan.transaction?.sequence ?? 0
                    try hold(
                        reached >= acknowledged, "\(acknowledged) was shipped, and the take-over reached \(reached)")
                    let hasEpoch = old.status.epoch > 0
                    try save(machine, 1, textBytes: 60)
                    for _ in 0..<2 { _ = try? await old.shipOnce() }
                    // One without an epoch takes the next, if nobody of another store has.
                    if hasEpoch {
                        try hold(
                            old.status.sequence <= reached, "two writers: the old one is at \(old.status.sequence)")
                    }
                    machine = try ShipMachine(restored: taken.fileSystem, from: machine)
                    shippers = [shipper(machine, way, pieceBytes: pieceBytes)]
                    acknowledged = reached
                    break
                }
            }
        }
        tally.failed.add(clients.reduce(0) { $0 + $1.fired.values.reduce(0, +) }, ordering: .relaxed)
        tally.requests.add(clients.reduce(0) { $0 + $1.counts.total }, ordering: .relaxed)
        // One that goes on finds whatever would be missing; half of the lives are looked at before, too.
        if random.chance(0.5) { try await check(objects, machine, atLeast: acknowledged, "at the end") }
        // Whatever happened, somebody can go on.
        try save(machine, 1, textBytes: 60)
        let last = shipper(machine, objects.client(), pieceBytes: pieceBytes, takesOver: true)
        try await last.shipOnce(withCheckpoint: random.chance(0.5))
        let newest = machine.store.snapshot.sequence
        try await check(objects, machine, atLeast: newest, "after another shipper")
        guard random.chance(0.5) else { return try machine.close() }
        let earlier = 1 + UInt64(random.below(Int(newest)))
        do {
            let digest = try await ShipRestore.digest(objects, .transaction(earlier))
            try hold(digest == machine.digests[earlier], "transaction \(earlier) is wrong")
        } catch let error as ShipError {
            try hold(
                life == .collected && error.code == .notRestorable, "transaction \(earlier) is not restored: \(error)")
        }
        try machine.close()
    }

    @Test func whateverFailsNothingShippedIsLost() async throws {
        let count = Effort.number("STRATA_SHIP_STATES") ?? 120
        let first = UInt64(Effort.number("STRATA_SHIP_STATE") ?? 0)
        let began = ContinuousClock.now
        let progress = Progress(first)
        let tally = Tally()
        let width = max(1, Effort.number("STRATA_SHIP_THREADS") ?? ProcessInfo.processInfo.activeProcessorCount)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    while let number = progress.take(below: first + UInt64(count)) {
                        do {
                            try await TestCipher.use(number % 2 == 1) { try await Self.live(number, tally) }
                        } catch {
                            progress.fail()
                            Issue.record("STRATA_SHIP_STATE=\(number) STRATA_SHIP_STATES=1: \(error)")
                        }
                        let done = number - first + 1
                        if done % 10_000 == 0 { Self.tell(done, began, tally) }
                    }
                }
            }
        }
        Self.tell(progress.taken - first, began, tally)
    }

    /// The numbers that have been taken; after a few failures there are no more.
    private final class Progress: Sendable {
        private let next: Atomic<UInt64>
        private let failures = Atomic(0)

        init(_ first: UInt64) {
            next = Atomic(first)
        }

        var taken: UInt64 { next.load(ordering: .relaxed) }

        func take(below end: UInt64) -> UInt64? {
            guard failures.load(ordering: .relaxed) < 5 else { return nil }
            let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
            if number < end { return number }
            next.store(end, ordering: .relaxed)
            return nil
        }

        func fail() { failures.wrappingAdd(1, ordering: .relaxed) }
    }

    /// What has happened in all lives.
    private final class Tally: Sendable {
        let requests = Atomic(0)
        let failed = Atomic(0)
        let takeOvers = Atomic(0)
        let collected = Atomic(0)
    }

    private static func tell(_ done: UInt64, _ began: ContinuousClock.Instant, _ tally: Tally) {
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        let counts = [
            ("requests", tally.requests.load(ordering: .relaxed)), ("failed", tally.failed.load(ordering: .relaxed)),
            ("take-overs", tally.takeOvers.load(ordering: .relaxed)),
            ("objects collected", tally.collected.load(ordering: .relaxed)),
        ].map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        let text =
            "ship states: \(done) in \(Int(seconds)) s, \(Int(Double(done) / max(seconds, 0.001) * 60)) a minute; "
            + counts + "\n"
        // Not kept back until the end where it goes to a file.
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
