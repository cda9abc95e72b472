import StrataIO
import StrataLog
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Starts a process that commits, kills it at a random moment, opens what it left and checks that nothing acknowledged
/// is lost and nothing is there in part; again and again, with readers beside.
///
///     kill-loop [KILLS [SEED]]          in a new directory under $TMPDIR or /tmp
///     kill-loop follow SECONDS [SEED]   one writer and two followers instead, of which any is killed and restarted
///     kill-loop service SECONDS [SEED [IDLE]]
///                                       a service of 64 clients with a mixed load over managed objects; the last one
///                                       rests for IDLE seconds, and must be about as large then as before the load
@main
enum KillLoop {
    /// A new store is begun after so many kills, so that checking stays quick.
    private static let killsPerStore = 100
    private static let roundsPerReader = 8

    static func main() {
        let arguments = CommandLine.arguments
        do {
            switch arguments.dropFirst().first {
            case "write" where arguments.count == 3: try Children.commitForever(FilePath(arguments[2]))
            case "read" where arguments.count == 4:
                try Children.readRepeatedly(FilePath(arguments[2]), milliseconds: Int(arguments[3]) ?? 100)
            case "consume" where arguments.count == 4:
                try Children.followForever(FilePath(arguments[2]), after: UInt64(arguments[3]) ?? 0)
            case "follow" where arguments.count == 3 || arguments.count == 4:
                try FollowLoop.run(
                    seconds: Int(arguments[2]) ?? 10, seed: arguments.count == 4 ? UInt64(arguments[3]) ?? 1 : 1)
            case "service" where (3...5).contains(arguments.count):
                try ServiceLoop.run(
                    seconds: Int(arguments[2]) ?? 15, seed: arguments.count > 3 ? UInt64(arguments[3]) ?? 1 : 1,
                    idleSeconds: arguments.count > 4 ? Int(arguments[4]) : nil)
            case "service-fill" where arguments.count == 4:
                try ServiceChild.fill(arguments[2], orders: Int(arguments[3]) ?? 1)
            case "serve" where arguments.count == 5 || arguments.count == 7: try serve(Array(arguments.dropFirst(2)))
            case nil: try loop(kills: 40, seed: 1)
            case let kills?:
                guard let count = Int(kills), count > 0, arguments.count <= 3 else {
                    throw Finding(
                        description:
                            "usage: kill-loop [KILLS [SEED]] | follow SECONDS [SEED] | service SECONDS [SEED [IDLE]]")
                }
                try loop(kills: count, seed: arguments.count == 3 ? UInt64(arguments[2]) ?? 1 : 1)
            }
        } catch {
            let message = "kill-loop \(arguments.dropFirst().joined(separator: " ")): \(error)\n"
            _ = message.withCString { write(2, $0, strlen($0)) }
            exit(1)
        }
    }

    private static func serve(_ arguments: [String]) throws {
        let numbers = arguments.dropFirst().map { UInt64($0) ?? 1 }
        if numbers.count == 2 {
            try ServiceChild.serveForever(arguments[0], slotCount: Int(numbers[0]), seed: numbers[1])
        } else {
            try ServiceChild.serveAndRest(
                arguments[0], slotCount: Int(numbers[0]), seed: numbers[1], seconds: Int(numbers[2]),
                idleSeconds: Int(numbers[3]))
        }
    }

    private struct Tally {
        var acknowledged: UInt64 = 0
        var unacknowledged: UInt64 = 0
        var torn = 0
        var refusals = 0
        var openings: UInt64 = 0
    }

    private static func loop(kills: Int, seed: UInt64) throws {
        let base = try makeDirectory()
        print("kill loop: \(kills) kills, seed \(seed), in \(base)")
        var tally = Tally()
        var reader: ChildProcess?
        var expected: UInt64 = 0
        var path = FilePath(base)
        for kill in 0..<kills {
            if kill % killsPerStore == 0 {
                try finish(&reader, &tally)
                if kill > 0 { try remove(path) }
                path = FilePath(base).appending("store-\(kill / killsPerStore)")
                expected = 0
            }
            if kill % roundsPerReader == 1 {
                try finish(&reader, &tally)
                reader = try ChildProcess(["read", path.string, "\(roundsPerReader * 60)"])
            }
            expected = try round(path, after: expected, Plan.mix(seed &* 1_000_003 &+ UInt64(kill)), &tally)
        }
        try finish(&reader, &tally)
        try remove(path)
        rmdir(base)
        print(
            "kill loop: \(kills) kills, \(tally.acknowledged) acknowledged commits all there, \(tally.unacknowledged) more complete, "
                + "\(tally.torn) torn tails cut, \(tally.refusals) second writers refused, \(tally.openings) openings by readers beside"
        )
    }

    static func makeDirectory() throws -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let base = "\(parent)/strata-kill-loop-\(getpid())"
        guard mkdir(base, 0o700) == 0 else { throw Finding(description: "could not create \(base)") }
        return base
    }

    /// One process from start to kill, and the check. Returns the newest sequence number.
    private static func round(
        _ path: FilePath, after expected: UInt64, _ random: UInt64, _ tally: inout Tally
    ) throws -> UInt64 {
        let writer = try ChildProcess(["write", path.string])
        // Now and then at once, while the process is still opening the store.
        var told: [UInt64] = []
        if random % 16 == 0 {
            usleep(UInt32((random >> 8) % 60_000))
        } else {
            told = writer.numbers(forMilliseconds: Int((random >> 8) % 80))
            if random % 4 == 1 {
                try expectRefusal(path, writer.pid)
                tally.refusals += 1
            }
        }
        writer.end()
        told += writer.numbers()
        writer.wait()
        if let first = told.first, first != expected {
            throw Finding(description: "the writer found transaction \(first) instead of \(expected)")
        }
        let acknowledged = told.last ?? expected
        guard try PosixFileSystem().attributes(path) != nil else { return expected }
        let store = try LogStore.open(path, in: PosixFileSystem(), options: Plan.options(), schema: Plan.schema)
        let newest = store.snapshot.sequence
        guard newest >= acknowledged else {
            throw Finding(description: "transaction \(acknowledged) was acknowledged, the store ends at \(newest)")
        }
        // At most the one that was being committed.
        guard newest <= acknowledged + 1 else {
            throw Finding(description: "transaction \(newest) after \(acknowledged) was acknowledged")
        }
        if store.recovery.tornByteCount > 0 { tally.torn += 1 }
        tally.acknowledged += acknowledged - expected
        tally.unacknowledged += newest - acknowledged
        try Checker.check(store)
        if let problem = try store.verify().problems.first { throw Finding(description: "verify: \(problem)") }
        // Every other time the next process finds the log as it was left, with no checkpoint made by closing.
        if random >> 40 & 1 == 0 { try store.close() }
        return newest
    }

    private static func expectRefusal(_ path: FilePath, _ pid: pid_t) throws {
        let refusal: StoreError
        do {
            _ = try LogStore.open(path, in: PosixFileSystem(), options: Plan.options(), schema: Plan.schema)
            throw Finding(description: "a second writer was let in")
        } catch let error as StoreError {
            refusal = error
        }
        guard refusal.code == .locked, refusal.message.contains("\(pid)") else {
            throw Finding(description: "the refusal does not name process \(pid): \(refusal)")
        }
    }

    private static func finish(_ reader: inout ChildProcess?, _ tally: inout Tally) throws {
        guard let running = reader else { return }
        reader = nil
        tally.openings += running.numbers().last ?? 0
        guard running.wait() else { throw Finding(description: "a reader beside the writers failed; see above") }
    }

    static func remove(_ path: FilePath) throws {
        let files = PosixFileSystem()
        for name in try files.list(path) { try files.unlink(path.appending(name)) }
        try files.removeDirectory(path)
    }
}
