import CoreData

// The classes and the model of docs/guide.md, as they are written there.

final class Author: NSManagedObject {
    private static let nameSlot = AttributeSlot<String>("name")
    private static let booksSlot = ToManySlot<Book>("books")

    var name: String {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }
    var books: Set<Book> {
        get { self[Self.booksSlot] }
        set { self[Self.booksSlot] = newValue }
    }

    func addToBooks(_ book: Book) { members(Self.booksSlot).add(book) }
    var bookCount: Int { members(Self.booksSlot).count }

    override class var propertyNames: [AnyKeyPath: String] {
        [\Author.name: "name", \Author.books: "books"]
    }
}

final class Book: NSManagedObject {
    private static let titleSlot = AttributeSlot<String>("title")
    private static let isbnSlot = AttributeSlot<String?>("isbn")
    private static let pagesSlot = AttributeSlot<Int>("pages")
    private static let authorSlot = ToOneSlot<Author>("author")

    var title: String {
        get { self[Self.titleSlot] }
        set { self[Self.titleSlot] = newValue }
    }
    var isbn: String? {
        get { self[Self.isbnSlot] }
        set { self[Self.isbnSlot] = newValue }
    }
    var pages: Int {
        get { self[Self.pagesSlot] }
        set { self[Self.pagesSlot] = newValue }
    }
    var author: Author? {
        get { self[Self.authorSlot] }
        set { self[Self.authorSlot] = newValue }
    }

    override class var propertyNames: [AnyKeyPath: String] {
        [\Book.title: "title", \Book.isbn: "isbn", \Book.pages: "pages", \Book.author: "author"]
    }

    override class var keyValidators: [String: KeyValidator] {
        ["isbn": KeyValidator(Book.validateISBN)]
    }

    func validateISBN(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
        guard let isbn = value.pointee as? String else { return }
        guard isbn.count == 10 || isbn.count == 13 else {
            throw CocoaError(.managedObjectValidation, userInfo: [NSValidationKeyErrorKey: "isbn"])
        }
    }
}

enum LibraryModel {
    static let shared: NSManagedObjectModel = {
        let author = NSEntityDescription()
        author.name = "Author"
        author.managedObjectClassName = NSStringFromClass(Author.self)
        let book = NSEntityDescription()
        book.name = "Book"
        book.managedObjectClassName = NSStringFromClass(Book.self)

        let books = relationship("books", to: book, toMany: true, rule: .cascadeDeleteRule)
        let writer = relationship("author", to: author)
        books.inverseRelationship = writer
        writer.inverseRelationship = books

        let title = attribute("title", .stringAttributeType, isOptional: false)
        title.setBounds(minimum: 1, maximum: 200)
        author.properties = [attribute("name", .stringAttributeType, isOptional: false), books]
        book.properties = [
            title, attribute("isbn", .stringAttributeType), attribute("pages", .integer64AttributeType), writer,
        ]
        book.uniquenessConstraints = [["isbn"]]

        let model = NSManagedObjectModel()
        model.entities = [author, book]
        return model
    }()

    private static func attribute(
        _ name: String, _ type: NSAttributeType, isOptional: Bool = true
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = isOptional
        return attribute
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, toMany: Bool = false,
        rule: NSDeleteRule = .nullifyDeleteRule
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = toMany ? 0 : 1
        relationship.deleteRule = rule
        return relationship
    }
}

enum Library {
    static func open(at url: URL) throws -> NSPersistentContainer {
        let description = NSPersistentStoreDescription(url: url)
        description.setOption("full" as NSString, forKey: StrataDurabilityOption)

        let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.shared)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }
}
