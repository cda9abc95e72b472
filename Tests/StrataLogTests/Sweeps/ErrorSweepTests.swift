import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// Makes the N-th call to the file system fail, for every N, in every way.
///
/// A commit that throws leaves nothing visible, one that returns is never lost, nothing traps, and once the disk
/// works again so does the store.
@Suite(.sweep) struct ErrorSweepTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        var effect: SimulatedFileSystem.Fault.Effect
        var repetition: SimulatedFileSystem.Fault.Repetition
        var testDescription: String { name }
    }

    static let kinds: [Kind] = [
        Kind(name: "EIO once", effect: .fail(.ioError), repetition: .once),
        Kind(name: "EIO from then on", effect: .fail(.ioError), repetition: .always),
        Kind(name: "ENOSPC once", effect: .fail(.noSpace), repetition: .once),
        Kind(name: "ENOSPC from then on", effect: .fail(.noSpace), repetition: .always),
        Kind(name: "EINTR once", effect: .fail(.interrupted), repetition: .once),
        Kind(name: "short once", effect: .short(maximumByteCount: 100), repetition: .once),
        Kind(name: "short from then on", effect: .short(maximumByteCount: 700), repetition: .always),
    ]

    /// A workload that goes on when a step fails, as a service would.
    private final class Stubborn {
        let fileSystem: SimulatedFileSystem
        var states: [StoreModel.Contents] = [[:]]
        var uncertain: [StoreModel.Contents] = []
        var failures = 0
        private var generator: SeededGenerator
        private var store: LogStore?
        private var nextName = 0

        init(_ fileSystem: SimulatedFileSystem, seed: UInt64) {
            self.fileSystem = fileSystem
            generator = SeededGenerator(seed: seed)
        }

        func run() {
            for step in 0..<14 {
                do {
                    if store == nil { store = try StoreWorkload.open(fileSystem, StoreWorkload.options()) }
                    guard let store else { continue }
                    switch step {
                    case 5: try store.checkpoint()
                    case 9:
                        self.store = nil
                        try store.close()
                    default: try commit(store, large: step == 3 || step == 7)
                    }
                } catch {
                    failures += 1
                    // A store that refuses to be written is opened again, as its error says.
                    if let failure = error as? StoreError, failure.code == .readOnly { store = nil }
                }
            }
            store = nil
        }

        private func commit(_ store: LogStore, large: Bool) throws {
            var contents = states[states.count - 1]
            guard store.snapshot.sequence == UInt64(states.count - 1) else {
                // A commit whose outcome was unknown turned out to have happened.
                guard let maybe = uncertain.last, store.snapshot.sequence == UInt64(states.count) else {
                    Issue.record("the store shows \(store.snapshot.sequence) of \(states.count - 1) transactions")
                    return
                }
                states.append(maybe)
                return
            }
            let transaction = store.makeTransaction()
            let writer = transaction.writer(for: SampleSchema.person)
            let key = try store.allocateKeys(root: SampleSchema.person, count: 2)
            for offset in 0..<2 {
                nextName += 1
                let notes = [UInt8](repeating: UInt8(truncatingIfNeeded: nextName), count: large ? 40_000 : 300)
                let person = StoreModel.Person(
                    name: "n\(nextName)", age: 1, department: ObjectRef(entity: SampleSchema.department, key: 1),
                    notes: notes)
                writer.beginInsert(key: key + UInt64(offset))
                writer.set(0, person.name)
                writer.set(1, person.age)
                writer.set(4, person.department)
                notes.withUnsafeBytes { writer.set(6, bytes: $0) }
                writer.endRow()
                contents[ObjectRef(entity: SampleSchema.person, key: key + UInt64(offset))] = person
            }
            if let victim = states[states.count - 1].keys.min(), generator.chance(0.5) {
                let row = try #require(try store.snapshot.row(victim))
                try transaction.delete(victim, replacing: row.version)
                contents[victim] = nil
            }
            do {
                _ = try store.commit(transaction)
                states.append(contents)
            } catch {
                uncertain.append(contents)
                throw error
            }
        }
    }

    @Test(arguments: kinds) func everyCallFails(_ kind: Kind) throws {
        let quiet = SimulatedFileSystem()
        Stubborn(quiet, seed: 1).run()
        let calls = quiet.callCount()
        var failures = 0
        for number in 1...calls {
            for losesUnflushed in [true, false] {
                let fileSystem = SimulatedFileSystem()
                fileSystem.inject(
                    SimulatedFileSystem.Fault(
                        kind.effect, atCall: number, repetition: kind.repetition,
                        flushLoss: losesUnflushed ? .everything : .nothing))
                let workload = Stubborn(fileSystem, seed: 1)
                workload.run()
                failures += workload.failures
                fileSystem.removeFaults()
                let hint = "\(kind.name), call \(number) of \(calls), flush loses \(losesUnflushed)"
                try check(fileSystem.fork(), workload, hint)
                try check(
                    fileSystem.crashImage(policy: .strict, seed: UInt64(number)), workload, hint + ", then power loss")
            }
        }
        print("error sweep, \(kind.name): \(calls * 2) runs, \(failures) failed steps")
    }

    private func check(_ fileSystem: SimulatedFileSystem, _ workload: Stubborn, _ hint: String) throws {
        let store: LogStore
        do {
            store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        } catch {
            Issue.record("\(hint): opening was refused: \(error)")
            return
        }
        var model = StoreModel()
        for state in workload.states.dropFirst() { model.commit(state) }
        let acknowledged = workload.states.count - 1
        let sequence = Int(store.snapshot.sequence)
        #expect(
            sequence >= acknowledged,
            "\(hint): transaction \(acknowledged) was acknowledged, the store ends at \(sequence)")
        if sequence == acknowledged + 1, let maybe = workload.uncertain.last {
            // Thrown as "outcome unknown": whole or not at all.
            model.commit(maybe)
        }
        try model.check(store, hint)
        #expect(try store.verify().problems.isEmpty, "\(hint): verify found damage")
        let transaction = store.makeTransaction()
        let writer = transaction.writer(for: SampleSchema.person)
        writer.beginInsert(key: try store.allocateKeys(root: SampleSchema.person, count: 1))
        writer.endRow()
        _ = try store.commit(transaction)
        try store.close()
    }

    /// A failed flush must not be retried on its file: the commit is written again elsewhere and is durable when it
    /// returns.
    @Test func aFailedFlushIsMadeGoodElsewhere() throws {
        let fileSystem = SimulatedFileSystem()
        let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        let first = try StoreTests.insert(store, 3, department: .null)
        fileSystem.inject(
            SimulatedFileSystem.Fault(.fail(.ioError), atCall: 1, of: .syncData, flushLoss: .everything))
        let second = try StoreTests.insert(store, 3, department: .null)
        #expect(store.statistics.relocations == 1)
        #expect(store.snapshot.end.segment == 2)
        let third = try StoreTests.insert(store, 3, department: .null)
        for seed in 0..<20 {
            let image = fileSystem.crashImage(policy: .strict, seed: UInt64(seed))
            let reopened = try StoreWorkload.open(image, StoreWorkload.options())
            for person in first + second + third { #expect(try reopened.snapshot.row(person) != nil) }
            #expect(try reopened.verify().problems.isEmpty)
        }
    }

    @Test func aStoreWhoseDiskRefusesEverythingSaysSoAndRecovers() throws {
        let fileSystem = SimulatedFileSystem()
        let store = try StoreWorkload.open(fileSystem, StoreWorkload.options())
        let kept = try StoreTests.insert(store, 3, department: .null)
        fileSystem.inject(
            SimulatedFileSystem.Fault(
                .fail(.ioError), atCall: 1, of: .syncData, repetition: .always, flushLoss: .everything))
        fileSystem.inject(
            SimulatedFileSystem.Fault(
                .fail(.ioError), atCall: 1, of: .sync, repetition: .always, flushLoss: .everything))
        let error = #expect(throws: StoreError.self) { try StoreTests.insert(store, 3, department: .null) }
        #expect(error?.code == .readOnly)
        #expect(error?.errno == .ioError)
        for person in kept { #expect(try store.snapshot.row(person) != nil) }
        fileSystem.removeFaults()
        #expect(throws: StoreError.self) { try StoreTests.insert(store, 1, department: .null) }
        try? store.close()
        let reopened = try StoreWorkload.open(fileSystem.fork(), StoreWorkload.options())
        for person in kept { #expect(try reopened.snapshot.row(person) != nil) }
        _ = try StoreTests.insert(reopened, 1, department: .null)
    }
}
