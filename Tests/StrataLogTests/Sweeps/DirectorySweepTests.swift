import StrataIO
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataLog

/// Making, replacing, migrating, restoring, destroying and closing stores: with a crash after every operation, and
/// after every operation of the opening that follows; with an error at every call; and with a second process at every
/// step, that reads, writes, makes, replaces or destroys the store itself.
///
/// Whatever comes of it, there is the store of before or of after, whole, or none where none is allowed; nothing
/// acknowledged is lost; what is not a store's file stays; and the next opening leaves nothing beside the store.
@Suite(.sweep, .serialized) struct DirectorySweepTests {
    typealias Policy = SimulatedFileSystem.CrashPolicy
    typealias Fixture = DirectoryFixture

    /// States that were examined, by kind of sweep.
    private static let tally = Mutex<[String: Int]>([:])

    private func count(_ kind: String, _ states: Int) {
        Self.tally.withLock { $0[kind, default: 0] += states }
    }

    /// All of them together: `make test` promises at least so many.
    @Test func aHundredThousandStatesAreExamined() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for work in DirectoryWork.all {
                group.addTask { try self.sweepCrashes(work) }
                group.addTask { try self.sweepErrors(work) }
                for other in SecondProcess.all { group.addTask { try self.sweep(work, beside: other) } }
            }
            try await group.waitForAll()
        }
        let tally = Self.tally.withLock { $0 }
        let sum = tally.values.reduce(0, +)
        print("directory sweep: \(sum) states", tally.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })
        #expect(sum >= 100_000)
    }

    // MARK: Checking

    /// Looks at a disk after everybody is gone.
    ///
    /// - Returns: what was found when it was opened for writing, and after how many operations that was over.
    @discardableResult
    private func check(
        _ image: SimulatedFileSystem, _ work: DirectoryWork, _ allowed: Set<DirectoryState>,
        _ hint: @autoclosure () -> String
    ) -> (state: DirectoryState, operations: Int)? {
        do {
            let read = try Fixture.look(image, .readOnly)
            let found = try Fixture.look(image, .readWrite)
            let operations = image.operationCount
            #expect(allowed.contains(found), "\(hint()): found \(found) instead of \(allowed)")
            // A reader brings nothing back whose replacement was interrupted between two steps; and it does not show
            // what was written completely but never acknowledged, which a writer keeps.
            let isInSteps = !work.canExchange && read == .none
            #expect(allowed.contains(read) || isInSteps, "\(hint()): a reader found \(read), a writer \(found)")
            if found == .none {
                if work.foreign.isEmpty {
                    let log = try #require(try Fixture.open(image, .readWrite, creates: true))
                    try log.close()
                } else {
                    #expect(throws: StoreError.self) { try Fixture.open(image, .readWrite, creates: true) }
                }
            }
            checkNames(image, work, hint())
            return (found, operations)
        } catch {
            Issue.record("\(hint()): \(error)")
            return nil
        }
    }

    private func checkNames(_ image: SimulatedFileSystem, _ work: DirectoryWork, _ hint: @autoclosure () -> String) {
        let names = (try? image.list("/d")) ?? []
        // The locks of the other two stores go when somebody writes those.
        let known: Set = ["store", "source", "backup", ".source.strata-lock", ".backup.strata-lock"]
        let leftovers = names.filter { !known.contains($0) }
        #expect(leftovers.isEmpty, "\(hint()): beside the store there are \(leftovers)")
        let inside = (try? image.list(Fixture.store)) ?? []
        for name in work.foreign { #expect(inside.contains(name), "\(hint()): \(name) is gone") }
    }

    // MARK: Crashes

    private func sweepCrashes(_ work: DirectoryWork) throws {
        let base = try work.fixture()
        let live = base.fork()
        if !work.canExchange { live.refuseExchange() }
        let succeeded = (try? work.run(live)) != nil
        #expect(succeeded != work.isRefused)
        var states = 0
        var cursor = live.trace.cursor()
        var seed: UInt64 = 0
        repeat {
            let isDone = cursor.position == live.trace.count
            let allowed: Set = isDone ? [work.after] : [work.before, work.after]
            for (policy, times) in [(Policy.killed, 1), (.strict, 5), (.ordered, 3), (.evil, 6)]
            where policy == .killed || cursor.hasUnsyncedChanges {
                for _ in 0..<times * Effort.factor {
                    seed += 1
                    let hint = "\(work.name), crash after operation \(cursor.position), \(policy), seed \(seed)"
                    let image = cursor.image(policy: policy, seed: seed)
                    if !work.canExchange { image.refuseExchange() }
                    let found = check(image, work, allowed, hint)
                    states += 1
                    // The opening itself is crashed for one state in a few, chosen by seed.
                    if let found, seed % 5 == 0 { states += sweepOpening(image, work, allowed, found, hint, seed) }
                }
            }
        } while cursor.advance()
        count("after crashes", states)
    }

    /// Crashes the opening that has dealt with a crash.
    private func sweepOpening(
        _ image: SimulatedFileSystem, _ work: DirectoryWork, _ allowed: Set<DirectoryState>,
        _ found: (state: DirectoryState, operations: Int),
        _ hint: String, _ seed: UInt64
    ) -> Int {
        var states = 0
        var cursor = image.trace.cursor()
        // What the check has made where there was nothing may be there as well.
        let made: Set = found.state == .none ? [DirectoryState(version: "empty")] : []
        repeat {
            // What a writer has been shown stays: it may have added to it.
            let allowed = (cursor.position < found.operations ? allowed : [found.state]).union(made)
            for policy in [Policy.killed, .strict, .evil] where policy == .killed || cursor.hasUnsyncedChanges {
                let again = cursor.image(policy: policy, seed: seed &* 31 &+ UInt64(states))
                if !work.canExchange { again.refuseExchange() }
                check(again, work, allowed, "\(hint), then in opening after operation \(cursor.position), \(policy)")
                states += 1
            }
        } while cursor.advance()
        return states
    }

    // MARK: Errors

    private func sweepErrors(_ work: DirectoryWork) throws {
        let base = try work.fixture()
        let quiet = base.fork()
        if !work.canExchange { quiet.refuseExchange() }
        let before = quiet.callCount()
        try? work.run(quiet)
        let calls = quiet.callCount() - before
        var states = 0
        typealias Fault = SimulatedFileSystem.Fault
        let faults: [(Int) -> Fault] = [
            { Fault(.fail(.ioError), atCall: $0) },
            { Fault(.fail(.ioError), atCall: $0, flushLoss: .some(seed: UInt64($0))) },
            { Fault(.fail(.noSpace), atCall: $0, flushLoss: .nothing) },
            { Fault(.fail(.ioError), atCall: $0, repetition: .always) },
        ]
        for call in 1...calls {
            for (index, fault) in faults.enumerated() {
                let live = base.fork()
                if !work.canExchange { live.refuseExchange() }
                live.inject(fault(call))
                let succeeded = (try? work.run(live)) != nil
                live.removeFaults()
                let allowed: Set =
                    succeeded ? [work.after] : [work.before, work.after]
                for policy in [Policy.killed, .strict, .evil] {
                    let image = live.crashImage(policy: policy, seed: UInt64(call))
                    if !work.canExchange { image.refuseExchange() }
                    check(image, work, allowed, "\(work.name), fault \(index) at call \(call), \(policy)")
                    states += 1
                }
            }
        }
        count("after errors", states)
    }

    /// A flush of a directory fails, some of what it was to write arrives all the same, and the machine stops while the
    /// rest is undone. Whoever removed the copy before the undoing was durable would lose the old store: its name was
    /// the copy's after the crash.
    @Test(arguments: DirectoryWork.all)
    func aFailedFlushAndACrashWhileItIsUndone(work: DirectoryWork) throws {
        let base = try work.fixture()
        let quiet = base.fork()
        if !work.canExchange { quiet.refuseExchange() }
        try? work.run(quiet)
        for call in 1...max(1, quiet.callCount(of: .syncDirectory)) {
            for loss in 0..<4 as Range<UInt64> {
                let live = base.fork()
                if !work.canExchange { live.refuseExchange() }
                live.inject(
                    SimulatedFileSystem.Fault(
                        .fail(.ioError), atCall: call, of: .syncDirectory, flushLoss: .some(seed: loss)))
                try? work.run(live)
                var cursor = live.trace.cursor()
                while cursor.advance() {
                    guard live.trace.operations[..<cursor.position].contains(where: { $0.failure != nil }) else {
                        continue
                    }
                    for seed in 0..<3 as Range<UInt64> {
                        let image = cursor.image(policy: .strict, seed: seed &+ UInt64(cursor.position) &* 31)
                        if !work.canExchange { image.refuseExchange() }
                        check(
                            image, work, [work.before, work.after],
                            "\(work.name), failed flush \(call) (\(loss)), crash after \(cursor.position), seed \(seed)"
                        )
                    }
                }
            }
        }
    }

    /// Without a swap of names the store has none for a moment, and readers find nothing. Once the replacement has
    /// returned they find the new store, whatever becomes of the old one's files: with the last name not flushed they
    /// found nothing after a crash, until somebody opened the store for writing.
    @Test func aReplacementInStepsHasItsNameWhenItReturns() throws {
        let work = DirectoryWork.replaceInSteps
        let live = try work.fixture()
        live.refuseExchange()
        live.inject(
            SimulatedFileSystem.Fault(
                .fail(.ioError), of: .openDirectory, pathSuffix: ".strata-old", repetition: .always))
        try work.run(live)
        #expect(live.firedFaultCount > 0)
        for seed in 0..<40 as Range<UInt64> {
            for policy in [Policy.strict, .evil] {
                let image = live.crashImage(policy: policy, seed: seed)
                #expect(try Fixture.look(image, .readOnly) == work.after, "\(policy), seed \(seed)")
            }
        }
    }

    /// Whoever opens a store for writing ends an interrupted replacement first. The store's name has to be durable
    /// then: otherwise what was saved since had no name after a crash, and readers found nothing.
    @Test(arguments: ["strata-new", "strata-old"])
    func anInterruptedReplacementIsEndedDurably(_ suffix: String) throws {
        let disk = try DirectoryWork.replaceInSteps.fixture()
        try disk.rename(Fixture.store, to: FilePath("/d/store.\(suffix)"))
        try disk.syncDirectory("/d")
        let log = try #require(try Fixture.open(disk, .readWrite))
        try Fixture.add("+here", 1, to: log)
        for seed in 0..<40 as Range<UInt64> {
            let found = try Fixture.look(disk.crashImage(policy: .strict, seed: seed), .readOnly)
            #expect(found == DirectoryState(version: "old", added: ["+later", "+here"]), "seed \(seed)")
        }
        try log.close()
    }

    // MARK: A second process

    private func sweep(_ work: DirectoryWork, beside other: SecondProcess) throws {
        let base = try work.fixture()
        var step = 0
        var states = 0
        while true {
            let shared = base.fork()
            if !work.canExchange { shared.refuseExchange() }
            let process = SimulatedProcess(shared)
            let second = other.start(shared)
            var position = 0
            process.interleave = {
                position += 1
                if position == step + 1 { second.act() }
            }
            let succeeded = (try? work.run(process)) != nil
            process.interleave = {}
            guard position > step else { break }
            second.end()
            let hint = "\(work.name) beside \(other.name) at step \(step)"
            for failure in second.failures { Issue.record("\(hint): \(failure)") }
            let allowed = second.outcomes(of: work, succeeded: succeeded)
            for (policy, seed) in [(Policy.killed, 0), (.strict, 1), (.strict, 2), (.evil, 3)] {
                let image = shared.crashImage(policy: policy, seed: UInt64(step * 8 + seed))
                if !work.canExchange { image.refuseExchange() }
                check(image, work, allowed, "\(hint), \(policy)")
                states += 1
            }
            step += 1
        }
        #expect(step > 5 || work.isRefused)
        count("beside a second process", states)
    }
}
