import CoreData

// What programs write in files that import CoreData only.

/// A class with an initialiser of its own, and nothing else.
class CompilingPerson: NSManagedObject {
    let origin: String

    init(named name: String, in context: NSManagedObjectContext) {
        origin = "made"
        // swift-format-ignore: NeverForceUnwrap
        super.init(
            entity: NSEntityDescription.entity(forEntityName: "CompilingPerson", in: context)!, insertInto: context)
        setValue(name, forKey: "name")
    }

    var name: String? {
        get { value(forKey: "name") as? String }
        set { setValue(newValue, forKey: "name") }
    }
}

/// A class that inherits everything, with a request of its own, as Xcode generates it.
class CompilingPlace: NSManagedObject {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<CompilingPlace> {
        NSFetchRequest<CompilingPlace>(entityName: "CompilingPlace")
    }

    var title: String? {
        get { value(forKey: "title") as? String }
        set { setValue(newValue, forKey: "title") }
    }
    var visitors: Set<NSManagedObject> {
        get { value(forKey: "visitors") as? Set<NSManagedObject> ?? [] }
        set { setValue(newValue, forKey: "visitors") }
    }
}

/// And one below it, whose request is declared in an extension.
final class CompilingTown: CompilingPlace {
    /// Replaces what the class would otherwise inherit.
    convenience init() { self.init(entity: Self.entity(), insertInto: nil) }
}

extension CompilingTown {
    @nonobjc public class func fetchRequest() -> NSFetchRequest<CompilingTown> {
        NSFetchRequest<CompilingTown>(entityName: "CompilingTown")
    }
}

extension NSPersistentStoreCoordinator {
    convenience init(compiling model: NSManagedObjectModel, named name: String) {
        self.init(managedObjectModel: model)
        self.name = name
    }
}

/// A coordinator that counts who waits for it.
final class CompilingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
    private(set) var waited = 0

    override func performAndWait(_ block: () -> Void) {
        waited += 1
        super.performAndWait(block)
    }
}

/// A store with an initialiser of its own that nobody registers.
final class CompilingStore: NSIncrementalStore, @unchecked Sendable {
    let number: Int

    init(number: Int, url: URL) {
        self.number = number
        super.init(persistentStoreCoordinator: nil, configurationName: nil, at: url, options: nil)
    }
}

/// A model of views, with Combine's names.
final class CompilingViewModel {
    private(set) var changes = 0
    private var list: [AnyCancellable] = []
    private var set: Set<AnyCancellable> = []

    func follow(_ object: NSManagedObject) {
        object.objectWillChange.sink { [weak self] in self?.changes += 1 }.store(in: &list)
        object.objectWillChange.sink { _ in self.changes += 10 }.store(in: &set)
    }

    func stop() {
        list = []
        set = []
    }
}

enum CompilingCoreData {
    /// Requests whose type is written nowhere: that of the class is meant.
    static func untypedRequests(_ context: NSManagedObjectContext) throws -> [String?] {
        let request = CompilingPlace.fetchRequest()
        request.fetchLimit = 1
        var titles = try context.fetch(request).map(\.title)
        for place in try context.fetch(CompilingPlace.fetchRequest()) { titles.append(place.title) }
        let towns: NSFetchRequest<CompilingTown> = CompilingTown.fetchRequest()
        return titles + [String(try context.count(for: towns))]
    }

    /// A helper that is told the type of its results.
    static func request<T>(_ type: T.Type, _ name: String) -> NSFetchRequest<T> { NSFetchRequest<T>(entityName: name) }

    static func anyRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        request((any NSFetchRequestResult).self, "CompilingPlace")
    }

    static func name<T: NSManagedObject>(of type: T.Type) -> String { NSStringFromClass(T.classForCoder()) }

    static func names(_ model: NSManagedObjectModel) -> [String] {
        var names: [String] = []
        var entities = NSFastEnumerationIterator(model)
        while let entity = entities.next() as? NSEntityDescription { names.append(entity.name ?? "") }
        return names.sorted()
    }
}
