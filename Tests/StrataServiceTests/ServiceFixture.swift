import CoreData
import Foundation
import StrataService
import Synchronization

/// A container whose entity no other test has: telemetry hears of every store of the process.
final class ServiceFixture: Sendable {
    let entity = "Book\(UUID().uuidString.prefix(8))"
    let container: NSPersistentContainer
    let folder: URL

    init(loads: Bool = true) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-service-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        container = Self.container(entity, folder)
        if loads { try load() }
    }

    deinit {
        for store in container.persistentStoreCoordinator.persistentStores {
            try? container.persistentStoreCoordinator.remove(store)
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// For how long tests wait that are not about waiting: every test runs at once, also on a machine that does other
    /// work, and the pool's own limit is one for requests.
    static let patience: Duration = .seconds(600)

    var pool: StrataContextPool {
        var options = StrataContextPool.Options()
        options.timeLimit = Self.patience
        return StrataContextPool(container, options)
    }

    static func container(_ entity: String, _ folder: URL) -> NSPersistentContainer {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        let book = NSEntityDescription()
        book.name = entity
        let title = attribute("title", .stringAttributeType)
        title.isOptional = false
        book.properties = [title, attribute("pages", .integer64AttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [book]
        let container = NSPersistentContainer(name: entity, managedObjectModel: model)
        container.persistentStoreDescriptions = [
            NSPersistentStoreDescription(url: folder.appendingPathComponent("books"))
        ]
        return container
    }

    private func load() throws {
        let failure = Mutex<(any Error)?>(nil)
        container.loadPersistentStores { _, error in failure.withLock { $0 = error } }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    static func add(_ count: Int, _ entity: String, _ context: NSManagedObjectContext, title: String = "T") {
        for number in 0..<count {
            let book = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            book.setValue("\(title)\(number)", forKey: "title")
            book.setValue(number, forKey: "pages")
        }
    }

    typealias Request = NSFetchRequest<NSManagedObject>

    static func request(_ entity: String, _ format: String? = nil, _ argument: String = "") -> Request {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        if let format { request.predicate = NSPredicate(format: format, argument) }
        return request
    }
}
