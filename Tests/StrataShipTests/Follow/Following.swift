import StrataIO
import StrataObjectStore
import StrataTestKit
import SystemPackage
import Testing

@testable import StrataLog
@testable import StrataShip

/// A follower of a simulated bucket, its cache on a disk of its own.
final class Following {
    let follower: BucketFollower
    private(set) var store: LogStore

    static func disk() throws -> SimulatedFileSystem {
        let disk = SimulatedFileSystem()
        try disk.createDirectory("/cache")
        return disk
    }

    static func options(_ change: (inout FollowOptions) -> Void = { _ in }) -> FollowOptions {
        var options = FollowOptions()
        options.shortestPoll = .milliseconds(2)
        options.longestPoll = .milliseconds(4)
        options.cipher = TestCipher.used
        change(&options)
        return options
    }

    init(
        _ objects: any ObjectStore, disk: SimulatedFileSystem, change: (inout FollowOptions) -> Void = { _ in }
    ) async throws {
        follower = try await BucketFollower.start(
            from: objects, cache: "/cache/log", in: disk, options: Self.options(change))
        store = try follower.openLog()
    }

    /// Opens the store anew, as after a migration.
    func reopen() throws {
        try store.close()
        store = try follower.openLog()
    }

    /// Waits until the follower has come to a transaction, and reads it.
    func digest(at sequence: UInt64) async throws -> ObjectDigest {
        try await wait(until: { follower.status.sequence >= sequence }, "\(sequence), after \(follower.status),")
        try store.refresh()
        #expect(store.snapshot.sequence == sequence)
        return try ShipSchema.digest(store)
    }

    func waitUntilWhollyCached() async throws {
        try await wait(until: { follower.status.isWhollyCached }, "all of the log")
    }

    func close() async throws {
        try store.close()
        await follower.stop()
    }
}
