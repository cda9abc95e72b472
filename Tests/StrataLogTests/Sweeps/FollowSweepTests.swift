import StrataSupport
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog

/// One writer and two followers over one simulated file system, interleaved at every call that the writer makes. It is
/// killed in the middle of calls, its writes and flushes fail, and others go on in its place. In every other run it
/// compacts.
@Suite struct FollowSweepTests {
    /// A process that reads: it follows, and now and then it is another one that starts anew.
    final class Follower {
        private var store: LogStore?
        private let fileSystem: SimulatedFileSystem
        private let name: String
        /// The newest transaction it has shown, and that it has told of.
        private(set) var shown: UInt64 = 0
        private(set) var refreshes = 0
        private(set) var openings = 0
        private var history: HistoryReader?
        private var told: UInt64 = 0
        private var pinned: (snapshot: Snapshot, count: Int)?

        init(_ fileSystem: SimulatedFileSystem, _ name: String) {
            self.fileSystem = fileSystem
            self.name = name
        }

        func restart() { store = nil }

        /// Looks once; what is shown must be a state that the model knows, and never an older one.
        func look(_ model: StoreModel, checking: Bool) throws {
            if store == nil { try open() }
            guard let store else { return }
            do {
                if try store.refresh() { refreshes += 1 }
            } catch {
                // Making the store failed, and it was taken away again with its first segment.
                guard shown == 0 else { throw error }
                self.store = nil
                return
            }
            let sequence = store.snapshot.sequence
            #expect(sequence >= shown, "\(name) saw transaction \(shown), and then only \(sequence)")
            shown = max(shown, sequence)
            try tell(store)
            if checking {
                try model.check(store, name)
                if let pinned {
                    #expect(pinned.snapshot.count(entity: SampleSchema.person) == pinned.count)
                }
                pinned = (store.snapshot, store.snapshot.count(entity: SampleSchema.person))
            }
        }

        private func open() throws {
            var options = StoreWorkload.options()
            options.access = .readOnly
            do {
                store = try LogStore.open(StoreWorkload.path, in: fileSystem, options: options, schema: nil)
            } catch {
                guard shown == 0 else { throw error }
                return
            }
            openings += 1
            history = nil
        }

        /// Every transaction once, in order, over all restarts.
        private func tell(_ store: LogStore) throws {
            if history != nil {
                try history?.advance(to: store.snapshot)
            } else {
                history = try store.history(after: told)
            }
            while let transaction = try history?.next() {
                #expect(transaction.sequence == told + 1, "\(name) told \(told), and then \(transaction.sequence)")
                told = transaction.sequence
            }
            #expect(told == store.snapshot.sequence)
        }
    }

    @Test(arguments: [LogOptions.Durability.full, .os])
    func followersShowOnlyWhatStays(_ durability: LogOptions.Durability) throws {
        let first = Effort.seed
        var tally = (deaths: 0, refreshes: 0, openings: 0, transactions: 0)
        for seed in first..<first + UInt64(Effort.repetitions(BuildMode.isDebug ? 40 : 300)) {
            do {
                try run(seed, durability, &tally)
            } catch {
                Issue.record("seed \(seed), \(durability): \(error)")
                return
            }
        }
        print(
            "follow sweep, \(durability), seeds from \(first): \(tally.transactions) transactions, \(tally.deaths) deaths, "
                + "\(tally.refreshes) refreshes, \(tally.openings) openings")
        #expect(tally.deaths > 0 && tally.refreshes > 0)
    }

    private func run(
        _ seed: UInt64, _ durability: LogOptions.Durability,
        _ tally: inout (deaths: Int, refreshes: Int, openings: Int, transactions: Int)
    ) throws {
        let fileSystem = SimulatedFileSystem()
        var random = SeededGenerator(seed: seed &* 31 &+ 7)
        let workload = StoreWorkload(
            seed: seed, fileSystem: fileSystem, options: StoreWorkload.options(durability), compacts: seed % 2 == 1)
        let followers = [
            Follower(fileSystem, "follower A, seed \(seed)"), Follower(fileSystem, "follower B, seed \(seed)"),
        ]
        var process = startProcess(fileSystem, workload, followers, seed)
        try resume(workload, &process, fileSystem, followers, &random)
        for _ in 0..<40 {
            do {
                try workload.run(steps: 1)
            } catch let error as StoreError {
                // A full disk, a failed flush or death. Whether the transaction counts is known after opening again.
                guard [.io, .readOnly, .locked].contains(error.code) else { throw error }
                process.die()
            }
            // What the code of a dead process has announced since, it has not.
            if process.isDead { process.undoLateStores() }
            for follower in followers {
                if random.chance(0.1) { follower.restart() }
                if random.chance(0.5) { try follower.look(workload.model, checking: true) }
            }
            guard process.isDead || random.chance(0.03) else { continue }
            process.undoLateStores()
            tally.deaths += 1
            for follower in followers where random.chance(0.5) {
                try follower.look(workload.model, checking: true)
            }
            process = startProcess(fileSystem, workload, followers, seed &+ random.next())
            try resume(workload, &process, fileSystem, followers, &random)
        }
        // The last call of opening may have been the last of the process.
        while process.isDead {
            process.undoLateStores()
            process = startProcess(fileSystem, workload, followers, seed &+ random.next())
            try resume(workload, &process, fileSystem, followers, &random)
        }
        try finish(workload, followers, process)
        tally.transactions += workload.model.states.count - 1
        for follower in followers {
            tally.refreshes += follower.refreshes
            tally.openings += follower.openings
        }
    }

    /// Opens the store in new processes until one survives that.
    private func resume(
        _ workload: StoreWorkload, _ process: inout SimulatedProcess, _ fileSystem: SimulatedFileSystem,
        _ followers: [Follower], _ random: inout SeededGenerator
    ) throws {
        while true {
            do {
                try workload.resume(in: process)
                let sequence = UInt64(workload.model.states.count - 1)
                for follower in followers {
                    #expect(follower.shown <= sequence, "transaction \(follower.shown) was shown and then lost")
                }
                return
            } catch let error as StoreError where error.code == .io {
                process.undoLateStores()
                process = startProcess(fileSystem, workload, followers, random.next())
            }
        }
    }

    private func finish(_ workload: StoreWorkload, _ followers: [Follower], _ process: SimulatedProcess) throws {
        process.verdict = { _ in .done }
        try workload.commit()
        for follower in followers {
            try follower.look(workload.model, checking: true)
            #expect(follower.shown == UInt64(workload.model.states.count - 1))
        }
    }

    /// A process that dies after some calls and whose calls sometimes fail; at each call a follower may look.
    private func startProcess(
        _ fileSystem: SimulatedFileSystem, _ workload: StoreWorkload, _ followers: [Follower], _ seed: UInt64
    ) -> SimulatedProcess {
        let process = SimulatedProcess(fileSystem)
        var random = SeededGenerator(seed: seed)
        var callsLeft = random.below(120) + 4
        // After a failed flush the records have to get to another segment, by this process or, when it dies before, by
        // the next: two failures in a row may lose what a weak durability has acknowledged.
        var callsWithoutFailure = 40
        process.verdict = { kind in
            callsLeft -= 1
            callsWithoutFailure -= 1
            if callsLeft == 0 {
                return kind == .write && random.chance(0.7)
                    ? .partial(random.below(3000), dies: true)
                    : random.chance(0.5) ? .doneAndDies : .partial(0, dies: true)
            }
            guard callsWithoutFailure <= 0, random.chance(0.03) else { return .done }
            callsWithoutFailure = 40
            // Nor must it die before it has got them there.
            if kind == .flush { callsLeft = max(callsLeft, 40) }
            return switch kind {
            case .write: .partial(random.below(2000), dies: false)
            case .flush: .fails(.ioError)
            case .other: .done
            }
        }
        process.interleave = {
            for follower in followers where random.chance(0.25) {
                if random.chance(0.1) { follower.restart() }
                do {
                    try follower.look(workload.model, checking: random.chance(0.2))
                } catch {
                    Issue.record("in the middle of a call: \(error)")
                }
            }
        }
        return process
    }
}
