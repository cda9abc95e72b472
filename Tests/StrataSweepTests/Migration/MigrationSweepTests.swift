import CoreData
import Foundation
import StrataIO
import StrataTestKit
import SystemPackage
import Testing

@testable import Strata

/// Every kind of migration: with a crash after every operation, an error at every call, and another coordinator or
/// process at every step.
///
/// Whatever comes of it, the store is there whole, in the model of before, of after, or of a stage between; nothing
/// acknowledged is lost; what is not a store's file stays; and the migration, begun again, comes to its end.
///
/// A debug build looks at one of the steps; a release build at every fifth, others each day. A soak and a search for
/// mutants, in release, and `STRATA_SWEEPS=1` look at all.
@Suite struct MigrationSweepTests {
    typealias Policy = SimulatedFileSystem.CrashPolicy
    typealias Fixture = MigrationFixture

    /// The steps that are looked at.
    private static func steps(_ count: Int) -> [Int] {
        if isComplete { return Array(0..<count) }
        if BuildMode.isDebug { return Array(count / 2..<min(count / 2 + 1, count)) }
        // Faults and policies go by steps modulo 2 and 3: each of them meets some of these.
        return Array(stride(from: min(day % 5, count / 2), to: count, by: 5))
    }
    private static let environment = ProcessInfo.processInfo.environment
    private static let isComplete =
        environment["STRATA_SWEEPS"] == "1"
        || !BuildMode.isDebug && (environment["STRATA_SOAK"] != nil || environment["STRATA_SHARE"] != nil)
    private static let day = Int(Date().timeIntervalSince1970 / 86_400)

    // MARK: Checking

    /// Looks at a disk after everybody is gone, and migrates what is there.
    private func check(
        _ image: SimulatedFileSystem, _ work: MigrationWork, _ allowed: Set<MigratedState>,
        _ hint: @autoclosure () -> String
    ) {
        do {
            for readOnly in [true, false] {
                let found = try Fixture.look(image, at: work.target, work.models(), readOnly: readOnly)
                #expect(allowed.contains(found), "\(hint()): found \(found), read-only \(readOnly)")
                guard allowed.contains(found) else { return }
            }
            let isDone = try Fixture.look(image, at: work.target, work.models(), readOnly: true).version != nil
            if !isDone || !work.makesAnother { try work.run(image) }
            let ends = allowed.filter { $0.version != nil }.map {
                MigratedState(version: work.after.version, people: $0.people)
            }
            let found = try Fixture.look(image, at: work.target, work.models(), readOnly: false)
            let isRight = ends.contains(found) || found == work.after && work.makesAnother
            #expect(isRight, "\(hint()): migrated again, \(found)")
            if work.makesAnother {
                let source = try Fixture.look(image, at: Fixture.store, [Fixture.first], readOnly: false)
                #expect(source.people.filter { $0 != Running.person } == Fixture.people, "\(hint()): source \(source)")
            }
            let known: Set = [
                "store", "store-wal", "store-shm", "new", "new-wal", "new-shm", "store.strata-notes",
            ]
            let names = try image.list(Fixture.directory)
            #expect(known.isSuperset(of: names), "\(hint()): beside the store there are \(names)")
            #expect(names.contains("store.strata-notes"), "\(hint()): a file that is not the store's is gone")
        } catch {
            Issue.record("\(hint()): \(error)")
        }
    }

    private typealias Running = MigrationBystander.Running

    // MARK: Crashes

    @Test(arguments: MigrationWork.all) func aCrashLeavesAStoreThatCanBeMigrated(_ work: MigrationWork) throws {
        let live = try Fixture.disk()
        try work.run(live)
        var cursor = live.trace.cursor()
        let steps = Self.steps(live.trace.count)
        var states = 0
        repeat {
            let isDone = cursor.position == live.trace.count
            guard isDone || steps.contains(cursor.position) else { continue }
            let allowed: Set = isDone ? [work.after] : work.allowed
            for (policy, times) in [(Policy.killed, 1), (.strict, 2), (.ordered, 1), (.evil, 2)]
            where policy == .killed || cursor.hasUnsyncedChanges {
                for time in 0..<(Self.isComplete ? times : 1) {
                    states += 1
                    // The same whichever steps are looked at.
                    let seed = UInt64(cursor.position * 2 + time)
                    let hint = "\(work.name), crash after operation \(cursor.position), \(policy), seed \(seed)"
                    check(cursor.image(policy: policy, seed: seed), work, allowed, hint)
                }
            }
        } while cursor.advance()
        #expect(states > 1)
        print("migration sweep: \(work.name), \(states) states after crashes, \(live.trace.count) operations")
    }

    // MARK: Errors

    @Test(arguments: MigrationWork.all) func anErrorLeavesAStoreThatCanBeMigrated(_ work: MigrationWork) throws {
        typealias Fault = SimulatedFileSystem.Fault
        let base = try Fixture.disk()
        let quiet = base.fork()
        let before = quiet.callCount()
        try work.run(quiet)
        let faults: [(Int) -> Fault] = [
            { Fault(.fail(.ioError), atCall: $0) },
            { Fault(.fail(.ioError), atCall: $0, flushLoss: .some(seed: UInt64($0))) },
            { Fault(.fail(.noSpace), atCall: $0, flushLoss: .nothing) },
            { Fault(.fail(.ioError), atCall: $0, repetition: .always) },
        ]
        var states = 0
        let calls = quiet.callCount() - before
        for call in Self.steps(calls).map({ $0 + 1 }) {
            // One that happens once, of the three by turns, and one that stays.
            for index in [call % 3, 3] {
                let live = base.fork()
                live.inject(faults[index](call))
                let succeeded = (try? work.run(live)) != nil
                live.removeFaults()
                let allowed: Set = succeeded ? [work.after] : work.allowed
                let hint = "\(work.name), fault \(index) at call \(call)"
                let policy: Policy = call % 2 == 0 ? .killed : .evil
                check(live.crashImage(policy: policy, seed: UInt64(call)), work, allowed, "\(hint), then \(policy)")
                // The process itself goes on: it has let go of everything.
                check(live, work, allowed, "\(hint), in the same process")
                states += 2
            }
        }
        print("migration sweep: \(work.name), \(states) states after errors")
    }

    // MARK: Somebody else

    @Test(arguments: MigrationWork.all, MigrationBystander.all)
    func nobodyLosesWhatWasSavedBeside(_ work: MigrationWork, _ bystander: MigrationBystander) throws {
        // A manager makes another store and has not reserved the one that it reads.
        if work.makesAnother, bystander.isSameProcess { return }
        let base = try Fixture.disk()
        var states = 0
        // Nobody acts in the first round: it counts the steps.
        var steps = [-1]
        while !steps.isEmpty {
            let step = steps.removeFirst()
            let disk = base.fork()
            let process = SimulatedProcess(disk)
            let other = Running(bystander, work, disk)
            var position = 0
            process.interleave = {
                guard other.canAct else { return }
                position += 1
                if position == step + 1 { other.act() }
            }
            let succeeded = (try? work.run(process)) != nil
            process.interleave = {}
            if step < 0 {
                steps = Self.steps(position)
                continue
            }
            guard other.hasActed else { break }
            other.end()
            let hint = "\(work.name) beside \(bystander.testDescription) at step \(step)"
            for failure in other.failures { Issue.record("\(hint): \(failure)") }
            var allowed: Set = succeeded ? [work.after] : work.allowed
            if other.hasAdded {
                let added = allowed.filter { $0.version != nil }.map { state in
                    MigratedState(version: state.version, people: (state.people + [Running.person]).sorted())
                }
                // A newer program may have done the migration instead; another store is of before or after.
                allowed = work.makesAnother ? allowed.union(added) : Set(added)
                if bystander.kind == .newerWriter {
                    allowed.insert(
                        MigratedState(version: work.after.version, people: (Fixture.people + [Running.person]).sorted())
                    )
                }
            }
            let policy: Policy = states % 2 == 0 ? .killed : .strict
            check(disk.crashImage(policy: policy, seed: UInt64(step)), work, allowed, "\(hint), \(policy)")
            states += 1
        }
        #expect(states > 0, "\(bystander.testDescription) never came to act")
        print("migration sweep: \(work.name) beside \(bystander.testDescription), \(states) states")
    }
}
