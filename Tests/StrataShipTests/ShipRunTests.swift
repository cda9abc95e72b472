import Foundation
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// Runs at random, hours of simulated time long, with everything that happens to a store and its bucket; then every
/// transaction that the bucket is to keep is restored and compared.
@Suite struct ShipRunTests {
    /// Seeds of `make test`; more with STRATA_SHIP_RUNS, and others from STRATA_SHIP_RUN on.
    static let seeds: [UInt64] = {
        let first = UInt64(Effort.number("STRATA_SHIP_RUN") ?? 0)
        return Array(first..<first + UInt64(Effort.number("STRATA_SHIP_RUNS") ?? 3))
    }()

    @Test(arguments: seeds) func everyTransactionIsRestored(seed: UInt64) async throws {
        try await TestCipher.use(seed % 2 == 1) {
            let run = try await ShipRun(seed)
            for step in 0..<ShipRun.steps { try await run.step(step) }
            try await run.check()
        }
    }
}

/// A store and what happens to it. The clocks of machine and bucket go on by minutes with each step. The machine's is
/// set back now and then, or jumps an hour forward.
private final class ShipRun {
    static let steps = 120
    private static let kept = 3 * 3_600
    private static let grace = 1_200

    private let seed: UInt64
    private let objects = SimulatedObjectStore()
    private var machine: ShipMachine
    private var random: SeededGenerator
    private var shipper: LogShipper
    private var shipped: UInt64 = 0
    private var shippedDigest: ObjectDigest?
    /// At which steps another machine takes over, and whether it goes back to an earlier transaction.
    private var takeOvers: [Int: Bool]
    /// From when on states are kept: no earlier one has been asked for since that was removed.
    private var keptSince = Int64.min
    private var floor: UInt64 = 0
    private var removed = 0
    private var seconds = 0

    init(_ seed: UInt64) async throws {
        self.seed = seed
        random = SeededGenerator(seed: seed, stream: 7)
        machine = try ShipMachine(seed: seed, durability: seed % 3 == 2 ? .os : .full)
        takeOvers = [40 + random.below(30): false, 75 + random.below(40): random.chance(0.5)]
        // The bucket has the same time as the machine, or another one by up to an hour.
        objects.clockOffset = Double(machine.clock.now.value) / 1e9 - 1_750_000_000
        objects.clockOffset += Double(random.below(7_200) - 3_600)
        shipper = machine.shipper(objects)
        shipper = begin()
        try machine.save()
        try await ship()
    }

    private var retention: ShipRetention {
        var retention = ShipRetention(age: .seconds(Self.kept))
        retention.grace = .seconds(Self.grace)
        return retention
    }

    private func begin() -> LogShipper {
        let retention = retention
        return machine.shipper(objects) { options in
            // Compaction leaves alone what was not shipped, so that every state is kept.
            options.slotMaximumBytes = 1 << 30
            if random.chance(0.5) { options.retention = retention }
            // The other key, from some shipper on or for a while.
            if var cipher = TestCipher.used, random.chance(0.3) {
                cipher.writing = 2
                options.cipher = cipher
            }
        }
    }

    private func ship(withCheckpoint: Bool = false) async throws {
        let now = machine.clock.now.value
        try await shipper.shipOnce(withCheckpoint: withCheckpoint)
        shipped = shipper.status.sequence
        #expect(shipped == machine.store.snapshot.sequence)
        #expect(shipper.status.lastProblem == nil)
        shippedDigest = try ShipSchema.digest(machine.store)
        keptSince = max(keptSince, now - Int64(Self.kept) * 1_000_000_000)
    }

    func step(_ number: Int) async throws {
        pass(seconds: random.below(360))
        if let goesBack = takeOvers[number] { try await takeOver(goesBack: goesBack) }
        switch random.below(24) {
        case 0..<11: for _ in 0...random.below(2) { try machine.save() }
        case 11, 12: try machine.save(2, textBytes: 20_000)
        case 13: try machine.store.compact()
        case 14: try machine.store.checkpoint()
        case 15 where number > 25: try machine.migrate()
        case 16:
            try machine.close()
            try machine.reopen()
        case 17:
            // The shipper's process dies, or ends, and another one takes its place.
            if number % 2 == 0 { await shipper.handOver() }
            shipper = begin()
        case 18: try await fork()
        case 19: machine.clock.move(seconds: 3_600)
        case 20: machine.clock.move(seconds: -random.below(7_200))
        case 21, 22: try await collect()
        default: break
        }
        if random.chance(0.6) { try await ship(withCheckpoint: random.chance(0.1)) }
    }

    private func pass(seconds count: Int) {
        seconds += count
        machine.clock.move(seconds: count)
        objects.advance(seconds: Double(count))
    }

    /// The machine is lost with what was not shipped, and another one goes on, perhaps from an earlier transaction.
    private func takeOver(goesBack: Bool) async throws {
        try await readFloor()
        var target = RestoreTarget.newest
        var reached = shipped
        if goesBack {
            reached = max(floor + 1, shipped - min(shipped, 3))
            target = .transaction(reached)
        }
        let taken = try await ShipRestore.restore(objects, target, takesOver: true)
        #expect(taken.plan.transaction?.sequence == reached)
        let old = shipper
        try machine.save()
        await #expect(throws: ShipError.self) { try await old.shipOnce() }
        let digest = goesBack ? machine.digests[reached] : shippedDigest
        machine = try ShipMachine(restored: taken.fileSystem, from: machine)
        #expect(try ShipSchema.digest(machine.store) == digest, "taken over at \(reached)")
        shipper = begin()
        shipped = reached
        try machine.save()
        try await ship()
    }

    /// A fork goes its own way; what it does changes nothing here.
    private func fork() async throws {
        try await readFloor()
        guard shipped > floor else { return }
        let sequence = floor + 1 + UInt64(random.below(Int(shipped - floor)))
        let fork = try await ShipRestore.restore(objects, .transaction(sequence))
        #expect(try ShipRestore.digest(fork.fileSystem) == machine.digests[sequence], "fork at \(sequence)")
        let other = try ShipMachine(restored: fork.fileSystem, from: machine)
        try other.save()
        await #expect(throws: ShipError.self) { try await other.shipper(objects).shipOnce() }
        try other.close()
    }

    /// What no state of the window needs is removed, by whom the store's clock tells the time.
    private func collect() async throws {
        let now = machine.clock.now.value
        let collector = LogCollector(objects, retention: retention, cipher: TestCipher.used) { now }
        let report = try await collector.collect()
        removed += report.objects
        let oldest = now - Int64(Self.kept) * 1_000_000_000
        keptSince = max(keptSince, oldest)
        try await readFloor()
        // However the clock jumped, nothing is removed that is younger than what it was told to keep.
        for (sequence, time) in machine.times where sequence <= floor {
            #expect(time <= keptSince, "transaction \(sequence) is not kept")
        }
        if oldest == keptSince { try await check(at: oldest, isKept: floor > 0) }
    }

    /// The last transaction that is not kept.
    private func readFloor() async throws {
        floor = try await ShippedLog.head(ShipBucket(objects, TestCipher.used))?.head.floor?.place.sequence ?? 0
    }

    /// The state of a time is the longest beginning of the log of which nothing is later.
    private func check(at time: Int64, isWhole: Bool = false, isKept: Bool = false) async throws {
        let expected = machine.longestBeginning(until: time)
        do {
            let plan: RestorePlan
            if isWhole {
                let found = try await ShipRestore.restore(objects, .time(time))
                plan = found.plan
                let sequence = plan.transaction?.sequence ?? 0
                let exact = try await ShipRestore.restore(objects, .transaction(sequence)).fileSystem
                let (store, other) = (try ShipRestore.open(found.fileSystem), try ShipRestore.open(exact))
                // Behind the transaction the store may have been migrated. And a compaction may have moved it: then its
                // time is not known any more.
                if store.schema.entities == other.schema.entities {
                    let digests = try [store, other].map { try ShipSchema.digest($0, isTimeless: true) }
                    #expect(digests[0] == digests[1], "at \(time)")
                }
                try store.close()
                try other.close()
                #expect(try ShipRestore.digest(exact) == machine.digests[sequence], "at \(time)")
            } else {
                plan = try await LogRestorer(from: objects, cipher: TestCipher.used).plan(.time(time))
            }
            let sequence = plan.transaction?.sequence ?? 0
            // What is not shipped is not there to be found.
            let range = min(expected.lowerBound, shipped)...min(expected.upperBound, shipped)
            #expect(range.contains(sequence), "\(sequence) at \(time), not \(range)")
        } catch let error as ShipError where error.code == .notRestorable {
            #expect(expected.lowerBound <= floor && !isKept, "nothing at \(time): \(error)")
        }
    }

    func check() async throws {
        try await ship(withCheckpoint: true)
        try await collect()
        for sequence in 1...shipped {
            let hint: Comment = "transaction \(sequence) of \(shipped), floor \(floor)"
            guard sequence > floor else {
                let error = await #expect(throws: ShipError.self, hint) {
                    try await LogRestorer(from: objects, cipher: TestCipher.used).plan(.transaction(sequence))
                }
                #expect(error?.code == .notRestorable, hint)
                continue
            }
            let found = try await ShipRestore.restore(objects, .transaction(sequence), verifies: sequence % 8 == 0)
            #expect(try ShipRestore.digest(found.fileSystem) == machine.digests[sequence], hint)
            #expect(found.plan.transaction?.sequence == sequence)
            #expect(found.plan.transaction?.timestampNanoseconds == machine.times[sequence])
            #expect(found.plan.next?.sequence == (sequence < shipped ? sequence + 1 : nil))
            if let time = machine.times[sequence] { try await check(at: time, isWhole: sequence % 8 == 1) }
        }
        print(
            "ship run \(seed): \(shipped) transactions in \(seconds / 60) minutes, \(shipped - floor) restored, "
                + "\(removed) objects collected")
        #expect(seconds > 3 * 3_600)
        // Where the clock was set back for long, nothing may be old enough; in the runs of `make test` something is.
        #expect(removed > 0 && floor > 0 || seed > 2, "nothing was collected")
        try machine.close()
    }
}

/// How much tests do.
enum Effort {
    /// A number of the environment.
    static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
}
