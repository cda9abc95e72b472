import CoreData
import Foundation
import Testing

// Stand-ins as unit tests write them: subclasses of the framework's classes that fail on demand, answer by themselves
// or note what they are asked.

private struct MockFailure: Error {}

private final class MockContext: NSManagedObjectContext, @unchecked Sendable {
    var failsToSave = false
    var answer: [Any]?
    var asked: [String] = []

    override var hasChanges: Bool { failsToSave || super.hasChanges }
    override var userInfo: NSMutableDictionary { ["mock": true] }

    override func save() throws {
        if failsToSave { throw MockFailure() }
        try super.save()
    }

    override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
        asked.append("fetch \(request.entityName ?? "")")
        return try answer ?? super.fetch(request)
    }

    override func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
        asked.append("count")
        return try super.count(for: request)
    }

    override func mergeChanges(fromContextDidSave notification: Notification) {
        asked.append("merge")
        super.mergeChanges(fromContextDidSave: notification)
    }

    override func undo() { asked.append("undo") }

    override func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { throw MockFailure() }
}

private final class FailingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
    override func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        throw CocoaError(.persistentStoreOpen)
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        throw MockFailure()
    }

    override func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        throw MockFailure()
    }

    override class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        [NSStoreTypeKey: "mock"]
    }
}

private final class MockContainer: NSPersistentContainer, @unchecked Sendable {
    private(set) lazy var failing = FailingCoordinator(managedObjectModel: managedObjectModel)
    private(set) lazy var own = MockContext(.privateQueue)

    override var persistentStoreCoordinator: NSPersistentStoreCoordinator { failing }
    override var viewContext: NSManagedObjectContext { own }
}

private final class MockController: NSFetchedResultsController<NSManagedObject> {
    var objects: [NSManagedObject] = []

    override var fetchedObjects: [NSManagedObject]? { objects }
    override var cacheName: String? { "mock" }
    override func performFetch() throws { throw MockFailure() }
}

/// Numbers its objects by itself.
private final class NumberingStore: NSIncrementalStore, @unchecked Sendable {
    static let type = "MockNumberingStore"
    private(set) var references: [String] = []

    override func loadMetadata() throws {
        metadata = [NSStoreUUIDKey: UUID().uuidString, NSStoreTypeKey: Self.type]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity, let context
        else { return [] }
        return [context.object(with: newObjectID(for: entity, referenceObject: "1"))]
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        NSIncrementalStoreNode(objectID: objectID, withValues: ["title": "one"], version: 1)
    }

    override func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        references.append("\(data)")
        return super.newObjectID(for: entity, referenceObject: "r\(data)")
    }
}

@Suite struct MocksClientTests {
    private static let model: NSManagedObjectModel = {
        let entity = GraphModel.entity("MockNote")
        entity.properties = [GraphModel.attribute("title", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }()

    private static func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "MockNote")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return request
    }

    @Test(arguments: StoreKind.allCases)
    func contextsAreOverridden(_ kind: StoreKind) throws {
        let store = try TestStore(kind, Self.model)
        let context = MockContext(.privateQueue)
        context.persistentStoreCoordinator = store.coordinator
        try context.performAndWait {
            context.failsToSave = true
            #expect(context.hasChanges && context.userInfo["mock"] as? Bool == true)
            #expect(throws: MockFailure.self) { try context.save() }
            context.failsToSave = false
            for title in ["b", "a"] {
                NSEntityDescription.insertNewObject(forEntityName: "MockNote", into: context)
                    .setValue(title, forKey: "title")
            }
            try context.save()
            // Typed requests come by the method that can be overridden.
            #expect(try context.fetch(Self.request()).map { $0.value(forKey: "title") as? String } == ["a", "b"])
            #expect(try context.count(for: Self.request()) == 2)
            context.answer = []
            #expect(try context.fetch(Self.request()).isEmpty)
            #expect(context.asked == ["fetch MockNote", "count", "fetch MockNote"])
            context.asked = []
            context.undo()
            #expect(throws: MockFailure.self) { try context.setQueryGenerationFrom(.current) }
        }
        let other = store.context()
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { [box = UncheckedSendable(context)] note in
            box.value.performAndWait { box.value.mergeChanges(fromContextDidSave: note) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "MockNote", into: other)
            try other.save()
        }
        #expect(context.performAndWait { context.asked } == ["undo", "merge"])
    }

    private struct UncheckedSendable<Value>: @unchecked Sendable {
        // Unchecked: only used on the context's queue.
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    @Test func coordinatorsAndContainersAreOverridden() throws {
        let container = MockContainer(name: "Mock", managedObjectModel: Self.model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        var failures: [CocoaError.Code?] = []
        container.loadPersistentStores { failures.append(($1 as? CocoaError)?.code) }
        #expect(failures == [.persistentStoreOpen])
        #expect(container.viewContext is MockContext)
        #expect(container.newBackgroundContext().persistentStoreCoordinator is FailingCoordinator)
        #expect(throws: CocoaError.self) {
            try container.failing.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
        }
        #expect(throws: MockFailure.self) {
            try container.failing.destroyPersistentStore(at: URL(fileURLWithPath: "/dev/null"), type: .sqlite)
        }
        let metadata = try FailingCoordinator.metadataForPersistentStore(
            type: .sqlite, at: URL(fileURLWithPath: "/dev/null"))
        #expect(metadata[NSStoreTypeKey] as? String == "mock")
    }

    @Test func controllersAreOverridden() throws {
        let store = try TestStore(.memory, Self.model)
        let context = store.context()
        context.performAndWait {
            let controller = MockController(
                fetchRequest: Self.request(), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            controller.objects = [NSEntityDescription.insertNewObject(forEntityName: "MockNote", into: context)]
            #expect(controller.fetchedObjects?.count == 1 && controller.cacheName == "mock")
            #expect(throws: MockFailure.self) { try controller.performFetch() }
        }
    }

    @Test func incrementalStoresMakeTheirIDs() throws {
        NSPersistentStoreCoordinator.registerStoreClass(NumberingStore.self, forStoreType: NumberingStore.type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        let store = try coordinator.addPersistentStore(
            ofType: NumberingStore.type, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let note = try #require(try context.fetch(Self.request()).first)
            #expect(note.value(forKey: "title") as? String == "one")
            let numbering = try #require(store as? NumberingStore)
            #expect(numbering.references.first == "1")
            #expect(numbering.referenceObject(for: note.objectID) as? String == "r1")
        }
    }
}
