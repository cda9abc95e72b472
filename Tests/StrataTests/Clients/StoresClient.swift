import CoreData
import Foundation
import Testing

// An app with two stores behind one container: what the user made is on disk, what was downloaded is in memory. A
// widget has a coordinator of its own over the same file. Objects are remembered by their URIs from launch to launch.

private final class LibraryContainer: NSPersistentContainer, @unchecked Sendable {
    static let model: NSManagedObjectModel = {
        let note = GraphModel.entity("Note")
        let tag = GraphModel.entity("Tag")
        let download = GraphModel.entity("Download")
        let tags = GraphModel.relationship("tags", to: tag, toMany: true)
        let notes = GraphModel.relationship("notes", to: note, toMany: true)
        GraphModel.link(tags, notes)
        let downloads = NSFetchedPropertyDescription()
        downloads.name = "downloads"
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Download")
        request.entity = download
        request.predicate = NSPredicate(format: "noteID == $FETCH_SOURCE.identifier")
        request.sortDescriptors = [NSSortDescriptor(key: "path", ascending: true)]
        downloads.fetchRequest = request
        note.properties = [
            GraphModel.attribute("identifier", .UUIDAttributeType), GraphModel.attribute("text", .stringAttributeType),
            tags, downloads,
        ]
        tag.properties = [GraphModel.attribute("name", .stringAttributeType), notes]
        download.properties = [
            GraphModel.attribute("noteID", .UUIDAttributeType), GraphModel.attribute("path", .stringAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [note, tag, download]
        model.setEntities([note, tag], forConfigurationName: "User")
        model.setEntities([download], forConfigurationName: "Cache")
        return model
    }()

    private(set) var failures: [any Error] = []

    convenience init(directory: URL) {
        self.init(name: "Library", managedObjectModel: Self.model)
        let user = NSPersistentStoreDescription(url: directory.appendingPathComponent("User.sqlite"))
        user.configuration = "User"
        user.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        user.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        let cache = NSPersistentStoreDescription()
        cache.type = NSInMemoryStoreType
        cache.configuration = "Cache"
        persistentStoreDescriptions = [user, cache]
        loadPersistentStores { [unowned self] _, error in if let error { failures.append(error) } }
        viewContext.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        viewContext.name = "view"
    }

    override func newBackgroundContext() -> NSManagedObjectContext {
        let context = super.newBackgroundContext()
        context.transactionAuthor = "background"
        context.name = "background"
        return context
    }

    func close() throws {
        for store in persistentStoreCoordinator.persistentStores { try persistentStoreCoordinator.remove(store) }
    }
}

@Suite final class StoresClientTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "strata-client-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false) }
    deinit { try? FileManager.default.removeItem(at: directory) }

    private func note(_ text: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue(text, forKey: "text")
        note.setValue(UUID(), forKey: "identifier")
        return note
    }

    @Test func entitiesGoToTheStoresOfTheirConfigurations() throws {
        let container = LibraryContainer(directory: directory)
        #expect(container.failures.isEmpty)
        let context = container.newBackgroundContext()
        #expect(context.transactionAuthor == "background")
        try context.check { () throws in
            let first = note("first", context)
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            first.mutableSetValue(forKey: "tags").add(tag)
            for path in ["b", "a"] {
                let download = NSEntityDescription.insertNewObject(forEntityName: "Download", into: context)
                download.setValue(path, forKey: "path")
                download.setValue(first.value(forKey: "identifier"), forKey: "noteID")
            }
            #expect(first.objectID.isTemporaryID && first.objectID.persistentStore == nil)
            try context.save()
            let stores = container.persistentStoreCoordinator.persistentStores
            let user = try #require(stores.first { $0.configurationName == "User" })
            let cache = try #require(stores.first { $0.configurationName == "Cache" })
            #expect(first.objectID.persistentStore === user && tag.objectID.persistentStore === user)
            let downloads = try #require(first.value(forKey: "downloads") as? [NSManagedObject])
            #expect(downloads.map { $0.value(forKey: "path") as? String } == ["a", "b"])
            #expect(downloads.allSatisfy { $0.objectID.persistentStore === cache })
            let request = NSFetchRequest<NSManagedObject>(entityName: "Download")
            request.affectedStores = [user]
            #expect(try context.count(for: request) == 0)
        }
        try container.close()
    }

    @Test func objectsAreFoundByTheirURIsAfterALaunch() throws {
        let uris: [URL] = try {
            let container = LibraryContainer(directory: directory)
            let context = container.newBackgroundContext()
            let uris = try context.performAndWait {
                let notes = ["a", "b"].map { note($0, context) }
                let temporary = notes[0].objectID.uriRepresentation()
                try context.obtainPermanentIDs(for: [notes[0]])
                #expect(!notes[0].objectID.isTemporaryID && notes[0].objectID.uriRepresentation() != temporary)
                let permanent = notes[0].objectID
                try context.save()
                #expect(notes[0].objectID == permanent)
                return notes.map { $0.objectID.uriRepresentation() }
            }
            try container.close()
            return uris
        }()
        let container = LibraryContainer(directory: directory)
        let (coordinator, context) = (container.persistentStoreCoordinator, container.newBackgroundContext())
        try context.check { () throws in
            let ids = try uris.map { try #require(coordinator.managedObjectID(forURIRepresentation: $0)) }
            let notes = ids.map { context.object(with: $0) }
            #expect(notes.allSatisfy(\.isFault) && notes.map { $0.value(forKey: "text") as? String } == ["a", "b"])
            context.delete(notes[1])
            try context.save()
            // The URI of what is gone still names it; looking for it fails.
            let gone = try #require(coordinator.managedObjectID(forURIRepresentation: uris[1]))
            let error = #expect(throws: CocoaError.self) { try context.existingObject(with: gone) }
            #expect(error?.errorCode == NSManagedObjectReferentialIntegrityError)
            let last = try #require(coordinator.persistentStores.first { $0.configurationName == "User" })
            #expect(uris[0].host == last.identifier && uris[0].scheme == "x-coredata")
        }
        try container.close()
    }

    /// The widget has a coordinator of its own; the app learns from the notification that there is something new.
    @Test func anotherCoordinatorsSavesAreHeardOfAndMerged() throws {
        let app = LibraryContainer(directory: directory)
        let widget = LibraryContainer(directory: directory)
        #expect(app.failures.isEmpty && widget.failures.isEmpty)
        nonisolated(unsafe) var heard: [[AnyHashable: Any]] = []
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: app.persistentStoreCoordinator, queue: nil
        ) { heard.append($0.userInfo ?? [:]) }
        defer { NotificationCenter.default.removeObserver(token) }
        let shown = app.newBackgroundContext()
        // Held as what is on a screen is: what nobody holds would be read anew.
        nonisolated(unsafe) let onScreen = try shown.performAndWait {
            let note = note("old", shown)
            try shown.save()
            return note
        }
        let last = try #require(app.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        let own = heard.count
        let other = widget.newBackgroundContext()
        other.transactionAuthor = "widget"
        try other.check { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            let notes = try other.fetch(request)
            #expect(notes.count == 1)
            notes[0].setValue("new", forKey: "text")
            try other.save()
        }
        #expect(heard.count == own + 1)
        let info = try #require(heard.last)
        let user = app.persistentStoreCoordinator.persistentStores.first { $0.configurationName == "User" }
        #expect(info[NSStoreUUIDKey] as? String == user?.identifier)
        #expect((info[NSPersistentStoreURLKey] as? URL)?.path == user?.url?.path)
        #expect(info[NSPersistentHistoryTokenKey] is NSPersistentHistoryToken)
        try shown.check { () throws in
            #expect(onScreen.value(forKey: "text") as? String == "old")
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: last)
            let result = try shown.execute(request) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(transactions.map(\.author) == ["widget"])
            transactions.forEach { shown.mergeChanges(fromContextDidSave: $0.objectIDNotification()) }
            #expect(onScreen.value(forKey: "text") as? String == "new")
        }
        try widget.close()
        try app.close()
    }

    @Test func objectsOfDifferentStoresAreNotRelated() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let stores = try ["one", "two"].map {
            try coordinator.addPersistentStore(type: .sqlite, at: directory.appendingPathComponent($0))
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.check { () throws in
            let (department, employee) = (Department(context: context), Employee(context: context))
            context.assign(department, to: stores[0])
            context.assign(employee, to: stores[1])
            try context.save()
            employee.department = department
            #expect(throws: (any Error).self) { try context.save() }
            context.rollback()
            #expect(employee.department == nil && !context.hasChanges)
            let boss = Manager(context: context)
            boss.department = department
            context.assign(boss, to: stores[0])
            try context.save()
            #expect(boss.objectID.persistentStore === stores[0])
        }
        for store in stores { try coordinator.remove(store) }
    }
}
