import Catalogue
import CoreData
import Testing

@testable import Bookshop

/// Hand-written subclasses in the style of Xcode's templates, over a store in memory and back.
@Suite struct BookshopTests {
    private let container: NSPersistentContainer

    init() throws {
        container = NSPersistentContainer(name: "Bookshop", managedObjectModel: BookshopModel.shared)
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }

    /// What the closure leaves in the store, and what another context reads of it.
    private func roundTrip<Object: NSManagedObject>(
        _ make: (NSManagedObjectContext) throws -> Object, _ check: (Object) throws -> Void
    ) throws {
        let first = container.newBackgroundContext()
        let id = try first.performAndWait {
            let object = try make(first)
            try first.save()
            try check(object)
            return object.objectID
        }
        let second = container.newBackgroundContext()
        try second.performAndWait {
            try check(try #require(try second.existingObject(with: id) as? Object))
        }
    }

    /// An optional was given to `setNilValueForKey(_:)`, too, which left 1 in place of nil.
    @Test func nilGoesToOptionalsAsItIs() throws {
        let context = container.newBackgroundContext()
        context.performAndWait {
            let parcel = Parcel(context: context)
            parcel.weight = 5
            parcel.insurance = 100
            parcel.setValue(nil, forKey: "weight")
            parcel.setValuesForKeys(["insurance": NSNull()])
            #expect(parcel.weight == 1 && parcel.insurance == nil)
        }
    }

    /// Managed objects are of these types, too: their own accessors must not answer for an attribute.
    @Test func attributesOfGeneralTypesComeBack() throws {
        try roundTrip(
            { context in
                let parcel = Parcel(context: context)
                #expect(parcel.label == nil && parcel.anything == nil && parcel.contents == nil)
                #expect(parcel.width == 0 && parcel.weight == 0)
                parcel.label = "fragile" as NSString
                parcel.anything = ["a": 1]
                parcel.object = NSNumber(value: 7)
                parcel.known = NSURL(string: "https://example.org")
                parcel.key = "k"
                parcel.contents = [1, "two"]
                parcel.objects = [NSNumber(value: 1), "two" as NSString]
                parcel.names = ["a", "b"]
                parcel.list = [1]
                parcel.width = 2.5
                parcel.section = Section.make("shelf", in: context)
                return parcel
            },
            { (parcel: Parcel) in
                #expect(parcel.label?.isEqual("fragile" as NSString) == true)
                #expect(parcel.anything as? [String: Int] == ["a": 1])
                #expect((parcel.object as? NSNumber) == 7)
                #expect((parcel.known as? NSURL)?.absoluteString == "https://example.org")
                #expect(parcel.key == "k" as AnyHashable)
                #expect(parcel.contents?.first as? Int == 1 && parcel.contents?.last as? String == "two")
                #expect(parcel.objects == [NSNumber(value: 1), "two" as NSString])
                #expect(parcel.names == ["a", "b"] && parcel.list == [1])
                #expect(parcel.width == 2.5 && parcel.value(forKey: "width") as? Double == 2.5)
                #expect((parcel.section as? Section)?.name == "shelf")
            })
    }

    @Test func valuesOfEveryDeclaredTypeComeBack() throws {
        let identifier = UUID()
        try roundTrip(
            { context in
                let book = Book(context: context)
                book.identifier = identifier
                book.title = "Walden"
                book.subtitle = "Life"
                book.subtitle? += " in the Woods"
                book.pages = 352
                book.pages += 1
                book.rating = 4.5
                book.weight = NSDecimalNumber(string: "0.25")
                book.published = 1000
                book.format = .audio
                book.status = .inStock
                book.price = Price(cents: 999, currency: "EUR")
                book.tags = ["pond"]
                book.tags?.append("cabin")
                book.isSigned = true
                book.class = 7
                book.publish(in: 3)
                return book
            },
            { (book: Book) in
                #expect(book.identifier == identifier)
                #expect(book.createdAt != nil)
                #expect(book.title == "Walden")
                #expect(book.subtitle == "Life in the Woods")
                #expect(book.pages == 353)
                #expect(book.rating == 4.5)
                #expect(book.weight == NSDecimalNumber(string: "0.25"))
                #expect(book.published == 1000)
                #expect(book.value(forKey: "published") as? Date == Date(timeIntervalSinceReferenceDate: 1000))
                #expect(book.format == .audio)
                #expect(book.status == .inStock)
                #expect(book.price == Price(cents: 999, currency: "EUR"))
                #expect(book.tags == ["pond", "cabin"])
                #expect(book.isSigned)
                #expect(book.class == 7)
                #expect(book.notesOfThePublisher == "in 3 days")
            })
    }

    @Test func nullIsZeroNilOrTheFirstCase() throws {
        try roundTrip(
            { context in Book(context: context) },
            { (book: Book) in
                #expect(book.title == "")
                #expect(book.subtitle == nil)
                #expect(book.pages == 0)
                #expect(book.rating == nil)
                #expect(book.published == 0)
                #expect(book.format == .hardcover)
                #expect(book.status == nil)
                #expect(book.price == nil)
                #expect(book.author == nil)
                #expect(book.edition == nil)
                #expect(book.editions.isEmpty)
            })
    }

    @Test func settingNilMakesNull() throws {
        try roundTrip(
            { context in
                let book = Book(context: context)
                book.rating = 1
                book.status = .ordered
                book.subtitle = "x"
                book.price = Price(cents: 1, currency: "EUR")
                book.tags = []
                book.rating = nil
                book.status = nil
                book.subtitle = nil
                book.price = nil
                book.tags = nil
                return book
            },
            { (book: Book) in
                for key in ["rating", "status", "subtitle", "price", "tags"] { #expect(book.value(forKey: key) == nil) }
            })
    }

    @Test func relationshipsAndTheirMethods() throws {
        try roundTrip(
            { context in
                let author = Author(context: context)
                author.name = "Henry David Thoreau"
                author.born = NSDate(timeIntervalSinceReferenceDate: -5)
                let books = (0..<4).map { _ in Book(context: context) }
                author.addToBooks(books[0])
                author.addToBooks(NSSet(array: [books[1], books[2], books[3]]))
                author.removeFromBooks(books[3])
                author.removeFromBooks(NSSet(object: books[2]))
                books[0].editions.insert(books[1])
                return author
            },
            { (author: Author) in
                #expect(author.books?.count == 2)
                #expect((author.books as? Set<Book>)?.count == 2)
                #expect(author.born == NSDate(timeIntervalSinceReferenceDate: -5))
                let first = try #require((author.books?.allObjects as? [Book])?.first { !$0.editions.isEmpty })
                #expect(first.editions.first?.edition === first)
                #expect(first.author === author)
                #expect(author.initials == "H. D. T.")
            })
    }

    @Test func orderedRelationshipsAndTheirMethods() throws {
        try roundTrip(
            { context in
                let shelf = Shelf(context: context)
                let books = (0..<6).map { number in
                    let book = Book(context: context)
                    book.title = "\(number)"
                    return book
                }
                shelf.addToBooks(NSOrderedSet(array: [books[0], books[1]]))  // 0 1
                shelf.insertIntoBooks(books[2], at: 0)  // 2 0 1
                shelf.insertIntoBooks([books[3], books[4]], at: NSIndexSet(indexSet: [1, 3]))  // 2 3 0 4 1
                shelf.removeFromBooks(at: 2)  // 2 3 4 1
                shelf.replaceBooks(at: 3, with: books[5])  // 2 3 4 5
                shelf.replaceBooks(at: NSIndexSet(index: 0), with: [books[0]])  // 0 3 4 5
                shelf.removeFromBooks(at: NSIndexSet(index: 1))  // 0 4 5
                shelf.removeFromBooks(NSOrderedSet(object: books[4]))  // 0 5
                shelf.sections = [Section.make("b", in: context), Section.make("a", in: context)]
                return shelf
            },
            { (shelf: Shelf) in
                #expect((shelf.books?.array as? [Book])?.map(\.title) == ["0", "5"])
                #expect(shelf.sections.map(\.name) == ["b", "a"])
                #expect(shelf.sections.first?.shelf === shelf)
            })
    }

    @Test func nestedClassesAndTypes() throws {
        try roundTrip(
            { context in
                let item = Stock.Item(context: context)
                item.place = .back
                item.count = 200
                item.book = Book(context: context)
                return item
            },
            { (item: Stock.Item) in
                #expect(item.place == .back)
                #expect(item.count == 200)
                #expect(item.book.title == "")
            })
    }

    @Test func aClassIsFoundByItsNameForObjectiveC() {
        let context = container.newBackgroundContext()
        context.performAndWait {
            let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
            #expect(shelf is Shelf)
        }
    }

    @Test func keyValueCodingFindsAccessorsOfTheClass() {
        let context = container.newBackgroundContext()
        context.performAndWait {
            let author = Author(context: context)
            author.name = "Ada Lovelace"
            #expect(author.value(forKey: "initials") as? String == "A. L.")
            let book = Book(context: context)
            book.author = author
            #expect(book.value(forKeyPath: "author.initials") as? String == "A. L.")
            // An accessor over primitives, in the model.
            book.setValue("978-0 13", forKey: "isbn")
            #expect(book.value(forKey: "isbn") as? String == "978013")
            #expect(book.isbn == "978013")
            // One that asks key-value coding itself.
            #expect(book.blurb == "no blurb")
            #expect(book.value(forKey: "blurb") as? String == "no blurb")
            book.blurb = "good"
            #expect(book.value(forKey: "blurb") as? String == "good")
        }
    }

    @Test func keyValueCodingMeansWhatIsStoredWhereAPropertyMakesSomethingElseOfIt() throws {
        try roundTrip(
            { context in
                let book = Book(context: context)
                book.setValue("https://example.org/walden", forKey: "link")
                book.setValue(90, forKey: "reading")
                #expect(book.link == URL(string: "https://example.org/walden"))
                #expect(book.reading == .seconds(90))
                return book
            },
            { (book: Book) in
                #expect(book.value(forKey: "link") as? String == "https://example.org/walden")
                #expect(book.value(forKey: "reading") as? Double == 90)
            })
    }

    @Test func keyValueCodingHandsOutNumbersAndTakesNilForThem() {
        let context = container.newBackgroundContext()
        context.performAndWait {
            let book = Book(context: context)
            book.setValue(3, forKey: "copies")
            #expect(book.copies == 3)
            #expect(book.value(forKey: "copies") as? NSNumber == 3)
            #expect(book.value(forKey: "copies") as? Int == 3)
            book.setValue(nil, forKey: "copies")
            #expect(book.copies == 0)
            #expect(book.primitiveValue(forKey: "copies") == nil)
            // No room in an Integer 32: kept for the validation, not cut by the accessor.
            book.setValue(5_000_000_000, forKey: "copies")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationNumberTooLarge)
        }
    }

    @Test func validatorsAreFoundByTheirNames() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let book = Book(context: context)
            book.title = "Stop!"
            #expect(throws: CocoaError.self) { try context.save() }
            book.title = "Stop"
            try context.save()
        }
    }

    /// As key-value observing finds it on Apple's platforms: by the name of a method of the class.
    @Test func computedPropertiesAreObservedByWhatTheyDependOn() throws {
        #expect(Author.keyPathsForValuesAffectingValue(forKey: "initials") == ["name"])
        #expect(Author.keyPathsForValuesAffectingValue(forKey: "name").isEmpty)
        let context = container.newBackgroundContext()
        context.performAndWait {
            let author = Author(context: context)
            author.name = "Ada Lovelace"
            var seen: [String] = []
            let observation = author.observe(\.initials, options: [.new]) { author, _ in seen.append(author.initials) }
            author.name = "Henry David Thoreau"
            author.born = nil
            #expect(seen == ["H. D. T."])
            observation.invalidate()
        }
    }

    @Test func keyPathsHaveNames() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for (title, pages) in [("b", 1), ("a", 2), ("c", 3)] {
                let book = Book(context: context)
                book.title = title
                book.pages = pages
                book.format = .audio
            }
            try context.save()
            let request: NSFetchRequest<Book> = Book.fetchRequest()
            request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.title, ascending: true)]
            #expect(try context.fetch(request).map(\.title) == ["a", "b", "c"])
            // A property of the superclass in another module, and one that is converted.
            #expect(NSExpression(forKeyPath: \Book.format).keyPath == "format")
            #expect(NSExpression(forKeyPath: \Book.identifier).keyPath == "identifier")
            let typed = try NSFetchRequest<Book>(
                predicate: #Predicate { $0.pages >= 2 }, sortBy: [SortDescriptor(\Book.pages)])
            #expect(try context.fetch(typed).map(\.title) == ["a", "c"])
        }
    }
}
