import CoreData
import Foundation
import Testing

// A layered program: value types above, a generic repository over managed objects below, a stack that is made anew
// for each test, and observers by closures.

private struct RepositoryTask: Equatable, Identifiable, Sendable {
    var id: UUID
    var title: String
    var isDone: Bool
    var due: Date?
}

private protocol DomainConvertible: NSManagedObject {
    associatedtype Domain: Identifiable where Domain.ID == UUID
    static var entityName: String { get }
    func asDomain() throws -> Domain
    func update(from domain: Domain)
}

private final class TaskEntity: NSManagedObject, DomainConvertible {
    static var entityName: String { "TaskEntity" }

    private static let identifierSlot = AttributeSlot<UUID?>("identifier")
    private static let titleSlot = AttributeSlot<String?>("title")
    private static let doneSlot = AttributeSlot<Bool>("isDone")
    private static let dueSlot = AttributeSlot<Date?>("due")

    var identifier: UUID? {
        get { self[Self.identifierSlot] }
        set { self[Self.identifierSlot] = newValue }
    }
    var title: String? {
        get { self[Self.titleSlot] }
        set { self[Self.titleSlot] = newValue }
    }
    var isDone: Bool {
        get { self[Self.doneSlot] }
        set { self[Self.doneSlot] = newValue }
    }
    var due: Date? {
        get { self[Self.dueSlot] }
        set { self[Self.dueSlot] = newValue }
    }

    func asDomain() throws -> RepositoryTask {
        guard let identifier, let title else { throw CocoaError(.coderValueNotFound) }
        return RepositoryTask(id: identifier, title: title, isDone: isDone, due: due)
    }

    func update(from domain: RepositoryTask) {
        identifier = domain.id
        title = domain.title
        isDone = domain.isDone
        due = domain.due
    }
}

private final class Repository<Entity: DomainConvertible> {
    private let context: NSManagedObjectContext

    init(context: NSManagedObjectContext) { self.context = context }

    private func request(_ id: UUID) -> NSFetchRequest<Entity> {
        let request = NSFetchRequest<Entity>(entityName: Entity.entityName)
        request.predicate = NSPredicate(format: "%K == %@", "identifier", id as any CVarArg)
        request.fetchLimit = 1
        return request
    }

    func save(_ domain: Entity.Domain) throws {
        try context.performAndWait {
            let entity = try context.fetch(request(domain.id)).first ?? Entity(context: context)
            entity.update(from: domain)
            try context.save()
        }
    }

    func get(_ id: UUID) throws -> Entity.Domain? {
        try context.performAndWait { try context.fetch(request(id)).first?.asDomain() }
    }

    func all(
        where predicate: NSPredicate? = nil, sortedBy sorting: [NSSortDescriptor] = []
    ) throws -> [Entity.Domain] {
        let request = NSFetchRequest<Entity>(entityName: Entity.entityName)
        request.predicate = predicate
        request.sortDescriptors = sorting
        return try context.performAndWait { try context.fetch(request).map { try $0.asDomain() } }
    }

    func delete(_ id: UUID) throws -> Bool {
        try context.performAndWait {
            guard let entity = try context.fetch(request(id)).first else { return false }
            context.delete(entity)
            try context.save()
            return true
        }
    }

    func deleteAll() throws -> Int {
        try context.performAndWait {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: Entity.entityName)
            let delete = NSBatchDeleteRequest(fetchRequest: request)
            delete.resultType = .resultTypeObjectIDs
            let result = try context.execute(delete) as? NSBatchDeleteResult
            let ids = result?.result as? [NSManagedObjectID] ?? []
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
            return ids.count
        }
    }
}

/// Tells of what is saved anywhere in a coordinator, as view models want to hear it.
private final class StoreObserver: @unchecked Sendable {
    // Unchecked: each test saves on one thread at a time.

    private(set) var inserted = 0
    private(set) var updated = 0
    private(set) var deleted = 0
    private var token: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext) {
        token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
        ) { [weak self] note in
            func objects(_ key: NSManagedObjectContext.NotificationKey) -> Set<NSManagedObject> {
                note.userInfo?[key.rawValue] as? Set<NSManagedObject> ?? []
            }
            self?.inserted += objects(.insertedObjects).count
            self?.updated += objects(.updatedObjects).count
            self?.deleted += objects(.deletedObjects).count
        }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}

@Suite struct RepositoryClientTests {
    private let container: NSPersistentContainer
    private let repository: Repository<TaskEntity>
    private let context: NSManagedObjectContext

    init() throws {
        let entity = NSEntityDescription()
        entity.name = TaskEntity.entityName
        entity.managedObjectClassName = NSStringFromClass(TaskEntity.self)
        entity.properties = [
            GraphModel.attribute("identifier", .UUIDAttributeType, optional: false),
            GraphModel.attribute("title", .stringAttributeType, optional: false),
            GraphModel.attribute("isDone", .booleanAttributeType, default: false),
            GraphModel.attribute("due", .dateAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let container = NSPersistentContainer(name: "Tasks", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        description.shouldAddStoreAsynchronously = false
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { description, error in
            precondition(error == nil, "\(description): \(String(describing: error))")
        }
        self.container = container
        context = container.newBackgroundContext()
        repository = Repository(context: context)
    }

    private func task(_ title: String, isDone: Bool = false, due: Date? = nil) -> RepositoryTask {
        RepositoryTask(id: UUID(), title: title, isDone: isDone, due: due)
    }

    @Test func savingTwiceUpdates() throws {
        let observer = StoreObserver(context)
        var first = task("write")
        try repository.save(first)
        first.isDone = true
        try repository.save(first)
        #expect(try repository.get(first.id) == first)
        #expect(try repository.all() == [first])
        #expect((observer.inserted, observer.updated, observer.deleted) == (1, 1, 0))
        #expect(try repository.delete(first.id))
        #expect(try !repository.delete(first.id))
        #expect(try repository.get(first.id) == nil)
        #expect(observer.deleted == 1)
    }

    @Test func listsAreFilteredAndSorted() throws {
        let now = Date(timeIntervalSinceReferenceDate: 700_000_000)
        let tasks = [
            task("b", due: now), task("a", isDone: true, due: now.addingTimeInterval(60)),
            task("c", due: now.addingTimeInterval(-60)), task("Ä"),
        ]
        for task in tasks { try repository.save(task) }
        let open = NSPredicate(format: "isDone == NO")
        let late = NSPredicate(format: "due != nil AND due < %@", now.addingTimeInterval(30) as NSDate)
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [open, late])
        let byDue = [NSSortDescriptor(key: "due", ascending: true)]
        #expect(try repository.all(where: both, sortedBy: byDue).map(\.title) == ["c", "b"])
        #expect(
            try repository.all(where: NSCompoundPredicate(notPredicateWithSubpredicate: open)).map(\.title) == ["a"])
        let folded = NSPredicate(format: "title LIKE[cd] %@", "a*")
        #expect(try Set(repository.all(where: folded).map(\.title)) == ["a", "Ä"])
        #expect(try repository.deleteAll() == 4)
        #expect(try repository.all().isEmpty)
    }

    @Test func eachStackIsEmptyAtFirst() throws {
        #expect(try repository.all().isEmpty)
        #expect(container.persistentStoreDescriptions.first?.url?.path == "/dev/null")
    }

    @Test func aTaskWithoutTitleIsRefused() throws {
        try context.performAndWait {
            let entity = TaskEntity(context: context)
            entity.identifier = UUID()
            do {
                try context.save()
                Issue.record("the save went through")
            } catch let error as NSError {
                #expect(error.domain == NSCocoaErrorDomain)
                #expect(error.code == NSValidationMissingMandatoryPropertyError)
                #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "title")
                #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === entity)
            }
            context.delete(entity)
            try context.save()
            #expect(context.registeredObjects.isEmpty)
        }
    }
}
