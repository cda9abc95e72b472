import StrataIO
import StrataLog
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One process that writes and two that follow; again and again one of them is killed and started anew. No follower may
/// see a transaction that is not as planned, miss one, see one twice, or see one that does not stay.
struct FollowLoop {
    /// A new store is begun after so long, so that those who start anew catch up quickly.
    private static let millisecondsPerStore = 12_000
    private static let patienceMilliseconds = 60_000

    private struct Consumer {
        var process: ChildProcess
        /// The last transaction it has told.
        var told: UInt64 = 0
    }

    private struct Tally {
        var transactions: UInt64 = 0
        var writers = 0
        var followers = 0
    }

    private let path: FilePath
    private var random: UInt64
    private var writer: ChildProcess
    /// What the writers have acknowledged.
    private var acknowledged: UInt64 = 0
    /// What the store had when the writer of now found it; nil until it tells.
    private var found: UInt64?
    /// The newest transaction that a follower had told when the writer was killed last: it has to stay.
    private var shownBeforeKill: UInt64 = 0
    private var consumers: [Consumer]
    private var tally = Tally()

    static func run(seconds: Int, seed: UInt64) throws {
        let base = try KillLoop.makeDirectory()
        print("follow loop: \(seconds) s, seed \(seed), in \(base)")
        let end = Children.now() + seconds * 1000
        var total = Tally()
        var number: UInt64 = 0
        repeat {
            let path = FilePath(base).appending("store-\(number)")
            var loop = try FollowLoop(path, random: Plan.mix(seed &* 1_000_003 &+ number))
            try loop.run(until: min(end, Children.now() + millisecondsPerStore))
            total.transactions += loop.tally.transactions
            total.writers += loop.tally.writers
            total.followers += loop.tally.followers
            try KillLoop.remove(path)
            number += 1
        } while Children.now() < end
        rmdir(base)
        print(
            "follow loop: \(total.transactions) transactions seen by two followers each, once and in order; "
                + "\(total.writers) writers and \(total.followers) followers killed")
    }

    private init(_ path: FilePath, random: UInt64) throws {
        self.path = path
        self.random = random
        writer = try ChildProcess(["write", path.string])
        consumers = []
        for _ in 0..<2 {
            consumers.append(Consumer(process: try ChildProcess(["consume", path.string, "0"])))
        }
    }

    private mutating func run(until end: Int) throws {
        while Children.now() < end {
            random = Plan.mix(random)
            try look(forMilliseconds: Int(random % 150))
            switch (random >> 20) % 3 {
            case 0: try killWriter()
            case let index: try killConsumer(Int(index) - 1)
            }
        }
        try finish()
    }

    /// Reads what the processes tell, so that none has to wait.
    private mutating func look(forMilliseconds limit: Int) throws {
        let end = Children.now() + limit
        repeat {
            // Followers first: what they tell the writer has announced before.
            for index in consumers.indices { try note(consumers[index].process.drain(), from: index) }
            try noteAcknowledged(writer.drain())
            for consumer in consumers where consumer.process.hasEnded {
                throw Finding(description: "a follower has ended; see above")
            }
            if writer.hasEnded { throw Finding(description: "a writer has ended; see above") }
            usleep(2000)
        } while Children.now() < end
    }

    private mutating func note(_ numbers: [UInt64], from index: Int) throws {
        for number in numbers {
            guard number == consumers[index].told + 1 else {
                throw Finding(
                    description: "follower \(index) told transaction \(consumers[index].told), and then \(number)")
            }
            consumers[index].told = number
        }
    }

    /// A writer first tells what it found.
    private mutating func noteAcknowledged(_ numbers: [UInt64]) throws {
        for number in numbers {
            if found == nil {
                found = number
                guard number == acknowledged || number == acknowledged + 1 else {
                    throw Finding(description: "transaction \(number) was found, \(acknowledged) was acknowledged")
                }
                guard shownBeforeKill <= number else {
                    throw Finding(description: "transaction \(shownBeforeKill) was shown, the store ended at \(number)")
                }
            }
            acknowledged = number
        }
    }

    private mutating func killWriter() throws {
        writer.end()
        try noteAcknowledged(writer.numbers())
        writer.wait()
        for index in consumers.indices { try note(consumers[index].process.drain(), from: index) }
        shownBeforeKill = consumers.map(\.told).max() ?? 0
        tally.writers += 1
        found = nil
        writer = try ChildProcess(["write", path.string])
    }

    private mutating func killConsumer(_ index: Int) throws {
        consumers[index].process.end()
        try note(consumers[index].process.numbers(), from: index)
        consumers[index].process.wait()
        tally.followers += 1
        consumers[index].process = try ChildProcess(["consume", path.string, "\(consumers[index].told)"])
    }

    /// Ends the writer; the followers must come to the store's end.
    private mutating func finish() throws {
        writer.end()
        try noteAcknowledged(writer.numbers())
        writer.wait()
        let store = try LogStore.open(path, in: PosixFileSystem(), options: Plan.options(), schema: Plan.schema)
        let newest = store.snapshot.sequence
        guard newest == acknowledged || newest == acknowledged + 1 else {
            throw Finding(description: "transaction \(newest) was found, \(acknowledged) was acknowledged")
        }
        let end = Children.now() + Self.patienceMilliseconds
        while consumers.contains(where: { $0.told < newest }) {
            guard Children.now() < end else {
                throw Finding(description: "followers stopped at \(consumers.map(\.told)), the store has \(newest)")
            }
            for index in consumers.indices { try note(consumers[index].process.drain(), from: index) }
            for consumer in consumers where consumer.process.hasEnded {
                throw Finding(description: "a follower has ended; see above")
            }
            usleep(2000)
        }
        for consumer in consumers {
            guard consumer.told == newest else {
                throw Finding(description: "a follower told \(consumer.told), the store has \(newest)")
            }
            consumer.process.end()
            consumer.process.wait()
        }
        try Checker.check(store)
        try store.close()
        tally.transactions = newest
    }
}
