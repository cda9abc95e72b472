import Foundation
import StrataLog
import StrataS3
import StrataShip
import SystemPackage

/// The side of Strata in `compare.py`, `network.py` and `large.py`: each verb is a process of its own there, as each of
/// Litestream's is.
///
///     strata-shipping write STORE ROWS ROWS-PER-SAVE PAUSE-MILLISECONDS FIRST
///     strata-shipping change STORE ROWS SAVES ROWS-PER-SAVE ROUND
///     strata-shipping ship STORE URL [INTERVAL-SECONDS]
///     strata-shipping follow URL CACHE POLL-SECONDS
///     strata-shipping restore URL STORE [SECONDS-SINCE-1970]
///     strata-shipping count STORE
///     strata-shipping digest STORE ROWS
@main
enum Shipping {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let verb = arguments.first else { fatalError("see Shipping.swift") }
        let rest = Array(arguments.dropFirst())
        let numbers = rest.dropFirst().compactMap { Int($0) }
        switch (verb, rest.count) {
        case ("write", 5):
            guard numbers.count == 4 else { fatalError("write: not a number among \(rest)") }
            let writer = try RowStore(rest[0])
            try writer.write(numbers[0], perSave: numbers[1], pause: numbers[2], first: numbers[3])
        case ("change", 5):
            guard numbers.count == 4 else { fatalError("change: not a number among \(rest)") }
            try RowStore(rest[0]).change(numbers[0], saves: numbers[1], perSave: numbers[2], round: numbers[3])
            print("{}")
        case ("ship", 2): try await ship(rest[0], rest[1], .seconds(1))
        case ("ship", 3):
            guard let interval = Double(rest[2]) else { fatalError("ship: no number: \(rest[2])") }
            try await ship(rest[0], rest[1], .seconds(interval))
        case ("follow", 3):
            guard let poll = Double(rest[2]) else { fatalError("follow: no number: \(rest[2])") }
            try await follow(rest[0], rest[1], .seconds(poll))
        case ("restore", 2): try await restore(rest[0], rest[1], .newest)
        case ("restore", 3):
            guard let time = Double(rest[2]) else { fatalError("restore: no number: \(rest[2])") }
            try await restore(rest[0], rest[1], .time(Int64(time * 1e9)))
        case ("count", 1): print("{\"rows\": \(try RowStore(rest[0]).count())}")
        case ("digest", 2):
            guard numbers.count == 1 else { fatalError("digest: no number: \(rest[1])") }
            let digest = try RowStore(rest[0]).digest(upTo: numbers[0])
            print("{\"rows\": \(digest.rows), \"sum\": \"\(digest.sum)\"}")
        default: fatalError("see Shipping.swift")
        }
    }

    private static func restore(_ url: String, _ store: String, _ target: RestoreTarget) async throws {
        let objects = try S3ObjectStore(url: url)
        var options = RestoreOptions()
        options.target = target
        let began = ContinuousClock.now
        let plan = try await LogRestorer(from: objects).restore(to: FilePath(store), options: options)
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        print(
            "{\"seconds\": \(seconds), \"transaction\": \(plan.transaction?.sequence ?? 0), \"bytes\": \(plan.bytes), "
                + "\"segments\": \(plan.segments)}")
        await objects.shutdown()
    }

    /// A pipe's output would be kept back.
    private static func tell(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Ships until the input ends, and says on each line of input how much is waiting.
    private static func ship(_ store: String, _ url: String, _ interval: Duration) async throws {
        let objects = try S3ObjectStore(url: url)
        var options = ShipOptions()
        options.interval = interval
        let shipper = LogShipper(storeAt: FilePath(store), to: objects, options: options)
        let running = Task { try await shipper.run() }
        let reader = Thread {
            while readLine() != nil {
                let status = shipper.status
                tell("{\"unshipped\": \(status.unshippedBytes), \"sequence\": \(status.sequence)}")
            }
            shipper.stop()
        }
        reader.start()
        try await running.value
        await objects.shutdown()
    }

    /// Follows until the input ends, and says when which transaction has come; on each line of input, what it reads.
    private static func follow(_ url: String, _ cache: String, _ poll: Duration) async throws {
        let objects = try S3ObjectStore(url: url)
        var options = FollowOptions()
        options.shortestPoll = poll
        options.longestPoll = poll
        let follower = try await BucketFollower.start(from: objects, cache: FilePath(cache), options: options)
        let rows = try RowStore(follower.storeDescription())
        let (lines, line) = AsyncStream.makeStream(of: Void.self)
        let reader = Thread {
            while readLine() != nil { line.yield() }
            line.finish()
        }
        reader.start()
        let watching = Task {
            var shown: UInt64 = 0
            while !Task.isCancelled {
                let sequence = follower.status.sequence
                if sequence > shown {
                    tell("{\"sequence\": \(sequence), \"time\": \(Date().timeIntervalSince1970)}")
                    shown = sequence
                }
                try? await Task.sleep(for: .milliseconds(2))
            }
        }
        for await _ in lines {
            let status = follower.status
            let age = status.age.map { "\($0 / .seconds(1))" } ?? "null"
            tell("{\"rows\": \(try rows.count()), \"age\": \(age), \"isFailing\": \(status.error != nil)}")
        }
        watching.cancel()
        await follower.stop()
        await objects.shutdown()
    }
}
