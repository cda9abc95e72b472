import CoreData
import Foundation
import StrataSupport
import Synchronization

/// A store with an entity whose name no other test has: the hook hears of every store of the process.
final class EventFixture: Sendable {
    enum Kind: CaseIterable, Sendable { case log, memory }

    let entity = "Book\(UUID().uuidString.prefix(8))"
    let container: NSPersistentContainer
    private let heard = Mutex<[String]>([])
    private let number = Mutex<Int?>(nil)
    private let folder: URL

    init(_ kind: Kind = .log) throws {
        folder = ProcessFolder.url.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let book = GraphModel.entity(entity)
        let pages = GraphModel.attribute("pages", .integer64AttributeType, default: 0)
        book.properties = [
            GraphModel.attribute("title", .stringAttributeType, optional: false), pages,
            GraphModel.attribute("code", .stringAttributeType),
        ]
        book.indexes = [
            NSFetchIndexDescription(
                name: "byPages", elements: [NSFetchIndexElementDescription(property: pages, collationType: .binary)])
        ]
        book.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [book]
        container = NSPersistentContainer(name: entity, managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: folder.appendingPathComponent(entity))
        if kind == .memory { description.type = NSInMemoryStoreType }
        description.shouldAddStoreAsynchronously = false
        container.persistentStoreDescriptions = [description]
        let failure = LockedBox<(any Error)?>(nil)
        container.loadPersistentStores { _, error in if let error { failure.change { $0 = error } } }
        if let error = failure.value { throw error }
    }

    deinit { stop() }

    /// The path that events name the store by.
    var path: String? { container.persistentStoreCoordinator.persistentStores.first?.url?.path }

    /// Notes what `note` makes of each event; nil is left out.
    func listen(_ kinds: EventKinds, _ note: @escaping @Sendable (StrataEvent) -> String?) {
        let added = EventHub.add(
            EventListener(kinds: kinds) { [weak self] event in
                if let self, let text = note(event) { self.heard.withLock { $0.append(text) } }
            })
        number.withLock { $0 = added }
    }

    func stop() {
        if let number = number.withLock({ $0 }) { EventHub.remove(number) }
        number.withLock { $0 = nil }
    }

    /// What has been noted since the last time.
    func take() -> [String] {
        heard.withLock { heard in
            defer { heard = [] }
            return heard
        }
    }

    func add(_ count: Int, to context: NSManagedObjectContext) {
        for number in 0..<count {
            let book = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            book.setValue("T\(number)", forKey: "title")
            book.setValue(number, forKey: "pages")
        }
    }

    func request(_ predicate: NSPredicate? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = predicate
        return request
    }
}
