import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// The sweeps over workloads that compact and merge: crashes after every operation, also of the recovery that follows.
@Suite(.sweep) struct CompactionSweepTests {
    @Test(arguments: Effort.seeds(6))
    func everyCrashLeavesTheOldSegmentsOrTheNew(seed: UInt64) throws {
        let fileSystem = SimulatedFileSystem()
        let workload = StoreWorkload(seed: seed &+ 7000, fileSystem: fileSystem, compacts: true)
        try workload.run(steps: 30)
        let tally = try CrashSweepTests.sweep(
            fileSystem.trace, workload.model, StoreWorkload.options(), seed: seed)
        print("compaction crash sweep seed \(seed): \(tally.states) states, \(tally.recoveryStates) in recovery")
        #expect(tally.states > 500)
    }

    @Test(arguments: [LogOptions.Durability.os, .interval(milliseconds: 100_000)], Effort.seeds(3))
    func weakerDurabilityLosesOnlyTheNewest(_ durability: LogOptions.Durability, seed: UInt64) throws {
        let fileSystem = SimulatedFileSystem()
        let workload = StoreWorkload(
            seed: seed &+ 8000, fileSystem: fileSystem, options: StoreWorkload.options(durability), compacts: true)
        try workload.run(steps: 20)
        let tally = try CrashSweepTests.sweep(
            fileSystem.trace, workload.model, StoreWorkload.options(durability), seed: seed, isWeak: true)
        print("compaction crash sweep \(durability) seed \(seed): \(tally.states) states")
    }

    /// The same with all checkpoints lost: the index comes from a log with holes.
    @Test(arguments: Effort.seeds(4)) func crashesWithoutCheckpoints(seed: UInt64) throws {
        let fileSystem = SimulatedFileSystem()
        let workload = StoreWorkload(seed: seed &+ 9000, fileSystem: fileSystem, compacts: true)
        try workload.run(steps: 30)
        var cursor = fileSystem.trace.cursor()
        var crashSeed = seed &* 7_919
        var states = 0
        repeat {
            let acknowledged = cursor.notes.compactMap { Int($0) }.last ?? 0
            for policy in [SimulatedFileSystem.CrashPolicy.killed, .strict, .evil]
            where policy == .killed || cursor.hasUnsyncedChanges {
                crashSeed += 1
                states += 1
                let hint = "seed \(seed), crash after \(cursor.position), \(policy), crash seed \(crashSeed)"
                let image = cursor.image(policy: policy, seed: crashSeed)
                for name in (try? image.list(StoreWorkload.path)) ?? [] where name.hasSuffix(".chk") {
                    try image.unlink(StoreWorkload.path.appending(name))
                }
                do {
                    let store = try StoreWorkload.open(image, StoreWorkload.options())
                    #expect(Int(store.snapshot.sequence) >= acknowledged, "\(hint): an acknowledged commit is lost")
                    try workload.model.check(store, hint)
                    try workload.model.checkHistory(store, hint)
                } catch {
                    Issue.record("\(hint): \(error)")
                }
            }
        } while cursor.advance()
        print("compaction crash sweep without checkpoints, seed \(seed): \(states) states")
    }

    /// Every call to the file system fails once, or from then on, while a store compacts.
    @Test(arguments: ErrorSweepTests.kinds) func everyCallFails(_ kind: ErrorSweepTests.Kind) throws {
        let quiet = SimulatedFileSystem()
        _ = try? Self.compactingRun(quiet)
        let calls = quiet.callCount()
        let places = Effort.places(1...calls, every: 4)
        for number in places {
            for losesUnflushed in [true, false] {
                let fileSystem = SimulatedFileSystem()
                fileSystem.inject(
                    SimulatedFileSystem.Fault(
                        kind.effect, atCall: number, repetition: kind.repetition,
                        flushLoss: losesUnflushed ? .everything : .nothing))
                let hint = "\(kind.name), call \(number) of \(calls), flush loses \(losesUnflushed)"
                let (model, acknowledged) = Self.stubbornRun(fileSystem)
                fileSystem.removeFaults()
                for image in [fileSystem.fork(), fileSystem.crashImage(policy: .strict, seed: UInt64(number))] {
                    do {
                        let store = try StoreWorkload.open(image, StoreWorkload.options())
                        #expect(
                            Int(store.snapshot.sequence) >= acknowledged,
                            "\(hint): transaction \(acknowledged) was acknowledged")
                        try model.check(store, hint)
                        #expect(try store.verify().problems.isEmpty, "\(hint): verify found damage")
                        try store.compact()
                        try model.check(store, hint + ", compacted")
                        try store.close()
                    } catch {
                        Issue.record("\(hint): \(error)")
                    }
                }
            }
        }
        print("compaction error sweep, \(kind.name): \(places.count * 2) runs")
    }

    private static func compactingRun(_ fileSystem: SimulatedFileSystem) throws -> StoreWorkload {
        let workload = StoreWorkload(seed: 77, fileSystem: fileSystem, compacts: false)
        try script(workload)
        return workload
    }

    private static func script(_ workload: StoreWorkload) throws {
        for _ in 0..<5 { try workload.commit() }
        try workload.opened().compact()
        for _ in 0..<3 { try workload.commit() }
        try workload.opened().mergeFreshRows(all: true)
        try workload.commit()
        try workload.opened().compact()
        try workload.commit()
        try workload.opened().mergeFreshRows(all: true)
    }

    /// Runs the script until something throws; the transaction that threw may have happened.
    private static func stubbornRun(_ fileSystem: SimulatedFileSystem) -> (model: StoreModel, acknowledged: Int) {
        let workload = StoreWorkload(seed: 77, fileSystem: fileSystem, compacts: false)
        try? script(workload)
        return (workload.model, workload.acknowledged)
    }

    /// Damage anywhere in a compacted store gives exact data or an error.
    @Test(arguments: Effort.seeds(2)) func damageIsNoticed(seed: UInt64) throws {
        let fileSystem = SimulatedFileSystem()
        let workload = StoreWorkload(seed: seed &+ 500, fileSystem: fileSystem, compacts: true)
        try workload.run(steps: 20)
        try workload.opened().compact()
        try workload.commit()
        try workload.close()
        var generator = SeededGenerator(seed: seed)
        let names = try fileSystem.list(StoreWorkload.path).filter { $0 != "LOCK" }
        for name in names {
            let path = StoreWorkload.path.appending(name)
            let length = try fileSystem.contents(of: path).count
            for _ in 0..<(200 * Effort.factor) where length > 0 {
                let image = fileSystem.fork()
                let offset = generator.below(length)
                try image.corrupt(path, .flipBit(offset: offset, bit: generator.below(8)))
                if generator.chance(0.5) {
                    for other in names where other.hasSuffix(".chk") && other != name {
                        try image.unlink(StoreWorkload.path.appending(other))
                    }
                }
                let hint = "seed \(seed), \(name), byte \(offset)"
                do {
                    let store = try StoreWorkload.open(image, StoreWorkload.options())
                    guard Int(store.snapshot.sequence) == workload.acknowledged else {
                        // The newest record, with nothing behind that says it was durable.
                        #expect(store.recovery.tornByteCount > 0, "\(hint): transactions are missing")
                        continue
                    }
                    try workload.model.check(store, hint)
                } catch let error as StoreError {
                    #expect(error.code == .corruption || error.code == .unsupportedFormat, "\(hint): \(error)")
                }
            }
        }
    }
}
