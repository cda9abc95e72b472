import CoreData
import Testing

/// The examples of the reference: those of Strata's and StrataSchema's documentation comments and of the articles, run.
/// `GuideDocumentTests` holds that they show nothing else. The classes and the model are the guide's.
@Suite(.timeLimit(.minutes(20))) struct ReferenceExampleTests {
    private func library() throws -> NSPersistentContainer {
        try Library.open(at: URL(fileURLWithPath: "/dev/null"))
    }

    /// Saves two books, of 341 and 180 pages.
    private func fill(_ container: NSPersistentContainer) async throws -> NSManagedObjectID {
        try await container.performBackgroundTask { context in
            let author = Author(context: context)
            author.name = "Le Guin"
            for (title, pages) in [("The Dispossessed", 341), ("Tehanu", 180)] {
                let book = Book(context: context)
                book.title = title
                book.pages = pages
                book.author = author
            }
            try context.save()
            return author.objectID
        }
    }

    private func opened(at url: URL) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.shared)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    @Test func theStackIsSetUp() async throws {
        let container = try opened(at: URL(fileURLWithPath: "/dev/null"))
        let context = container.newBackgroundContext()
        let id = try await context.perform {
            let author = Author(context: context)
            author.name = "Le Guin"
            try context.save()
            return author.objectID
        }
        #expect(!id.isTemporaryID)
        let count = try await container.performBackgroundTask { context in
            try context.count(for: NSFetchRequest<Author>(entityName: "Author"))
        }
        #expect(count == 1)
        container.viewContext.automaticallyMergesChangesFromParent = true
        #expect(container.viewContext.automaticallyMergesChangesFromParent)
    }

    @Test func objectsAreFetched() async throws {
        let container = try library()
        let id = try await fill(container)
        try await container.performBackgroundTask { context in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "pages > %d AND author.name == %@", 300, "Le Guin")
            let books = try context.fetch(request)
            #expect(books.map(\.title) == ["The Dispossessed"])

            let author = try context.existingObject(with: id) as? Author
            #expect(author?.name == "Le Guin")
        }
        let titles = try await container.performBackgroundTask { context in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "title BEGINSWITH[cd] %@", "t")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            request.fetchLimit = 20
            return try context.fetch(request).map(\.title)
        }
        #expect(titles == ["Tehanu", "The Dispossessed"])
        let longest = try await container.performBackgroundTask { context in
            let greatest = NSExpressionDescription()
            greatest.name = "longest"
            greatest.expression = NSExpression(format: "max:(pages)")
            greatest.expressionResultType = .integer64AttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [greatest]
            return try context.fetch(request).first?["longest"] as? Int
        }
        #expect(longest == 341)
    }

    @Test func relationshipsArePrefetched() async throws {
        let container = try library()
        _ = try await fill(container)
        let lines = try await container.performBackgroundTask { context in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.relationshipKeyPathsForPrefetching = ["author"]
            return try context.fetch(request).map { "\($0.author?.name ?? "-"): \($0.title)" }
        }
        #expect(lines.count == 2)
        try await container.performBackgroundTask { context in
            let book = try #require(try context.fetch(NSFetchRequest<Book>(entityName: "Book")).first)
            let title = book.title
            context.refresh(book, mergeChanges: false)
            #expect(book.isFault)
            #expect(book.title == title)
        }
    }

    private func save(_ context: NSManagedObjectContext) throws {
        do {
            try context.save()
        } catch let error as CocoaError where error.code == .managedObjectMerge {
            context.rollback()
            throw error
        }
    }

    @Test func conflictsAreMet() async throws {
        let container = try library()
        let id = try await fill(container)
        let context = container.newBackgroundContext()
        let other = container.newBackgroundContext()
        try await context.perform {
            let author = try #require(try context.existingObject(with: id) as? Author)
            try other.performAndWait {
                (try other.existingObject(with: id) as? Author)?.name = "U. K. Le Guin"
                try other.save()
            }
            author.name = "Ursula"
            #expect(throws: CocoaError.self) { try save(context) }
            #expect(!context.hasChanges)

            author.name = "Ursula K. Le Guin"
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
        }
    }

    /// As a service does it: one that is refused begins again.
    private func rename(_ id: NSManagedObjectID, to name: String, in container: NSPersistentContainer) async throws {
        for attempt in 1... {
            do {
                return try await container.performBackgroundTask { context in
                    let author = try context.existingObject(with: id) as? Author
                    author?.name = name
                    try context.save()
                }
            } catch let error as CocoaError where error.code == .managedObjectMerge && attempt < 10 {
                continue
            }
        }
    }

    @Test func refusedSavesBeginAgain() async throws {
        let container = try library()
        let id = try await fill(container)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...4 { group.addTask { try await rename(id, to: "Author \(number)", in: container) } }
            try await group.waitForAll()
        }
        let name = try await container.performBackgroundTask { (try $0.existingObject(with: id) as? Author)?.name }
        #expect(name?.hasPrefix("Author ") == true)
    }

    @Test func batchRequestsChangeRows() async throws {
        let container = try library()
        let reader = container.newBackgroundContext()
        try await container.performBackgroundTask { context in
            let insert = NSBatchInsertRequest(
                entityName: "Book", objects: [["title": "Tehanu", "pages": 180], ["title": "Lavinia", "pages": 288]])
            insert.resultType = .objectIDs
            let result = try context.execute(insert) as? NSBatchInsertResult
            let inserted = result?.result as? [NSManagedObjectID] ?? []
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSInsertedObjectsKey: inserted], into: [reader])
            #expect(inserted.count == 2)
        }
        try await container.performBackgroundTask { context in
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "pages < %d", 200)
            update.propertiesToUpdate = ["pages": 200]
            update.resultType = .updatedObjectsCountResultType
            let result = try context.execute(update) as? NSBatchUpdateResult
            let count = result?.result as? Int
            #expect(count == 1)
        }
        try await container.performBackgroundTask { context in
            let short = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            short.predicate = NSPredicate(format: "pages <= %d", 200)
            let delete = NSBatchDeleteRequest(fetchRequest: short)
            delete.resultType = .resultTypeCount
            let result = try context.execute(delete) as? NSBatchDeleteResult
            let count = result?.result as? Int
            #expect(count == 1)
        }
    }

    @Test func theHistoryIsRead() async throws {
        let container = try library()
        _ = try await fill(container)
        let token: NSPersistentHistoryToken? = nil
        let next = try await container.performBackgroundTask { context in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            for change in transactions.flatMap({ $0.changes ?? [] }) {
                print("\(change.changeType) \(change.changedObjectID)")
            }
            return transactions.last?.token ?? token
        }
        #expect(next != nil)
    }

    @Test func resultsAreKeptInSections() async throws {
        let container = try library()
        _ = try await fill(container)
        let context = container.newBackgroundContext()
        try await context.perform {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name", cacheName: nil)
            try controller.performFetch()
            for section in controller.sections ?? [] {
                print("\(section.name): \(section.numberOfObjects)")
            }
            #expect(controller.sections?.count == 1)
        }
    }

    @Test func modelsAreBuilt() throws {
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        title.isOptional = false
        let book = NSEntityDescription()
        book.name = "Book"
        book.properties = [title]
        let model = NSManagedObjectModel()
        model.entities = [book]
        let isLong = try NSPredicate(validating: "title CONTAINS[cd] 'sea' AND pages > 300")
        #expect(isLong is NSCompoundPredicate)

        let pages = NSAttributeDescription()
        pages.name = "pages"
        pages.attributeType = .integer64AttributeType
        pages.isOptional = false
        pages.defaultValue = 0

        let sortTitle = NSDerivedAttributeDescription()
        sortTitle.name = "sortTitle"
        sortTitle.attributeType = .stringAttributeType
        sortTitle.derivationExpression = NSExpression(format: "canonical:(title)")

        let width = NSAttributeDescription()
        width.name = "width"
        width.attributeType = .doubleAttributeType
        let height = NSAttributeDescription()
        height.name = "height"
        height.attributeType = .doubleAttributeType
        let size = NSCompositeAttributeDescription()
        size.name = "size"
        size.elements = [width, height]

        let author = NSEntityDescription()
        author.name = "Author"
        let books = NSRelationshipDescription()
        books.name = "books"
        books.destinationEntity = book
        books.deleteRule = .cascadeDeleteRule
        let writer = NSRelationshipDescription()
        writer.name = "author"
        writer.destinationEntity = author
        writer.maxCount = 1
        books.inverseRelationship = writer
        writer.inverseRelationship = books

        book.properties = [title, pages, sortTitle, size, writer]
        author.properties = [books]
        let byTitle = NSFetchIndexDescription(
            name: "byTitle", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
        book.indexes = [byTitle]
        model.entities = [book, author]

        let container = NSPersistentContainer(name: "Built", managedObjectModel: model)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        #expect(failure == nil)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            book.setValue("Tehanu", forKey: "title")
            book.setValue(["width": 12.5, "height": 19.0], forKey: "size")
            try context.save()
            #expect(book.value(forKey: "sortTitle") as? String == "tehanu")
            let wide = NSFetchRequest<NSManagedObject>(entityName: "Book")
            wide.predicate = NSPredicate(format: "size.width > %f", 10.0)
            #expect(try context.count(for: wide) == 1)
        }
    }

    private func books(of container: NSPersistentContainer, _ coordinator: NSPersistentStoreCoordinator) throws -> Int {
        let context = container.newBackgroundContext()
        try context.setQueryGenerationFrom(coordinator.queryGeneration(at: .now.addingTimeInterval(-86_400)))
        return try context.performAndWait { try context.count(for: NSFetchRequest<Book>(entityName: "Book")) }
    }

    private func books(by coordinator: NSPersistentStoreCoordinator) throws -> Int {
        let then = try coordinator.past(coordinator.queryGeneration(at: .now.addingTimeInterval(-86_400)))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = then
        return try context.performAndWait { try context.count(for: NSFetchRequest<Book>(entityName: "Book")) }
    }

    private func printChanges(_ coordinator: NSPersistentStoreCoordinator) async throws {
        let yesterday = try coordinator.queryGeneration(at: .now.addingTimeInterval(-86_400))
        for try await difference in try coordinator.diff(from: yesterday) {
            print(difference.objectID, difference.values)
        }
    }

    @Test func thePastIsRead() async throws {
        let container = try library()
        _ = try await fill(container)
        let coordinator = container.persistentStoreCoordinator
        #expect(try books(of: container, coordinator) == 0)
        #expect(try books(by: coordinator) == 0)
        try await printChanges(coordinator)
    }
}
