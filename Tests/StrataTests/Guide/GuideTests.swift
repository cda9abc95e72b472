import CoreData
import Observation
import Testing

/// The code of docs/guide.md, between the comments, run. `GuideDocumentTests` holds that the guide shows nothing else.
@Suite(.timeLimit(.minutes(20))) struct GuideTests {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-guide-\(UUID().uuidString)")

    private func library() throws -> NSPersistentContainer {
        try Library.open(at: URL(fileURLWithPath: "/dev/null"))
    }

    /// Saves an author with books of 100, 200, ... pages.
    private func write(
        _ titles: [String], by name: String, in container: NSPersistentContainer
    ) async throws
        -> NSManagedObjectID
    {
        let context = container.newBackgroundContext()
        return try await context.perform {
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

    @Test func objectIDsTravel() async throws {
        defer { removeStore(at: url) }
        do {
            let container = try Library.open(at: url)

            // guide: write
            let context = container.newBackgroundContext()
            context.transactionAuthor = "import"
            let id = try await context.perform {
                let author = Author(context: context)
                author.name = "Ursula K. Le Guin"
                let book = Book(context: context)
                book.title = "The Dispossessed"
                book.author = author
                try context.save()
                return author.objectID
            }
            // guide: end

            // guide: read
            let name = try await container.performBackgroundTask { context in
                let author = try context.existingObject(with: id) as? Author
                return author?.name
            }
            // guide: end
            #expect(name == "Ursula K. Le Guin")
            for store in container.persistentStoreCoordinator.persistentStores {
                try container.persistentStoreCoordinator.remove(store)
            }
        }
        let container = try Library.open(at: url)
        let count = try await container.performBackgroundTask { context in
            try context.count(for: NSFetchRequest<Book>(entityName: "Book"))
        }
        #expect(count == 1)
    }

    @Test func modelsAreArchived() throws {
        // guide: archive
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: LibraryModel.shared, requiringSecureCoding: false)
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive)
        unarchiver.requiresSecureCoding = false
        let model = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? NSManagedObjectModel
        // guide: end
        #expect(model == LibraryModel.shared)
    }

    @Test func childrenSaveIntoTheirParents() async throws {
        let context = try library().newBackgroundContext()
        // guide: children
        let draft = NSManagedObjectContext(.privateQueue)
        draft.parent = context
        try await draft.perform {
            let author = Author(context: draft)
            author.name = "Italo Calvino"
            try draft.save()  // gives the changes to the parent
        }
        try await context.perform {
            try context.save()  // writes them
        }
        // guide: end
        let count = try await context.perform { try context.count(for: NSFetchRequest<Author>(entityName: "Author")) }
        #expect(count == 1)
    }

    @Test func callsFromTheWrongQueueAreReported() async {
        await #expect(processExitsWith: .success) {
            let violations = LockedBox<[String]>([])
            // guide: queues
            NSManagedObjectContext.concurrencyDebugging = .report { message in
                violations.change { $0.append(message) }
            }
            // guide: end
            let container = try Library.open(at: URL(fileURLWithPath: "/dev/null"))
            let context = container.newBackgroundContext()
            _ = try context.count(for: NSFetchRequest<Book>(entityName: "Book"))
            #expect(violations.value.count == 1)
        }
    }

    @MainActor @Test func theViewContextBelongsToTheMainActor() async throws {
        let container = try library()
        _ = try await write(["Invisible Cities"], by: "Italo Calvino", in: container)
        // guide: main
        let books = try container.viewContext.fetch(NSFetchRequest<Book>(entityName: "Book"))
        // guide: end
        #expect(books.first?.author?.name == "Italo Calvino")
    }

    /// What is wrong with a condition that a user has written; nil if the request has it now.
    private func restrict(_ request: NSFetchRequest<Book>, to text: String) -> String? {
        // guide: validating
        do {
            request.predicate = try NSPredicate(validating: text, for: Book.entity(), allowing: .regularExpressions)
        } catch {
            return "\(error.reason) (at \(error.position))"
        }
        // guide: end
        return nil
    }

    @Test func fetching() async throws {
        let container = try library()
        _ = try await write(["The Dispossessed", "Tehanu", "Always Coming Home"], by: "Le Guin", in: container)
        let context = container.newBackgroundContext()
        let found = try await context.perform {
            // guide: typed
            let minimum = 200
            let request = try NSFetchRequest<Book>(
                predicate: #Predicate { $0.pages >= minimum && $0.author?.name == "Le Guin" },
                sortBy: [SortDescriptor(\.title)])
            request.relationshipKeyPathsForPrefetching = ["author"]
            return try context.fetch(request).map(\.title)
            // guide: end
        }
        #expect(found == ["Always Coming Home", "Tehanu"])
        #expect(restrict(NSFetchRequest<Book>(entityName: "Book"), to: "title BEGINSWITH 'T'") == nil)
        #expect(restrict(NSFetchRequest<Book>(entityName: "Book"), to: "tilte == 'T'")?.contains("\"title\"?") == true)

        let pages = try await context.perform {
            // guide: lazy
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.fetchBatchSize = 500
            var pages = 0
            for book in try context.fetchLazily(request) { pages += book.pages }

            let statistics = context.faultStatistics
            print("\(statistics.faultsFired) faults, \(statistics.faultsFromBatches) of them found their row ready")
            // guide: end
            return pages
        }
        #expect(pages == 600)

        // guide: async
        let titles: [String] = try await withCheckedThrowingContinuation { continuation in
            context.perform {
                let request = NSFetchRequest<Book>(entityName: "Book")
                let search = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                    if let error = result.operationError {
                        continuation.resume(throwing: error)
                    } else {
                        continuation.resume(returning: (result.finalResult ?? []).map(\.title))
                    }
                }
                do {
                    try context.execute(search)
                } catch {
                    continuation.resume(throwing: error)  // the request makes no sense
                }
            }
        }
        // guide: end
        #expect(titles.count == 3)
    }

    @Test func cancellation() async throws {
        let container = try library()
        let pattern = ".*(left|dispossessed).*"
        var found: [NSManagedObjectID] = []
        // guide: cancel
        let search = Task {
            try await container.performBackgroundTask { context in
                let request = NSFetchRequest<Book>(entityName: "Book")
                request.predicate = NSPredicate(format: "title MATCHES %@", pattern)
                return try context.fetch(request).map(\.objectID)
            }
        }
        search.cancel()
        do {
            found = try await search.value
        } catch is CancellationError {
            found = []
        }
        // guide: end
        // The task may have been quicker.
        #expect(found.count <= 3)
    }

    @Test func limits() async throws {
        let container = try library()
        let context = container.newBackgroundContext()
        func books(_ pattern: String) throws -> [Book] {
            // guide: limit
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: "title CONTAINS[cd] %@", pattern)
            request.timeLimit = .milliseconds(200)
            do {
                return try context.fetch(request)
            } catch let error as CocoaError where error.code == .persistentStoreTimeout {
                return []
            }
            // guide: end
        }
        let count = try await context.perform { try books("no such title").count }
        #expect(count == 0)
        // guide: scans
        container.persistentStoreCoordinator.maximumConcurrentScans = 1
        // guide: end
        #expect(container.persistentStoreCoordinator.maximumConcurrentScans == 1)
    }

    @Test func batchRequests() async throws {
        let container = try library()
        let context = container.newBackgroundContext()
        let reader = container.newBackgroundContext()
        // guide: batch
        let ids = try await context.perform {
            let rows = (1...1_000).map { ["title": "Volume \($0)", "pages": $0] as [String: Any] }
            let insert = NSBatchInsertRequest(entityName: "Book", objects: rows)
            insert.resultType = .objectIDs
            let result = try context.execute(insert) as? NSBatchInsertResult
            return result?.result as? [NSManagedObjectID] ?? []
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [reader])
        // guide: end
        #expect(ids.count == 1_000)
    }

    @Test func validation() async throws {
        let context = try library().newBackgroundContext()
        await context.perform {
            var keys: [String] = []
            let book = Book(context: context)
            book.title = ""
            book.isbn = "123"
            // guide: errors1
            do {
                try context.save()
            } catch let error as CocoaError where error.code == .validationMultipleErrors {
                let errors = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []
                keys = errors.compactMap { ($0 as? CocoaError)?.userInfo[NSValidationKeyErrorKey] as? String }
            } catch {
                print("not saved: \(error)")
            }
            // guide: end
            #expect(Set(keys) == ["title", "isbn"])
        }
    }

    @Test func conflicts() async throws {
        let container = try library()
        let id = try await write(["Tehanu"], by: "Le Guin", in: container)
        let context = container.newBackgroundContext()
        // guide: threeway
        context.mergePolicy = ThreeWayMergePolicy(fallback: .mergeByPropertyStoreTrump)
        // guide: end
        try await context.perform {
            let author = try context.existingObject(with: id) as? Author
            let book = try #require(author?.books.first)
            book.pages = 226
            let other = container.newBackgroundContext()
            try other.performAndWait {
                (try other.existingObject(with: book.objectID) as? Book)?.isbn = "0689845332"
                try other.save()
            }
            try context.save()
            #expect(book.pages == 226 && book.isbn == "0689845332")
        }
    }

    @Test func uniqueness() async throws {
        let context = try library().newBackgroundContext()
        try await context.perform {
            for _ in 1...2 {
                let book = Book(context: context)
                book.title = "Tehanu"
                book.isbn = "0689845332"
            }
            // guide: unique
            do {
                try context.save()
            } catch let error as CocoaError where error.code == .managedObjectConstraintMerge {
                let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
                print(conflicts.map(\.constraintValues))
            }
            // guide: end
            #expect(context.insertedObjects.count == 2)
        }
    }

    @Test func undo() async throws {
        let context = try library().newBackgroundContext()
        // guide: undo
        await context.perform { context.undoManager = UndoManager() }
        let book = await context.perform {
            let book = Book(context: context)
            book.title = "Tehanu"
            return book
        }
        await context.perform { book.title = "The Tombs of Atuan" }
        await context.perform { context.undo() }
        // guide: end
        let title = await context.perform { book.title }
        #expect(title == "Tehanu")
    }

    @Test func observation() async throws {
        let container = try library()
        let id = try await write(["Tehanu"], by: "Le Guin", in: container)
        let context = container.newBackgroundContext()
        // guide: changes
        let changes = await context.perform { context.changes() }
        let watcher = Task {
            for await change in changes where change.kind == .saved {
                print("updated: \(change.updated)")
                return change.updated
            }
            return []
        }
        // guide: end
        try await context.perform {
            // guide: observe
            context.isObservationEnabled = true
            let author = try context.existingObject(with: id) as? Author
            withObservationTracking {
                _ = author?.name
            } onChange: {
                print("the name is about to change")
            }
            author?.name = "Ursula K. Le Guin"
            // guide: end
            try context.save()
        }
        #expect(await watcher.value == [id])
    }

    @Test func resultsControllers() async throws {
        let container = try library()
        let context = container.newBackgroundContext()
        context.automaticallyMergesChangesFromParent = true
        // guide: frc
        let (controller, changes) = try await context.perform {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            try controller.performFetch()
            return (controller, controller.changes)
        }
        // guide: end
        // guide: frc2
        let watcher = Task {
            for await change in changes {
                for object in change.objects { print(object.type, object.objectID, object.newIndexPath ?? "gone") }
                return change.objects.count
            }
            return 0
        }
        // guide: end
        _ = try await write(["Tehanu"], by: "Le Guin", in: container)
        #expect(await watcher.value == 1)
        let count = await context.perform { controller.fetchedObjects?.count }
        #expect(count == 1)
    }

    // guide: history
    private func follow(_ coordinator: NSPersistentStoreCoordinator, stateURL: URL) async throws {
        let saved = try? Data(contentsOf: stateURL)
        let token = try saved.map { try JSONDecoder().decode(NSPersistentHistoryToken.self, from: $0) }
        for try await transaction in coordinator.persistentHistory(after: token) {
            for change in transaction.changes ?? [] {
                print("\(change.changeType) \(change.changedObjectID)")
            }
            try JSONEncoder().encode(transaction.token).write(to: stateURL, options: .atomic)
        }
    }
    // guide: end

    @Test func history() async throws {
        defer { removeStore(at: url) }
        let container = try library()
        let coordinator = container.persistentStoreCoordinator
        _ = try await write(["Tehanu"], by: "Le Guin", in: container)
        let follower = Task { try await follow(coordinator, stateURL: url) }
        _ = try await write(["The Tombs of Atuan"], by: "Le Guin", in: container)
        let newest = coordinator.currentPersistentHistoryToken(fromStores: nil)
        while true {
            if let data = try? Data(contentsOf: url),
                try JSONDecoder().decode(NSPersistentHistoryToken.self, from: data) == newest
            {
                break
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        follower.cancel()
        try await follower.value
    }

    @Test func generations() async throws {
        let container = try library()
        _ = try await write(["Tehanu"], by: "Le Guin", in: container)
        let context = container.newBackgroundContext()
        try await context.perform {
            let other = container.newBackgroundContext()
            // guide: generations
            try context.setQueryGenerationFrom(.current)
            let before = try context.count(for: NSFetchRequest<Book>(entityName: "Book"))
            try other.performAndWait {
                Book(context: other).title = "The Farthest Shore"
                try other.save()
            }
            let after = try context.count(for: NSFetchRequest<Book>(entityName: "Book"))  // as before
            try context.setQueryGenerationFrom(nil)  // newest state again
            // guide: end
            #expect(before == after)
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == before + 1)
        }
    }

    @Test func thePast() async throws {
        let description = NSPersistentStoreDescription()
        // guide: retention
        description.historyRetention = HistoryRetention(maximumAge: 30 * 86_400, consumers: ["search"])
        // guide: end
        #expect(description.historyRetention?.consumers == ["search"])
        #expect(description.historyRetention?.maximumAge == 2_592_000)
        let container = try library()
        let coordinator = container.persistentStoreCoordinator
        _ = try await write(["Tehanu"], by: "Le Guin", in: container)
        let reader = container.newBackgroundContext()
        let transaction = try await reader.perform {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try reader.execute(request) as? NSPersistentHistoryResult
            return try #require((result?.result as? [NSPersistentHistoryTransaction])?.first)
        }
        func acknowledge() throws -> NSPersistentHistoryToken? {
            // guide: consumers
            // The consumer, after it has dealt with a transaction:
            try coordinator.acknowledgeHistory(upTo: transaction.token, by: "search")
            // After a restart it goes on from where it was:
            let token = coordinator.acknowledgedHistory(of: "search")
            // guide: end
            return token
        }
        #expect(try acknowledge() == transaction.token)
        // guide: past
        let yesterday = try coordinator.queryGeneration(at: Date(timeIntervalSinceNow: -86_400))
        let past = container.newBackgroundContext()
        try past.setQueryGenerationFrom(yesterday)
        // guide: end
        let count = try await past.perform { try past.count(for: NSFetchRequest<Book>(entityName: "Book")) }
        #expect(count == 0)
        // guide: past model
        let then = try coordinator.past(yesterday)
        let old = NSManagedObjectContext(.privateQueue)
        old.persistentStoreCoordinator = then
        print(then.managedObjectModel.entitiesByName.keys)
        // guide: end
        let all = try await old.perform { try old.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) }
        #expect(all == 0)
        var found = 0
        // guide: diff
        for try await difference in try coordinator.diff(from: yesterday) {
            for value in difference.values {
                print(difference.objectID, value.property, value.before ?? "null", value.after ?? "null")
            }
        }
        // guide: end
        try coordinator.diff(from: yesterday).forEach { _ in found += 1 }
        #expect(found > 0)
    }

    @Test func errors() throws {
        defer { removeStore(at: url) }
        try Data("not a store".utf8).write(to: url)
        func open() throws -> NSPersistentContainer? {
            // guide: open
            do {
                return try Library.open(at: url)
            } catch let error as CocoaError where error.code == .fileReadCorruptFile {
                print("This is no store, or a damaged one: \(error.localizedDescription)")
                print(error.userInfo[NSUnderlyingErrorKey] ?? "no cause")
                return nil
            }
            // guide: end
        }
        #expect(try open() == nil)
    }
}

@Test func aBookNeedsATitle() throws {
    let container = try Library.open(at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    context.performAndWait {
        let book = Book(context: context)
        book.title = ""
        #expect(throws: CocoaError.self) { try context.save() }
    }
}
