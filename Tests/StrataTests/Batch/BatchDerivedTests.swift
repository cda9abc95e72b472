import CoreData
import Foundation
import Synchronization
import Testing

/// Batch requests and attributes that are more than a value: derived and composite ones.
@Suite struct BatchDerivedTests {
    private func author(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        context.refreshAllObjects()
        return try #require(try fetchAll(NSManagedObject.self, "Author", context).first)
    }

    @Test(arguments: StoreKind.allCases) func derivedAttributesFollowBatchRequests(_ kind: StoreKind) throws {
        let store = try TestStore(kind, FetchDerivedTests.library())
        let context = store.context()
        try context.performAndWait {
            let before = Date()
            try context.execute(NSBatchInsertRequest(entityName: "Author", objects: [["name": "Émile"]]))
            let id = try author(context).objectID
            #expect(try author(context).value(forKey: "canonicalName") as? String == "emile")
            #expect(try #require(author(context).value(forKey: "changed") as? Date) >= before)
            try context.execute(
                NSBatchInsertRequest(
                    entityName: "Book", objects: (1...3).map { ["title": "\($0)", "pages": $0 * 10, "author": id] }))
            #expect(try author(context).value(forKey: "bookCount") as? Int == 3)
            #expect(try author(context).value(forKey: "pageCount") as? Int == 60)
            let books = try fetchAll(NSManagedObject.self, "Book", context)
            #expect(books.allSatisfy { $0.value(forKey: "authorName") as? String == "Émile" })

            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "pages == 30")
            update.propertiesToUpdate = ["pages": 100]
            try context.execute(update)
            #expect(try author(context).value(forKey: "longest") as? Int == 100)
            update.predicate = NSPredicate(format: "pages == 100")
            update.propertiesToUpdate = ["author": NSNull()]
            try context.execute(update)
            #expect(try author(context).value(forKey: "bookCount") as? Int == 2)
            #expect(books.count { $0.value(forKey: "authorName") == nil } == 1)

            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            fetch.predicate = NSPredicate(format: "pages == 20")
            try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
            #expect(try author(context).value(forKey: "pageCount") as? Int == 10)
            let authors = NSFetchRequest<any NSFetchRequestResult>(entityName: "Author")
            try context.execute(NSBatchDeleteRequest(fetchRequest: authors))
            context.refreshAllObjects()
            let left = try fetchAll(NSManagedObject.self, "Book", context)
            #expect(left.count == 2 && left.allSatisfy { $0.value(forKey: "authorName") == nil })
        }
    }

    /// What a request derives is saved by a context of its own, which no program knows: observers of all contexts would
    /// take it for one of theirs.
    @Test(arguments: StoreKind.allCases) func nothingIsPostedForContextsThatNobodyMade(_ kind: StoreKind) throws {
        let store = try TestStore(kind, FetchDerivedTests.library())
        let context = store.context()
        let coordinator = try #require(context.persistentStoreCoordinator)
        let seen = Mutex<[String]>([])
        let names: [Notification.Name] = [
            .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange,
            .NSManagedObjectContextDidSaveObjectIDs,
        ]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
                guard let poster = notification.object as? NSManagedObjectContext,
                    poster.persistentStoreCoordinator === coordinator, poster !== context
                else { return }
                seen.withLock { $0.append(name.rawValue) }
            }
        }
        defer { tokens.forEach(NotificationCenter.default.removeObserver) }
        try context.performAndWait {
            try context.execute(NSBatchInsertRequest(entityName: "Author", objects: [["name": "Émile"]]))
            let id = try author(context).objectID
            try context.execute(
                NSBatchInsertRequest(entityName: "Book", objects: [["title": "1", "pages": 10, "author": id]]))
            let books = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            try context.execute(NSBatchDeleteRequest(fetchRequest: books))
            #expect(try author(context).value(forKey: "bookCount") as? Int == 0)
        }
        #expect(seen.withLock { $0 } == [])
    }

    /// What a batch request may store, deriving from it must not refuse.
    @Test(arguments: StoreKind.allCases) func objectsThatAreNotValidAreDerivedFrom(_ kind: StoreKind) throws {
        let model = FetchDerivedTests.library()
        for (entity, name) in [("Author", "name"), ("Book", "title")] {
            model.entitiesByName[entity]?.attributesByName[name]?.isOptional = false
        }
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait {
            try context.execute(NSBatchInsertRequest(entityName: "Author", objects: [["name": "A"]]))
            let unnamed = NSBatchUpdateRequest(entityName: "Author")
            unnamed.propertiesToUpdate = ["name": NSNull()]
            try context.execute(unnamed)
            let id = try author(context).objectID
            try context.execute(
                NSBatchInsertRequest(entityName: "Book", objects: [["title": "B", "pages": 7, "author": id]]))
            let untitled = NSBatchUpdateRequest(entityName: "Book")
            untitled.propertiesToUpdate = ["title": NSNull()]
            try context.execute(untitled)
            #expect(try author(context).value(forKey: "pageCount") as? Int == 7)
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.propertiesToUpdate = ["pages": 9]
            try context.execute(update)
            #expect(try author(context).value(forKey: "pageCount") as? Int == 9)
        }
    }

    @Test func derivedAttributesCannotBeSet() throws {
        let store = try TestStore(.memory, FetchDerivedTests.library())
        let context = store.context()
        context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Author")
            update.propertiesToUpdate = ["bookCount": 7]
            #expect(throws: CocoaError.self) { try context.execute(update) }
        }
    }

    @Test(arguments: StoreKind.allCases) func compositesAreTakenApart(_ kind: StoreKind) throws {
        let store = try TestStore(kind, FetchDerivedTests.library())
        let context = store.context()
        try context.performAndWait {
            let address: [String: Any] = ["street": "S", "zip": 5, "geo": ["lat": 1.5]]
            try context.execute(
                NSBatchInsertRequest(entityName: "Author", objects: [["name": "A", "address": address]]))
            #expect(try author(context).value(forKeyPath: "address.geo.lat") as? Double == 1.5)
            #expect(try author(context).value(forKeyPath: "address.zip") as? Int == 5)
            let update = NSBatchUpdateRequest(entityName: "Author")
            update.propertiesToUpdate = ["address": ["street": "T"]]
            try context.execute(update)
            let found = try #require(try author(context).value(forKey: "address") as? [String: Any])
            #expect(found["street"] as? String == "T" && found["zip"] == nil && found["geo"] == nil)
            for wrong: Any in [["city": "x"], "text"] {
                let request = NSBatchInsertRequest(entityName: "Author", objects: [["address": wrong]])
                #expect(throws: CocoaError.self) { try context.execute(request) }
                update.propertiesToUpdate = ["address": wrong]
                #expect(throws: CocoaError.self) { try context.execute(update) }
            }
        }
    }

    /// The section cache must not be asked about what a parent has not saved.
    @Test func sectionsOfAChildAreNotThoseOfTheStore() throws {
        let store = try TestStore(.memory)
        let parent = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        func sections() throws -> [String] {
            try child.performAndWait {
                child.refreshAllObjects()
                let request = NSFetchRequest<Employee>(entityName: "Employee")
                request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
                let results = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: "age",
                    cacheName: "sectionsOfAChild")
                try results.performFetch()
                return results.sections?.map { "\($0.name): \($0.numberOfObjects)" } ?? []
            }
        }
        defer { NSFetchedResultsController<Employee>.deleteCache(withName: "sectionsOfAChild") }
        try parent.performAndWait {
            let employees = (0..<3).map { _ in Employee(context: parent) }
            for employee in employees { employee.age = 30 }
            try parent.save()
            #expect(try sections() == ["30: 3"])
            employees[0].age = 29
            #expect(try sections() == ["29: 1", "30: 2"])
        }
    }
}
