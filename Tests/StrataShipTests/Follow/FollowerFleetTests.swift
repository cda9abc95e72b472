import StrataIO
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// Many followers of one bucket, on virtual time: the pauses that a poller asks for are added up, not waited for.
/// `STRATA_SHIP_FOLLOWERS` says how many; a thousand in `Tests/soak.sh`.
@Suite struct FollowerFleetTests {
    private struct Follower {
        let client: SimulatedObjectStore
        let log: FollowedLog
        var poller: LogPoller
        /// From when to when nothing of it reaches the bucket.
        var partition: Range<Double>
    }

    /// What a request takes, in seconds of virtual time.
    private static let roundTrip = 0.05

    @Test func lagIsBoundedByAPieceAPollAndTwoRoundTrips() async throws {
        let count = Effort.number("STRATA_SHIP_FOLLOWERS") ?? 100
        let machine = try ShipMachine(seed: 61)
        let objects = SimulatedObjectStore()
        let shipper = machine.shipper(objects)
        try machine.save()
        try await shipper.shipOnce(withCheckpoint: true)
        var random = SeededGenerator(seed: 7)
        let options = FollowOptions()
        let end = 120.0
        var followers: [Follower] = []
        for number in 0..<count {
            let client = objects.client()
            let disk = try Following.disk()
            let cache = try ChunkCache("/cache/log", in: disk, budgetBytes: 4 << 20)
            let bucket = ShipBucket(client, nil)
            let found = try #require(try await ShippedLog.read(bucket))
            let log = FollowedLog(
                bucket, cache, FollowCatalog(found, bucket: client.description), options, isContacted: true)
            // A third of the followers lose one request in twenty; a tenth are cut off for a while.
            if number % 3 == 0 {
                client.fail(
                    seed: UInt64(number), probability: 0.05,
                    [.lostAnswer, .lostRequest, .internalError, .slowDown, .bitFlip, .truncated])
            }
            let start = Double(random.below(60))
            followers.append(
                Follower(
                    client: client, log: log, poller: LogPoller(log, options),
                    partition: number % 10 == 1 ? start..<start + 20 : 0..<0))
        }
        /// Who asks next and when, in seconds; the first of them last.
        var due = followers.indices.map { (index: $0, time: Double(random.below(5_000)) / 1e3) }
        due.sort { $0.time > $1.time }
        /// When each transaction was in the bucket.
        var shipped: [(sequence: UInt64, time: Double)] = []
        var (next, last) = (1.0, machine.store.snapshot.sequence)
        var lags: [Double] = []
        var seen = [UInt64](repeating: last, count: count)
        var failures = 0
        while let (index, now) = due.popLast(), now < end {
            while next <= now {
                // Busy for a while, then idle, then busy: polls become rare in between.
                if !(40..<80).contains(next) || next == 60 {
                    try machine.save(1, textBytes: 40)
                    if Int(next) % 30 == 0 { try machine.store.compact() }
                    try await shipper.shipOnce()
                    last = machine.store.snapshot.sequence
                    shipped.append((last, next + Self.roundTrip))
                }
                next += 1
            }
            let isCut = followers[index].partition.contains(now)
            followers[index].client.isPartitioned = isCut
            let before = followers[index].client.counts.total
            let pause = await followers[index].poller.step()
            let requests = followers[index].client.counts.total - before
            if followers[index].log.error != nil { failures += 1 }
            let done = now + Self.roundTrip * Double(max(1, requests))
            let reached = followers[index].log.catalog.sequence
            #expect(
                reached >= seen[index] && reached <= last, "follower \(index) went from \(seen[index]) to \(reached)")
            if reached > seen[index], !isCut, index % 3 != 0, index % 10 != 1 {
                for entry in shipped where entry.sequence > seen[index] && entry.sequence <= reached {
                    lags.append(done - entry.time)
                }
            }
            seen[index] = reached
            let time = done + (pause.map { $0 / .seconds(1) } ?? 0)
            var (low, high) = (0, due.count)
            while low < high {
                let middle = (low + high) / 2
                if due[middle].time > time { low = middle + 1 } else { high = middle }
            }
            due.insert((index, time), at: low)
        }
        // Who had no failures was never further behind than the interval of a piece, a poll and two round trips. The
        // names are read anew where a segment is sealed, which takes a few more of them.
        let bound = ShipOptions().interval / .seconds(1) + options.longestPoll / .seconds(1) + 2 * Self.roundTrip
        lags.sort()
        let (median, most) = (lags[lags.count / 2], lags[lags.count - 1])
        print(
            "\(count) followers: \(lags.count) arrivals, lag \(median) s in the middle, \(most) s at most; "
                + "\(failures) failed polls"
        )
        #expect(failures > count / 10)
        #expect(most <= bound, "\(most)")
        #expect(median <= 1 + 2 * Self.roundTrip, "\(median)")
        // Nobody stays behind, whatever failed.
        for index in followers.indices {
            followers[index].client.isPartitioned = false
            followers[index].client.fail(nil)
            // The last poll of one that has everything may have failed, too.
            for _ in 0..<60 where followers[index].log.catalog.sequence < last || followers[index].log.error != nil {
                _ = await followers[index].poller.step()
            }
            #expect(followers[index].log.catalog.sequence == last, "follower \(index)")
            #expect(followers[index].log.error == nil)
        }
        // Some of them read what they have.
        for index in stride(from: 0, to: count, by: max(1, count / 5)) {
            let fileSystem = BucketFileSystem(followers[index].log, at: "/fleet")
            var readOnly = ShipSchema.options()
            readOnly.access = .readOnly
            readOnly.createsIfMissing = false
            let store = try LogStore.open("/fleet", in: fileSystem, options: readOnly, schema: nil)
            #expect(try ShipSchema.digest(store) == machine.digests[last])
            try store.close()
        }
        try machine.close()
    }
}
