import Foundation
import Strata
import StrataObjectStore
import StrataShip
import SystemPackage
import Testing

@testable import StrataS3

/// A store that is shipped to a server of S3's protocol, followed and restored from there.
struct FollowTests {
    @Test(.enabled(if: TestServer.isThere(.seaweed))) func aStoreIsFollowedThroughSeaweed() async throws {
        let folder = NSTemporaryDirectory() + "strata-s3-follow-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let server = TestServer.shared(.seaweed)
        let prefix = "followed/" + UUID().uuidString
        let (sending, reading) = (try await server.store(prefix: prefix), try await server.store(prefix: prefix))

        let path = folder + "/library"
        let writer = try Self.container(NSPersistentStoreDescription(url: URL(fileURLWithPath: path)))
        try await Self.add(1...20, writer)
        let shipper = LogShipper(storeAt: FilePath(path), to: sending)
        try await shipper.shipOnce()
        var options = FollowOptions()
        options.shortestPoll = .milliseconds(20)
        options.longestPoll = .milliseconds(100)
        let follower = try await BucketFollower.start(
            from: reading, cache: FilePath(folder + "/cache"), options: options)
        let reader = try Self.container(follower.storeDescription())
        #expect(try await Self.count(reader) == 20)
        for round in 1...5 {
            try await Self.add(1...3, writer)
            try await shipper.shipOnce(withCheckpoint: round == 3)
            let start = ContinuousClock.now
            while try await Self.count(reader) < 20 + 3 * round {
                try #require(start.duration(to: .now) < .seconds(30), "\(follower.status)")
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        let restored = try await LogRestorer(from: reading).restore(to: FilePath(folder + "/restored"))
        #expect(restored.transaction?.sequence == follower.status.sequence)
        let copy = try Self.container(
            NSPersistentStoreDescription(url: URL(fileURLWithPath: folder + "/restored")))
        #expect(try await Self.count(copy) == 35)

        // What has been fetched is read without the server.
        while !follower.status.isWhollyCached { try await Task.sleep(for: .milliseconds(20)) }
        await follower.stop()
        await reading.shutdown()
        #expect(try await Self.count(reader) == 35)
        await sending.shutdown()
    }

    static func container(_ description: NSPersistentStoreDescription) throws -> NSPersistentContainer {
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        let book = NSEntityDescription()
        book.name = "Book"
        book.properties = [title]
        let model = NSManagedObjectModel()
        model.entities = [book]
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    static func add(_ numbers: ClosedRange<Int>, _ container: NSPersistentContainer) async throws {
        let context = container.newBackgroundContext()
        try await context.perform {
            for number in numbers {
                NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                    .setValue("Book \(number)", forKey: "title")
            }
            try context.save()
        }
    }

    static func count(_ container: NSPersistentContainer) async throws -> Int {
        let context = container.newBackgroundContext()
        return try await context.perform { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) }
    }
}
