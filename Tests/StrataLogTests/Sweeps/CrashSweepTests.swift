import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Crashes after every operation of random workloads, and after every operation of the recovery that follows.
///
/// Whatever the crash leaves: opening succeeds without help, every acknowledged commit is there, none is there in
/// part, and the store is the model's state at one transaction. (Lost otherwise: whole saves, or the middle of one.)
@Suite(.sweep) struct CrashSweepTests {
    typealias Policy = SimulatedFileSystem.CrashPolicy

    /// States examined by one seed.
    struct Tally {
        var states = 0
        var recoveryStates = 0
        var tornTails = 0
        var lostUnacknowledged = 0
    }

    @Test(arguments: Effort.seeds(12))
    func everyCrashLeavesAPrefix(seed: UInt64) throws {
        let fileSystem = SimulatedFileSystem()
        let workload = StoreWorkload(seed: seed, fileSystem: fileSystem)
        try workload.run(steps: 30)
        let tally = try Self.sweep(fileSystem.trace, workload.model, StoreWorkload.options(), seed: seed)
        print(
            "crash sweep seed \(seed): \(tally.states) states, \(tally.recoveryStates) of them in recovery, "
                + "\(tally.tornTails) torn tails cut")
        #expect(tally.states > 500)
    }

    @Test(arguments: [LogOptions.Durability.os, .interval(milliseconds: 100_000)], Effort.seeds(4))
    func weakerDurabilityLosesOnlyTheNewest(_ durability: LogOptions.Durability, seed: UInt64) throws {
        let fileSystem = SimulatedFileSystem()
        let workload = StoreWorkload(
            seed: seed &+ 1000, fileSystem: fileSystem, options: StoreWorkload.options(durability))
        try workload.run(steps: 20)
        let tally = try Self.sweep(
            fileSystem.trace, workload.model, StoreWorkload.options(durability), seed: seed, isWeak: true)
        print(
            "crash sweep \(durability) seed \(seed): \(tally.states) states, \(tally.lostUnacknowledged) lost a suffix")
    }

    static func sweep(
        _ trace: SimulatedFileSystem.Trace, _ model: StoreModel, _ options: LogOptions, seed: UInt64,
        isWeak: Bool = false
    ) throws -> Tally {
        var tally = Tally()
        var cursor = trace.cursor()
        var crashSeed = seed &* 1_000_003
        repeat {
            let notes = cursor.notes.compactMap { Int($0) }
            let acknowledged = notes.last ?? 0
            let policies: [(Policy, Int)] = [(.killed, 1), (.strict, 3), (.ordered, 1), (.evil, 2)]
            for (policy, count) in policies where policy == .killed || cursor.hasUnsyncedChanges {
                for _ in 0..<count {
                    crashSeed += 1
                    let hint =
                        "seed \(seed), crash after operation \(cursor.position), \(policy), crash seed \(crashSeed)"
                    let image = cursor.image(policy: policy, seed: crashSeed)
                    let floor = isWeak && policy != .killed ? 0 : acknowledged
                    try check(image, model, options, floor: floor, acknowledged: acknowledged, hint, &tally)
                    // Recovery itself is crashed at every operation for one state in a few, chosen by seed.
                    if crashSeed % 5 == 0 {
                        try sweepRecovery(image, model, options, floor: floor, isWeak: isWeak, hint, crashSeed, &tally)
                    }
                }
            }
        } while cursor.advance()
        return tally
    }

    /// Opens the image, which was found after a crash, and compares it with the model.
    private static func check(
        _ image: SimulatedFileSystem, _ model: StoreModel, _ options: LogOptions, floor: Int, acknowledged: Int,
        _ hint: String, _ tally: inout Tally
    ) throws {
        tally.states += 1
        let store: LogStore
        do {
            store = try StoreWorkload.open(image, options)
        } catch {
            Issue.record("\(hint): opening was refused: \(error)")
            return
        }
        if store.recovery.tornByteCount > 0 { tally.tornTails += 1 }
        let sequence = Int(store.snapshot.sequence)
        #expect(sequence >= floor, "\(hint): transaction \(floor) was acknowledged, the store ends at \(sequence)")
        if sequence < acknowledged { tally.lostUnacknowledged += 1 }
        do {
            try model.check(store, hint)
            if tally.states % 16 == 0 {
                try model.checkHistory(store, hint)
                #expect(try store.verify().problems.isEmpty, "\(hint): verify found damage")
            }
        } catch {
            Issue.record("\(hint): reading failed: \(error)")
        }
    }

    private static func sweepRecovery(
        _ image: SimulatedFileSystem, _ model: StoreModel, _ options: LogOptions, floor: Int, isWeak: Bool,
        _ hint: String, _ crashSeed: UInt64, _ tally: inout Tally
    ) throws {
        // The trace of the image begins with the recovery that `check` made; one more commit shows that the log can
        // go on.
        var cursor = image.trace.cursor()
        var seed = crashSeed &* 31
        repeat {
            for policy in [Policy.killed, .strict, .evil] where policy == .killed || cursor.hasUnsyncedChanges {
                seed += 1
                let again = cursor.image(policy: policy, seed: seed)
                // What only the process's death spared can still be lost with the power before recovery has flushed it.
                let floor = isWeak && policy != .killed ? 0 : floor
                try check(
                    again, model, options, floor: floor, acknowledged: floor,
                    "\(hint), then in recovery after operation \(cursor.position), \(policy), seed \(seed)", &tally)
                tally.recoveryStates += 1
            }
        } while cursor.advance()
    }

    /// After any crash the store takes new commits, and those survive the next crash.
    @Test(arguments: Effort.seeds(6))
    func theLogGoesOnAfterACrash(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var fileSystem = SimulatedFileSystem()
        var model = StoreModel()
        for round in 0..<40 {
            let options = StoreWorkload.options()
            let workload = StoreWorkload(seed: seed &* 100 &+ UInt64(round), fileSystem: fileSystem)
            workload.model = model
            let start = fileSystem.operationCount
            fileSystem.crash(atOperation: start + generator.below(60))
            try? workload.run(steps: 10)
            let policy = Policy.allCases[generator.below(4)]
            fileSystem = fileSystem.crashImage(policy: policy, seed: generator.next())
            let store = try StoreWorkload.open(fileSystem, options)
            let hint = "seed \(seed), round \(round), \(policy)"
            #expect(Int(store.snapshot.sequence) >= workload.acknowledged, "\(hint): an acknowledged commit is lost")
            model = StoreModel()
            for state in workload.model.states.dropFirst().prefix(Int(store.snapshot.sequence)) { model.commit(state) }
            try model.check(store, hint)
            try model.checkHistory(store, hint)
        }
    }
}
