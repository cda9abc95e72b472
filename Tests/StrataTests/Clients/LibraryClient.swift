import CoreData
import Testing

// A library app: classes over key-value coding, a protocol that all of them share, and a stack of three contexts.

protocol LibraryManaged: NSManagedObject {
    static var entityName: String { get }
    static var defaultSortDescriptors: [NSSortDescriptor] { get }
}

extension LibraryManaged {
    static var entityName: String { String(describing: self) }
    static var defaultSortDescriptors: [NSSortDescriptor] { [] }

    static var sortedRequest: NSFetchRequest<Self> {
        let request = NSFetchRequest<Self>(entityName: entityName)
        request.sortDescriptors = defaultSortDescriptors
        return request
    }

    static func fetch(
        in context: NSManagedObjectContext, configure: (NSFetchRequest<Self>) -> Void = { _ in }
    ) throws -> [Self] {
        let request = sortedRequest
        configure(request)
        return try context.fetch(request)
    }

    static func first(in context: NSManagedObjectContext, where predicate: NSPredicate) throws -> Self? {
        try fetch(in: context) {
            $0.predicate = predicate
            $0.fetchLimit = 1
            $0.returnsObjectsAsFaults = false
        }.first
    }

    static func count(in context: NSManagedObjectContext, where predicate: NSPredicate? = nil) throws -> Int {
        let request = NSFetchRequest<Self>(entityName: entityName)
        request.predicate = predicate
        return try context.count(for: request)
    }

    static func materialized(in context: NSManagedObjectContext, matching predicate: NSPredicate) -> Self? {
        for object in context.registeredObjects where !object.isFault {
            guard let result = object as? Self, predicate.evaluate(with: result) else { continue }
            return result
        }
        return nil
    }

    static func findOrCreate(
        in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void
    ) throws -> Self {
        if let found = materialized(in: context, matching: predicate) { return found }
        if let stored = try first(in: context, where: predicate) { return stored }
        let created: Self = context.insertObject()
        configure(created)
        return created
    }
}

extension NSManagedObjectContext {
    func insertObject<A: LibraryManaged>() -> A {
        guard let object = NSEntityDescription.insertNewObject(forEntityName: A.entityName, into: self) as? A else {
            fatalError("Wrong object type")
        }
        return object
    }

    @discardableResult
    func saveIfNeeded() throws -> Bool {
        guard hasChanges else { return false }
        try save()
        return true
    }

    func saveOrRollback() -> Bool {
        do {
            try save()
            return true
        } catch {
            rollback()
            return false
        }
    }

    func saveUpwards() throws {
        var context: NSManagedObjectContext? = self
        while let current = context {
            try current.performAndWait {
                if current.hasChanges { try current.save() }
            }
            context = current.parent
        }
    }
}

class LibraryAuthor: NSManagedObject, LibraryManaged {
    static var defaultSortDescriptors: [NSSortDescriptor] {
        [NSSortDescriptor(key: "name", ascending: true, selector: Selector(("localizedStandardCompare:")))]
    }

    var name: String {
        get { value(forKey: "name") as? String ?? "" }
        set { setValue(newValue, forKey: "name") }
    }
    var books: Set<LibraryBook> {
        get { value(forKey: "books") as? Set<LibraryBook> ?? [] }
        set { setValue(newValue, forKey: "books") }
    }

    func addToBooks(_ book: LibraryBook) { mutableSetValue(forKey: "books").add(book) }
    func removeFromBooks(_ book: LibraryBook) { mutableSetValue(forKey: "books").remove(book) }
}

class LibraryBook: NSManagedObject, LibraryManaged {
    static var defaultSortDescriptors: [NSSortDescriptor] { [NSSortDescriptor(key: "title", ascending: true)] }

    class func fetchRequest() -> NSFetchRequest<LibraryBook> { NSFetchRequest<LibraryBook>(entityName: "LibraryBook") }

    convenience init(title: String, author: LibraryAuthor? = nil, in context: NSManagedObjectContext) {
        self.init(context: context)
        self.title = title
        self.author = author
    }

    var title: String? {
        get { value(forKey: "title") as? String }
        set { setValue(newValue, forKey: "title") }
    }
    var pages: Int32 {
        get { (value(forKey: "pages") as? NSNumber)?.int32Value ?? 0 }
        set { setValue(newValue, forKey: "pages") }
    }
    var price: Decimal? {
        get { value(forKey: "price") as? Decimal }
        set { setValue(newValue as NSDecimalNumber?, forKey: "price") }
    }
    var rating: NSNumber? {
        get { value(forKey: "rating") as? NSNumber }
        set { setValue(newValue, forKey: "rating") }
    }
    var author: LibraryAuthor? {
        get { value(forKey: "author") as? LibraryAuthor }
        set { setValue(newValue, forKey: "author") }
    }
    var created: Date {
        get {
            willAccessValue(forKey: "created")
            defer { didAccessValue(forKey: "created") }
            return primitiveValue(forKey: "created") as? Date ?? .distantPast
        }
        set {
            willChangeValue(forKey: "created")
            setPrimitiveValue(newValue, forKey: "created")
            didChangeValue(forKey: "created")
        }
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(Date(timeIntervalSince1970: 1000), forKey: "created")
        setPrimitiveValue(UUID(), forKey: "id")
    }
}

extension LibraryBook: Identifiable {
    var id: UUID? { value(forKey: "id") as? UUID }
}

enum LibraryStack {
    /// As generated by a tool: bare class names, entity named as its class.
    static let model: NSManagedObjectModel = {
        let author = NSEntityDescription()
        author.name = "LibraryAuthor"
        author.managedObjectClassName = "LibraryAuthor"
        let book = NSEntityDescription()
        book.name = "LibraryBook"
        book.managedObjectClassName = NSStringFromClass(LibraryBook.self)

        func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.type = type
            attribute.isOptional = true
            return attribute
        }
        let books = NSRelationshipDescription()
        books.name = "books"
        books.destinationEntity = book
        books.minCount = 0
        books.maxCount = 0
        books.deleteRule = .cascadeDeleteRule
        let writer = NSRelationshipDescription()
        writer.name = "author"
        writer.destinationEntity = author
        writer.minCount = 0
        writer.maxCount = 1
        writer.deleteRule = .nullifyDeleteRule
        books.inverseRelationship = writer
        writer.inverseRelationship = books

        let name = attribute("name", .string)
        name.isOptional = false
        author.properties = [name, books]
        let title = attribute("title", .string)
        title.isOptional = false
        title.setValidationPredicates(
            [NSPredicate(format: "SELF.length > 0")], withValidationWarnings: ["Title must not be empty"])
        book.properties = [
            title, attribute("pages", .integer32), attribute("price", .decimal), attribute("rating", .double),
            attribute("created", .date), attribute("id", .uuid), writer,
        ]
        book.uniquenessConstraints = []
        let model = NSManagedObjectModel()
        model.entities = [author, book]
        return model
    }()

    static func container(inMemory: Bool = true) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        let description = NSPersistentStoreDescription()
        if inMemory {
            description.url = URL(fileURLWithPath: "/dev/null")
        } else {
            description.url = FileManager.default.temporaryDirectory
                .appendingPathComponent(UUID().uuidString).appendingPathExtension("sqlite")
        }
        description.shouldAddStoreAsynchronously = false
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        container.viewContext.undoManager = nil
        return container
    }
}

@MainActor
@Suite struct LibraryClientTests {
    @Test func classesAreFoundByBareNames() throws {
        let container = try LibraryStack.container()
        let context = container.viewContext
        let author = LibraryAuthor(context: context)
        author.name = "Ursula"
        let book = LibraryBook(title: "The Dispossessed", author: author, in: context)
        book.pages = 341
        book.price = Decimal(string: "12.99")
        #expect(book.created == Date(timeIntervalSince1970: 1000))
        #expect(book.id != nil)
        #expect(try context.saveIfNeeded())
        #expect(try !context.saveIfNeeded())
        context.reset()

        let found = try #require(
            try LibraryAuthor.first(in: context, where: NSPredicate(format: "name BEGINSWITH[cd] %@", "urs")))
        #expect(type(of: found) == LibraryAuthor.self)
        #expect(found.books.count == 1)
        #expect(found.books.first?.price == Decimal(string: "12.99"))
        #expect(LibraryAuthor.entity().name == "LibraryAuthor")
        #expect(try LibraryBook.count(in: context, where: NSPredicate(format: "author == %@", found)) == 1)
        let typed: NSFetchRequest<LibraryBook> = LibraryBook.fetchRequest()
        typed.predicate = NSPredicate(format: "%K.%K == %@", "author", "name", "Ursula")
        #expect(try context.fetch(typed).first?.title == "The Dispossessed")
        let untyped: NSFetchRequest<any NSFetchRequestResult> = LibraryBook.fetchRequest()
        let results = try context.fetch(untyped) as! [LibraryBook]
        #expect(results.count == 1)
    }

    @Test func findOrCreateFindsInMemoryStoredAndCreates() throws {
        let context = try LibraryStack.container().viewContext
        let predicate = NSPredicate(format: "%K == %@", "name", "Octavia")
        let created = try LibraryAuthor.findOrCreate(in: context, matching: predicate) { $0.name = "Octavia" }
        let again = try LibraryAuthor.findOrCreate(in: context, matching: predicate) { _ in
            Issue.record("created twice")
        }
        #expect(created === again)
        try context.save()
        context.refreshAllObjects()
        let third = try LibraryAuthor.findOrCreate(in: context, matching: predicate) { _ in
            Issue.record("created twice")
        }
        #expect(third === created)
        #expect(try LibraryAuthor.count(in: context) == 1)
    }

    @Test func threeTierStackSavesUpwards() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryStack.model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let root = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        root.persistentStoreCoordinator = coordinator
        root.name = "root"
        let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        main.parent = root
        main.automaticallyMergesChangesFromParent = true
        let worker = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        worker.parent = main

        let id: NSManagedObjectID = try await worker.perform {
            let author: LibraryAuthor = worker.insertObject()
            author.name = "Iain"
            author.addToBooks(LibraryBook(title: "Excession", in: worker))
            try worker.obtainPermanentIDs(for: [author])
            try worker.save()
            return author.objectID
        }
        #expect(!id.isTemporaryID)
        #expect(main.hasChanges)
        try main.saveUpwards()
        #expect(!main.hasChanges && !root.hasChanges)
        let author = try #require(try main.existingObject(with: id) as? LibraryAuthor)
        #expect(author.books.map(\.title) == ["Excession"])

        // An editing context is thrown away.
        let editing = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        editing.parent = main
        let edited = editing.object(with: id) as! LibraryAuthor
        edited.name = "Nobody"
        #expect(editing.hasChanges)
        #expect(author.name == "Iain")
        editing.rollback()
        #expect(edited.name == "Iain")
        edited.name = "Iain M."
        try editing.saveUpwards()
        #expect(author.name == "Iain M.")
        let fresh = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        fresh.persistentStoreCoordinator = coordinator
        let name = fresh.performAndWait { (fresh.object(with: id) as? LibraryAuthor)?.name }
        #expect(name == "Iain M.")
    }

    @Test func validationErrorsAreNSErrors() throws {
        let context = try LibraryStack.container().viewContext
        let book = LibraryBook(context: context)
        do {
            try context.save()
            Issue.record("saved")
        } catch let error as NSError {
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.code == NSValidationMissingMandatoryPropertyError)
            #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "title")
            #expect((error.userInfo[NSValidationObjectErrorKey] as? LibraryBook) === book)
        }
        let author = LibraryAuthor(context: context)
        do {
            try context.save()
            Issue.record("saved")
        } catch {
            let error = error as NSError
            #expect(error.code == NSValidationMultipleErrorsError)
            let details = error.userInfo[NSDetailedErrorsKey] as? [NSError]
            #expect(details?.count == 2)
            #expect(
                Set(details?.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String } ?? []) == ["title", "name"])
        }
        author.name = "A"
        book.title = ""
        do {
            try context.save()
            Issue.record("saved")
        } catch let error as CocoaError {
            #expect(
                error.code == .validationStringTooShort || error.code.rawValue == NSManagedObjectValidationError
                    || error.code.rawValue == 1550)
            #expect(error.userInfo[NSValidationPredicateErrorKey] != nil)
        }
        #expect(!context.saveOrRollback())
        #expect(!context.hasChanges)
        #expect(book.managedObjectContext == nil)
    }
}
