import CoreData
import Foundation
import Testing

/// What Core Data's reference says of batch requests, asynchronous fetches and query generations, where no other suite
/// says it.
@Suite struct BatchReferenceTests {
    @Test func requestsAreCopied() throws {
        let update = NSBatchUpdateRequest(entityName: "Employee")
        update.predicate = NSPredicate(format: "age > 3")
        update.propertiesToUpdate = ["age": 4]
        update.includesSubentities = false
        update.resultType = .updatedObjectsCountResultType
        let copy = try #require(update.copy() as? NSBatchUpdateRequest)
        #expect(copy !== update && copy.entityName == "Employee" && copy.predicate == update.predicate)
        #expect(copy.resultType == update.resultType && !copy.includesSubentities)
        #expect(copy.propertiesToUpdate?["age"] as? Int == 4)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
        let delete = NSBatchDeleteRequest(fetchRequest: fetch)
        delete.resultType = .resultTypeCount
        let deleteCopy = try #require(delete.copy() as? NSBatchDeleteRequest)
        #expect(deleteCopy.resultType == .resultTypeCount && deleteCopy.fetchRequest.entityName == "Employee")
        let insert = NSBatchInsertRequest(entityName: "Employee", objects: [["name": "a"]])
        insert.resultType = .count
        let insertCopy = try #require(insert.copy() as? NSBatchInsertRequest)
        #expect(insertCopy.resultType == .count && insertCopy.objectsToInsert?.count == 1)
        let history = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
        history.resultType = .count
        #expect((history.copy() as? NSPersistentHistoryChangeRequest)?.resultType == .count)
    }

    @Test(arguments: StoreKind.allCases) func valuesThatAreMissingAreDefaults(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check { () throws in
            let insert = NSBatchInsertRequest(
                entityName: "Employee", objects: [["name": "a"], ["name": "b", "age": 3]])
            insert.resultType = .objectIDs
            let ids = try #require(
                (try context.execute(insert) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            #expect(ids.count == 2 && ids.allSatisfy { !$0.isTemporaryID && $0.persistentStore === store.store })
            #expect(ids.map { ($0.entity.name ?? "") } == ["Employee", "Employee"])
            let ages = ids.map { (context.object(with: $0) as? Employee)?.age }
            #expect(ages == [18, 3])
            let none = NSBatchInsertRequest(entityName: "Employee", objects: [])
            none.resultType = .count
            #expect((try context.execute(none) as? NSBatchInsertResult)?.result as? Int == 0)
        }
    }

    /// The batch of an entity leaves its parent's objects and, if it is told so, its children's alone.
    @Test(arguments: StoreKind.allCases) func subentitiesAreIncludedOrNot(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check { () throws in
            Employee(context: context).name = "e"
            Manager(context: context).name = "m"
            try context.save()
            func count(_ entity: String, subentities: Bool) throws -> Int? {
                let update = NSBatchUpdateRequest(entityName: entity)
                update.includesSubentities = subentities
                update.propertiesToUpdate = ["age": 3]
                update.resultType = .updatedObjectsCountResultType
                return (try context.execute(update) as? NSBatchUpdateResult)?.result as? Int
            }
            #expect(try count("Employee", subentities: true) == 2 && count("Employee", subentities: false) == 1)
            #expect(try count("Manager", subentities: true) == 1)
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
            fetch.includesSubentities = false
            let delete = NSBatchDeleteRequest(fetchRequest: fetch)
            delete.resultType = .resultTypeObjectIDs
            let deleted = (try context.execute(delete) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
            #expect(deleted?.map { $0.entity.name ?? "" } == ["Employee"])
            context.reset()
            #expect(try context.employeeNames() == ["m"])
        }
    }

    /// Attributes are computed of others of the same row, as they were before the batch.
    @Test(arguments: StoreKind.allCases) func expressionsReadTheRow(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check { () throws in
            for (title, budget) in [("a", 1), ("b", 10)] {
                let department = Department(context: context)
                (department.title, department.budget) = (title, Int64(budget))
            }
            try context.save()
            let update = NSBatchUpdateRequest(entityName: "Department")
            update.propertiesToUpdate = [
                "budget": NSExpression(format: "budget * 2 + 1"), "title": NSExpression(forKeyPath: "title"),
            ]
            update.resultType = .updatedObjectIDsResultType
            let ids = (try context.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID]
            #expect(ids?.count == 2)
            context.reset()
            let all = try fetchAll(Department.self, "Department", context, sort: "title")
            #expect(all.map(\.budget) == [3, 21] && all.map(\.title) == ["a", "b"])
        }
        withExtendedLifetime(store) {}
    }

    /// `affectedStores` of batch requests.
    @Test func batchesOfSomeStores() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.check { () throws in
            let insert = NSBatchInsertRequest(entityName: "Employee", objects: [["name": "a"], ["name": "b"]])
            insert.affectedStores = [stores[1]]
            insert.resultType = .objectIDs
            let ids = (try context.execute(insert) as? NSBatchInsertResult)?.result as? [NSManagedObjectID]
            #expect(ids?.count == 2 && ids?.allSatisfy { $0.persistentStore === stores[1] } == true)
            let update = NSBatchUpdateRequest(entityName: "Employee")
            update.propertiesToUpdate = ["age": 1]
            update.resultType = .updatedObjectsCountResultType
            update.affectedStores = [stores[0]]
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 0)
            update.affectedStores = [stores[1]]
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
            let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Employee"))
            delete.affectedStores = [stores[0]]
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 0)
            #expect(try context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 2)
        }
    }

    // MARK: Asynchronous fetches

    @Test(arguments: StoreKind.allCases) func asynchronousFetchesMayBeCancelled(_ kind: StoreKind) async throws {
        let store = try TestStore(kind)
        let context = store.context()
        try await context.perform {
            for index in 0..<10 { Employee(context: context).name = "e\(index)" }
            try context.save()
        }
        let isEmpty: Bool = try await withCheckedThrowingContinuation { done in
            context.perform {
                let request = NSAsynchronousFetchRequest(
                    fetchRequest: NSFetchRequest<Employee>(entityName: "Employee")
                ) { result in done.resume(returning: result.finalResult?.isEmpty ?? true) }
                do {
                    let result = try context.execute(request) as? NSPersistentStoreAsynchronousResult
                    #expect(result?.managedObjectContext === context && result?.progress != nil)
                    result?.cancel()
                    #expect(result?.progress?.isCancelled == true)
                } catch {
                    done.resume(throwing: error)
                }
            }
        }
        #expect(isEmpty)
    }

    // MARK: Query generations

    @Test(arguments: StoreKind.allCases) func generationsAreCopiedArchivedAndShared(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (here, there, writer) = (store.context(), store.context(), store.context())
        func add(_ name: String) throws {
            try writer.check { () throws in
                Employee(context: writer).name = name
                try writer.save()
            }
        }
        try add("a")
        try here.check { () throws in
            try here.setQueryGenerationFrom(.current)
            #expect(try here.employeeNames() == ["a"])
            let token = try #require(here.queryGenerationToken)
            #expect(token.copy() as? NSQueryGenerationToken == token)
            try add("b")
            #expect(try here.employeeNames() == ["a"])
            try there.check { () throws in
                try there.setQueryGenerationFrom(token)
                #expect(try there.employeeNames() == ["a"])
                try there.setQueryGenerationFrom(nil)
                #expect(try there.employeeNames() == ["a", "b"] && there.queryGenerationToken == nil)
            }
            // Saving advances the context.
            Employee(context: here).name = "c"
            try here.save()
            #expect(try here.employeeNames() == ["a", "b", "c"])
        }
    }
}
