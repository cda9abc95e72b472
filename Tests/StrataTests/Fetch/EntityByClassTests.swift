import CoreData
import Foundation
import Testing

/// Requests that name an entity by its class's name, which `@objc(Employee)` makes the entity's on Apple's platforms.
@Suite struct EntityByClassTests {
    private static let name = NSStringFromClass(Employee.self)

    private func fill(_ context: NSManagedObjectContext) throws {
        for (name, age) in [("a", 30), ("b", 40)] as [(String, Int16)] {
            let inserted = NSEntityDescription.insertNewObject(forEntityName: Self.name, into: context)
            let employee = try #require(inserted as? Employee)
            employee.name = name
            employee.age = age
        }
    }

    @Test(arguments: StoreKind.allCases) func theClassesNameFindsTheEntity(_ kind: StoreKind) throws {
        #expect(Self.name.hasSuffix(".Employee"))
        let store = try TestStore(kind)
        let context = store.context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = context
        try context.performAndWait {
            try fill(context)
            try context.save()
        }
        for context in [context, child] {
            try context.performAndWait {
                let entity = try #require(NSEntityDescription.entity(forEntityName: Self.name, in: context))
                #expect(entity.name == "Employee")
                let request = NSFetchRequest<Employee>(entityName: Self.name)
                request.predicate = NSPredicate(format: "age > 35")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                #expect(try context.fetch(request).map(\.name) == ["b"])
                #expect(try context.count(for: request) == 1)
                let results = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
                try results.performFetch()
                // What is not saved is found, too.
                let third = NSEntityDescription.insertNewObject(forEntityName: Self.name, into: context)
                third.setValue("c", forKey: "name")
                third.setValue(50, forKey: "age")
                #expect(try context.fetch(request).map(\.name) == ["b", "c"])
                try results.performFetch()
                #expect(results.fetchedObjects?.map(\.name) == ["b", "c"])
                context.rollback()
            }
        }
    }

    @Test func batchesFindTheEntity() throws {
        let store = try TestStore(.log)
        let context = store.context()
        try context.performAndWait {
            let insert = NSBatchInsertRequest(entityName: Self.name, objects: [["name": "a"], ["name": "b"]])
            try context.execute(insert)
            let update = NSBatchUpdateRequest(entityName: Self.name)
            update.predicate = NSPredicate(format: "name == 'a'")
            update.propertiesToUpdate = ["age": 7]
            try context.execute(update)
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: Self.name)
            request.predicate = NSPredicate(format: "age == 7")
            #expect(try context.count(for: request) == 1)
            try context.execute(NSBatchDeleteRequest(fetchRequest: request))
            #expect(try context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 1)
        }
    }

    @Test(arguments: ["Other.Employee", "StrataTests.Nobody", ".Employee", "Employee.", "StrataTests.employee"])
    func anotherNameFindsNone(_ name: String) throws {
        let context = try TestStore(.log).context()
        context.performAndWait {
            #expect(NSEntityDescription.entity(forEntityName: name, in: context) == nil)
            #expect(throws: (any Error).self) { try context.fetch(NSFetchRequest<Employee>(entityName: name)) }
        }
    }
}
