import CoreData
import Foundation
import Testing

// A service in Swift concurrency: an actor over a container, background tasks side by side, a view context that
// follows by itself, a consumer of persistent history that keeps its token in a file.

private actor EventService {
    struct Count: Sendable, Equatable {
        var name: String
        var value: Int
    }

    nonisolated let container: NSPersistentContainer
    private let tokenFile: URL

    init(_ container: NSPersistentContainer, tokenFile: URL) {
        self.container = container
        self.tokenFile = tokenFile
    }

    @discardableResult
    func record(_ names: [String], author: String) async throws -> [NSManagedObjectID] {
        try await container.performBackgroundTask { context in
            context.transactionAuthor = author
            context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
            var events: [NSManagedObject] = []
            for name in names {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
                request.predicate = NSPredicate(format: "name = %@", name)
                let event =
                    try context.fetch(request).first
                    ?? NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
                event.setValue(name, forKey: "name")
                event.setValue((event.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count")
                events.append(event)
            }
            try context.save()
            return events.map(\.objectID)
        }
    }

    func counts() async throws -> [Count] {
        let context = container.newBackgroundContext()
        return try await context.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request).map {
                Count(name: $0.value(forKey: "name") as? String ?? "", value: $0.value(forKey: "count") as? Int ?? 0)
            }
        }
    }

    private var token: NSPersistentHistoryToken? {
        get {
            guard let data = try? Data(contentsOf: tokenFile) else { return nil }
            return try? NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
        }
        set {
            guard let newValue,
                let data = try? NSKeyedArchiver.archivedData(withRootObject: newValue, requiringSecureCoding: true)
            else { return }
            try? data.write(to: tokenFile)
        }
    }

    /// Who has changed how many objects since the last call.
    func newChanges(without author: String) async throws -> [String: Int] {
        let since = token
        let context = container.newBackgroundContext()
        let (found, last): ([String: Int], NSPersistentHistoryToken?) = try await context.perform {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: since)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            var counts: [String: Int] = [:]
            for transaction in transactions where transaction.author != author {
                counts[transaction.author ?? "", default: 0] += transaction.changes?.count ?? 0
            }
            return (counts, transactions.last?.token)
        }
        if let last { token = last }
        return found
    }
}

@Suite struct ServiceClientTests {
    private static func service(_ directory: URL) throws -> EventService {
        let event = GraphModel.entity("Event")
        event.properties = [
            GraphModel.attribute("name", .stringAttributeType, optional: false),
            GraphModel.attribute("count", .integer64AttributeType, default: 0),
        ]
        event.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [event]
        let container = NSPersistentContainer(name: "Events", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: directory.appendingPathComponent("Events.sqlite"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        container.viewContext.automaticallyMergesChangesFromParent = true
        return EventService(container, tokenFile: directory.appendingPathComponent("token"))
    }

    private static func inDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("strata-client-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    @Test func tasksSideBySideLoseNoObject() async throws {
        try await Self.inDirectory { directory in
            let service = try Self.service(directory)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    group.addTask { try await service.record(["e\(index % 5)"], author: "writer") }
                }
                try await group.waitForAll()
            }
            #expect(try await service.counts().map(\.name) == ["e0", "e1", "e2", "e3", "e4"])
        }
    }

    @Test func historyIsReadOnceByEveryConsumer() async throws {
        try await Self.inDirectory { directory in
            let service = try Self.service(directory)
            try await service.record(["a", "b"], author: "app")
            try await service.record(["a"], author: "sync")
            #expect(try await service.newChanges(without: "sync") == ["app": 2])
            #expect(try await service.newChanges(without: "sync").isEmpty)
            try await service.record(["c"], author: "app")
            #expect(try await service.newChanges(without: "sync") == ["app": 1])
        }
    }

    @Test @MainActor func theViewContextFollows() async throws {
        try await Self.inDirectory { directory in
            let service = try Self.service(directory)
            let view = service.container.viewContext
            let ids = try await service.record(["a"], author: "app")
            let id = try #require(ids.first)
            let event = try view.existingObject(with: id)
            #expect(event.value(forKey: "count") as? Int == 1)
            try await service.record(["a"], author: "app")
            for _ in 0..<1_000 where event.value(forKey: "count") as? Int != 2 {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(event.value(forKey: "count") as? Int == 2)
            let url = id.uriRepresentation()
            let found = service.container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: url)
            #expect(found == id)
        }
    }

    @Test func errorsOfBackgroundTasksReachTheCaller() async throws {
        struct Refused: Error {}
        try await Self.inDirectory { directory in
            let service = try Self.service(directory)
            await #expect(throws: Refused.self) {
                try await service.container.performBackgroundTask { context in
                    _ = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
                    throw Refused()
                }
            }
            await #expect(throws: CocoaError.self) {
                try await service.container.performBackgroundTask { context in
                    _ = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
                    try context.save()
                }
            }
            #expect(try await service.counts().isEmpty)
        }
    }
}
