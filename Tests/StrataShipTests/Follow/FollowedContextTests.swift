import CoreData
import Foundation
import StrataObjectStore
import StrataTestKit
import Synchronization
import SystemPackage
import Testing

@testable import StrataShip

/// The object graph on a store that is followed through a bucket.
@Suite struct FollowedContextTests {
    private static func model() -> NSManagedObjectModel {
        let book = NSEntityDescription()
        book.name = "Book"
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        book.properties = [title]
        let model = NSManagedObjectModel()
        model.entities = [book]
        return model
    }

    private static func container(_ description: NSPersistentStoreDescription) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model())
        container.persistentStoreDescriptions = [description]
        let failure = Mutex<(any Error)?>(nil)
        container.loadPersistentStores { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
        return container
    }

    private static func titles(_ container: NSPersistentContainer) async throws -> [String] {
        try await container.newBackgroundContext().perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            return try request.execute().compactMap { $0.value(forKey: "title") as? String }
        }
    }

    @Test func contextsHistoryAndNotificationsWork() async throws {
        let folder = URL(fileURLWithPath: NSTemporaryDirectory() + "strata-followed-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("library"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        let writer = try Self.container(description)
        func add(_ title: String) async throws {
            let context = writer.newBackgroundContext()
            context.transactionAuthor = "writer"
            try await context.perform {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue(title, forKey: "title")
                try context.save()
            }
        }
        try await add("Emma")
        let objects = SimulatedObjectStore()
        let shipper = LogShipper(storeAt: FilePath(folder.path + "/library"), to: objects)
        try await shipper.shipOnce()

        var options = FollowOptions()
        options.shortestPoll = .milliseconds(5)
        let follower = try await BucketFollower.start(
            from: objects.client(), cache: FilePath(folder.path + "/cache"), options: options)
        let reader = try Self.container(follower.storeDescription())
        #expect(try await Self.titles(reader) == ["Emma"])
        let store = try #require(reader.persistentStoreCoordinator.persistentStores.first)
        #expect(store.isReadOnly)

        let changes = Mutex(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: reader.persistentStoreCoordinator, queue: nil
        ) { _ in changes.withLock { $0 += 1 } }
        defer { NotificationCenter.default.removeObserver(observer) }
        let token = reader.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil)
        try await add("Dracula")
        try await shipper.shipOnce()
        try await wait(until: { changes.withLock { $0 } > 0 }, "a notification")
        #expect(try await Self.titles(reader) == ["Dracula", "Emma"])
        let context = reader.newBackgroundContext()
        let authors = try await context.perform {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction])?.map { $0.author ?? "" }
        }
        #expect(authors == ["writer"])
        await #expect(throws: (any Error).self) {
            let context = reader.newBackgroundContext()
            try await context.perform {
                NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                    .setValue("x", forKey: "title")
                try context.save()
            }
        }
        await follower.stop()
        #expect(try await Self.titles(reader) == ["Dracula", "Emma"])
    }
}
