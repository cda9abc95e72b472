import CoreData
import Testing

/// The recipes of docs/cookbook.md, between the comments, run. `GuideDocumentTests` holds that it shows nothing else.
@Suite(.timeLimit(.minutes(20))) struct CookbookTests {
    private let container: NSPersistentContainer

    init() throws {
        container = try Library.open(at: URL(fileURLWithPath: "/dev/null"))
    }

    private func write(_ titles: [String], by name: String) async throws -> NSManagedObjectID {
        try await container.performBackgroundTask { context in
            let author = Author(context: context)
            author.name = name
            for (number, title) in titles.enumerated() {
                let book = Book(context: context)
                book.title = title
                book.pages = 100 * (number + 1)
                book.author = author
            }
            try context.save()
            return author.objectID
        }
    }

    private func titles() async throws -> [String] {
        try await container.performBackgroundTask { context in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            return try context.fetch(request).map(\.title)
        }
    }

    // MARK: Writing

    // recipe: upsert
    func upsert(isbn: String, title: String, in container: NSPersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let book = Book(context: context)
            book.isbn = isbn
            book.title = title
            try context.save()
        }
    }
    // recipe: end

    @Test func anInsertUpdatesWhatHasItsKey() async throws {
        try await upsert(isbn: "0689845332", title: "Tehanu", in: container)
        try await upsert(isbn: "0689845332", title: "Tehanu, revised", in: container)
        #expect(try await titles() == ["Tehanu, revised"])
    }

    // recipe: retry
    func addPages(_ pages: Int, to id: NSManagedObjectID, in container: NSPersistentContainer) async throws {
        for attempt in 1... {
            do {
                return try await container.performBackgroundTask { context in
                    guard let book = try context.existingObject(with: id) as? Book else { return }
                    book.pages += pages
                    try context.save()
                }
            } catch let error as CocoaError where error.code == .managedObjectMerge && attempt < 10 {
                continue  // somebody saved the book first: read it again
            }
        }
    }
    // recipe: end

    @Test func aCounterLosesNothingAmongManyWriters() async throws {
        _ = try await write(["Tehanu"], by: "Le Guin")
        let id = try await container.performBackgroundTask { context in
            try #require(try context.fetch(NSFetchRequest<Book>(entityName: "Book")).first).objectID
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await addPages(10, to: id, in: container) } }
            try await group.waitForAll()
        }
        let pages = try await container.performBackgroundTask { context in
            (try context.existingObject(with: id) as? Book)?.pages
        }
        #expect(pages == 140)
    }

    // recipe: load
    func load(_ lines: some Sequence<String> & Sendable, into container: NSPersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            var lines = lines.makeIterator()
            let insert = NSBatchInsertRequest(entityName: "Book") { (row: NSMutableDictionary) -> Bool in
                guard let title = lines.next() else { return true }
                row["title"] = title
                return false
            }
            try context.execute(insert)
        }
    }
    // recipe: end

    @Test func linesAreLoaded() async throws {
        try await load((0..<5_000).lazy.map { "Volume \($0)" }, into: container)
        #expect(try await titles().count == 5_000)
    }

    @Test func manyRowsAreChangedAtOnce() async throws {
        _ = try await write(["A", "B", "C"], by: "Le Guin")
        let viewer = container.newBackgroundContext()
        let before = try await viewer.perform { try viewer.fetch(NSFetchRequest<Book>(entityName: "Book")).count }
        // recipe: update
        let changed = try await container.performBackgroundTask { context in
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "pages < 200")
            update.propertiesToUpdate = ["pages": NSExpression(format: "pages + 1")]
            update.resultType = .updatedObjectIDsResultType
            let result = try context.execute(update) as? NSBatchUpdateResult
            return result?.result as? [NSManagedObjectID] ?? []
        }
        NSManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [NSUpdatedObjectsKey: changed], into: [viewer])
        // recipe: end
        #expect(before == 3 && changed.count == 1)
        let pages = try await viewer.perform {
            try viewer.fetch(NSFetchRequest<Book>(entityName: "Book")).map(\.pages).sorted()
        }
        #expect(pages == [101, 200, 300])
    }

    @Test func oldRowsAreDeleted() async throws {
        _ = try await write(["A", "B", "C"], by: "Le Guin")
        // recipe: delete
        let deleted = try await container.performBackgroundTask { context in
            let old = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            old.predicate = NSPredicate(format: "pages <= 200")
            let delete = NSBatchDeleteRequest(fetchRequest: old)
            delete.resultType = .resultTypeCount
            let result = try context.execute(delete) as? NSBatchDeleteResult
            return result?.result as? Int
        }
        // recipe: end
        #expect(deleted == 2)
        #expect(try await titles() == ["C"])
    }

    @Test func aDraftIsThrownAway() async throws {
        let context = container.newBackgroundContext()
        let isThere = try await context.perform {
            // recipe: draft
            let draft = NSManagedObjectContext(.privateQueue)
            draft.parent = context
            try draft.performAndWait {
                let author = Author(context: draft)
                author.name = "Not quite sure"
                try draft.obtainPermanentIDs(for: [author])
                draft.rollback()
            }
            return context.hasChanges
            // recipe: end
        }
        #expect(!isThere)
    }

    @Test func whatIsWrongIsSaidByProperty() async throws {
        // recipe: problems
        func problems(_ error: any Error) -> [String: String] {
            guard let error = error as? CocoaError else { return [:] }
            let errors = (error.userInfo[NSDetailedErrorsKey] as? [any Error])?.compactMap { $0 as? CocoaError }
            var problems: [String: String] = [:]
            for one in errors ?? [error] {
                guard let key = one.userInfo[NSValidationKeyErrorKey] as? String else { continue }
                problems[key] = one.localizedDescription
            }
            return problems
        }
        // recipe: end
        try await container.performBackgroundTask { context in
            let book = Book(context: context)
            book.title = ""
            book.isbn = "12"
            let error = try #require(#expect(throws: CocoaError.self) { try context.save() })
            #expect(Set(problems(error).keys) == ["title", "isbn"])
        }
    }

    // MARK: Reading

    // recipe: page
    func page(after last: (title: String, isbn: String)?, _ context: NSManagedObjectContext) throws -> [Book] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [
            NSSortDescriptor(key: "title", ascending: true), NSSortDescriptor(key: "isbn", ascending: true),
        ]
        if let last {
            request.predicate = NSPredicate(
                format: "title > %@ OR (title == %@ AND isbn > %@)", last.title, last.title, last.isbn)
        }
        request.fetchLimit = 20
        return try context.fetch(request)
    }
    // recipe: end

    @Test func pagesFollowEachOther() async throws {
        try await container.performBackgroundTask { context in
            for number in 0..<50 {
                let book = Book(context: context)
                book.title = "Volume \(number / 3)"
                book.isbn = "\(1_000_000_000 + number * 7 % 50)"
            }
            try context.save()
        }
        let seen = try await container.performBackgroundTask { context in
            var seen: [NSManagedObjectID] = []
            var last: (String, String)?
            while true {
                let books = try page(after: last, context)
                guard let book = books.last else { return seen }
                seen += books.map(\.objectID)
                last = (book.title, book.isbn ?? "")
            }
        }
        #expect(seen.count == 50 && Set(seen).count == 50)
    }

    @Test func groupsAreCounted() async throws {
        _ = try await write(["A", "B", "C"], by: "Le Guin")
        _ = try await write(["D"], by: "Calvino")
        // recipe: groups
        let pages = NSExpressionDescription()
        pages.name = "pages"
        pages.expression = NSExpression(format: "sum:(pages)")
        pages.expressionResultType = .integer64AttributeType

        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["author.name", pages]
        request.propertiesToGroupBy = ["author.name"]
        request.havingPredicate = NSPredicate(format: "pages > 100")
        let totals = try await container.performBackgroundTask { context in
            try context.fetch(request).map { ($0["author.name"] as? String ?? "nobody", $0["pages"] as? Int ?? 0) }
        }
        // recipe: end
        #expect(totals.map(\.0) == ["Le Guin"] && totals.map(\.1) == [600])
    }

    @Test func textsAreFound() async throws {
        _ = try await write(["Les Misérables", "Tehanu"], by: "several")
        // recipe: search
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "title CONTAINS[cd] %@", "miserables")
        // recipe: end
        let count = try await container.performBackgroundTask { context in try context.count(for: request) }
        #expect(count == 1)
    }

    @Test func authorsWithoutBooksAreFound() async throws {
        _ = try await write([], by: "Harper Lee")
        _ = try await write(["Tehanu"], by: "Le Guin")
        // recipe: without
        let request = NSFetchRequest<Author>(entityName: "Author")
        request.predicate = NSPredicate(format: "books.@count == 0 OR SUBQUERY(books, $b, $b.pages > 500).@count > 2")
        // recipe: end
        let names = try await container.performBackgroundTask { context in try context.fetch(request).map(\.name) }
        #expect(names == ["Harper Lee"])
    }

    @Test func whatIsShownComesWithTwoReads() async throws {
        _ = try await write(["A", "B"], by: "Le Guin")
        let lines = try await container.performBackgroundTask { context in
            // recipe: prefetch
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.relationshipKeyPathsForPrefetching = ["author"]
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            return try context.fetch(request).map { "\($0.title), by \($0.author?.name ?? "nobody")" }
            // recipe: end
        }
        #expect(lines == ["A, by Le Guin", "B, by Le Guin"])
    }

    @Test func idsAreHandedOver() async throws {
        _ = try await write(["A", "B"], by: "Le Guin")
        // recipe: ids
        let ids = try await container.performBackgroundTask { context in
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
            request.resultType = .managedObjectIDResultType
            return try context.fetch(request)
        }
        let lengths = try await withThrowingTaskGroup(of: Int.self) { group in
            for id in ids {
                group.addTask {
                    try await container.performBackgroundTask { context in
                        (try context.existingObject(with: id) as? Book)?.title.count ?? 0
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        // recipe: end
        #expect(lengths == 2)
    }

    @Test func aSlowRequestIsExplained() async throws {
        _ = try await write(["A", "B"], by: "Le Guin")
        let explanation = try await container.performBackgroundTask { context in
            // recipe: explain
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "title ENDSWITH 'B'")
            let explanation = try context.explain(request)
            print(explanation)
            // recipe: end
            return "\(explanation)"
        }
        #expect(!explanation.isEmpty)
    }

    // MARK: Changes

    @Test func aScreenStaysCurrent() async throws {
        let id = try await write(["Tehanu"], by: "Le Guin")
        // recipe: current
        let viewer = container.newBackgroundContext()
        viewer.automaticallyMergesChangesFromParent = true
        viewer.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        // recipe: end
        let before = try await viewer.perform { (try viewer.existingObject(with: id) as? Author)?.name }
        try await container.performBackgroundTask { context in
            (try context.existingObject(with: id) as? Author)?.name = "Ursula K. Le Guin"
            try context.save()
        }
        var after = before
        for _ in 0..<2_000 where after == before {
            try await Task.sleep(for: .milliseconds(5))
            after = try await viewer.perform { (try viewer.existingObject(with: id) as? Author)?.name }
        }
        #expect(before == "Le Guin" && after == "Ursula K. Le Guin")
    }

    @Test func whoChangedWhatIsKnown() async throws {
        try await container.performBackgroundTask { context in
            // recipe: author
            context.transactionAuthor = "importer"
            // recipe: end
            Author(context: context).name = "Le Guin"
            try context.save()
        }
        let authors = try await container.performBackgroundTask { context in
            // recipe: who
            let fetch = NSPersistentHistoryChangeRequest.fetchHistory(after: Date(timeIntervalSinceNow: -3_600))
            let result = try context.execute(fetch) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            return transactions.map { "\($0.timestamp) \($0.author ?? "nobody") \($0.changes?.count ?? 0)" }
            // recipe: end
        }
        #expect(authors.count == 1 && authors[0].contains("importer 1"))
    }

    @Test func aDeletedObjectIsBroughtBack() async throws {
        let id = try await write(["Tehanu"], by: "Le Guin")
        let before = try #require(container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil))
        try await container.performBackgroundTask { context in
            context.delete(try context.existingObject(with: id))
            try context.save()
        }
        let coordinator = container.persistentStoreCoordinator
        // recipe: back
        let past = container.newBackgroundContext()
        try past.setQueryGenerationFrom(try coordinator.queryGeneration(at: before))
        let name = try await past.perform { (try past.existingObject(with: id) as? Author)?.name }
        try await container.performBackgroundTask { context in
            let author = Author(context: context)
            author.name = name ?? ""
            try context.save()
        }
        // recipe: end
        let names = try await container.performBackgroundTask { context in
            try context.fetch(NSFetchRequest<Author>(entityName: "Author")).map(\.name)
        }
        #expect(names == ["Le Guin"])
    }

    // MARK: Tests and stores

    // recipe: testing
    @Test func aTestHasAStoreOfItsOwn() async throws {
        let container = try Library.open(at: URL(fileURLWithPath: "/dev/null"))
        let count = try await container.performBackgroundTask { context in
            try context.count(for: NSFetchRequest<Book>(entityName: "Book"))
        }
        #expect(count == 0)
    }
    // recipe: end

    // recipe: close
    func close(_ container: NSPersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
    // recipe: end

    @Test func aStoreIsClosed() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-recipe-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        let container = try Library.open(at: url)
        try close(container)
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
        try close(try Library.open(at: url))
    }

    @Test func aReaderWritesNothing() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-recipe-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        try close(try Library.open(at: url))
        // recipe: reader
        let description = NSPersistentStoreDescription(url: url)
        description.isReadOnly = true
        let reader = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.shared)
        reader.persistentStoreDescriptions = [description]
        reader.loadPersistentStores { _, error in
            if let error { print("not opened: \(error)") }
        }
        // recipe: end
        let context = reader.newBackgroundContext()
        try context.performAndWait {
            let count = try context.count(for: NSFetchRequest<Book>(entityName: "Book"))
            #expect(count == 0)
            Author(context: context).name = "nobody"
            #expect(throws: CocoaError.self) { try context.save() }
        }
        try close(reader)
    }
}
