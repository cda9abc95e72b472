import CoreData
import Foundation
import Testing

/// What Core Data's reference says of the persistent history, where no other suite says it.
@Suite struct HistoryReferenceTests {
    private func transactions(
        _ request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }

    private func named(_ author: String, _ store: TestStore) -> NSManagedObjectContext {
        let context = store.context()
        context.name = "\(author)'s context"
        context.transactionAuthor = author
        return context
    }

    private func save(_ name: String, _ context: NSManagedObjectContext) throws {
        try context.check { () throws in
            Employee(context: context).name = name
            try context.save()
        }
    }

    @Test(arguments: StoreKind.allCases) func transactionsSayWhoAndWhen(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (here, there) = (named("here", store), named("there", store))
        let before = Date()
        try save("a", here)
        try save("b", there)
        try here.check { () throws in
            let all = try transactions(.fetchHistory(after: before.addingTimeInterval(-60)), here)
            #expect(all.map(\.author) == ["here", "there"])
            #expect(all.map(\.contextName) == ["here's context", "there's context"])
            #expect(all.allSatisfy { $0.timestamp >= before.addingTimeInterval(-1) && $0.timestamp <= Date() })
            #expect(all.allSatisfy { $0.storeID == store.store.identifier && !$0.bundleID.isEmpty })
            #expect(all[0].transactionNumber < all[1].transactionNumber && all[0].token != all[1].token)
            let copy = try #require(all[0].copy() as? NSPersistentHistoryTransaction)
            #expect(copy.transactionNumber == all[0].transactionNumber && copy.token == all[0].token)
            #expect(copy.changes?.count == 1)
            let change = try #require(all[0].changes?.first?.copy() as? NSPersistentHistoryChange)
            #expect(change.changeID == all[0].changes?.first?.changeID && change.changeType == .insert)
            let none: [NSPersistentHistoryTransaction] = try transactions(.fetchHistory(after: Date()), here)
            #expect(none.isEmpty)
            #expect(try transactions(.fetchHistory(after: all[0]), here).map(\.author) == ["there"])
            #expect(try transactions(.fetchHistory(after: all[0].token), here).map(\.author) == ["there"])
            let everything: NSPersistentHistoryTransaction? = nil
            #expect(try transactions(.fetchHistory(after: everything), here).count == 2)
        }
    }

    /// An app merges what others saved: it asks for other authors, and hands the notifications to its context.
    @Test(arguments: StoreKind.allCases) func notificationsOfTransactionsAreMerged(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (app, other) = (named("app", store), named("extension", store))
        try save("a", app)
        try save("b", app)
        let all: [Employee] = try app.performAndWait { try fetchAll(Employee.self, "Employee", app, sort: "name") }
        nonisolated(unsafe) let shown = all
        let token = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try other.check { () throws in
            let theirs = try fetchAll(Employee.self, "Employee", other, sort: "name")
            theirs[0].age = 70
            other.delete(theirs[1])
            Employee(context: other).name = "c"
            try other.save()
        }
        try app.check { () throws in
            shown[0].name = "mine"
            let entity = try #require(NSPersistentHistoryTransaction.entityDescription(with: app))
            let fetch = NSFetchRequest<any NSFetchRequestResult>()
            fetch.entity = entity
            fetch.predicate = NSPredicate(format: "author != %@", "app")
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            request.fetchRequest = fetch
            let found = try transactions(request, app)
            #expect(found.map(\.author) == ["extension"])
            for transaction in found {
                let note = transaction.objectIDNotification()
                #expect(note.name == .NSManagedObjectContextDidSaveObjectIDs)
                #expect((note.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 1)
                #expect((note.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID>) == [shown[0].objectID])
                #expect((note.userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID>) == [shown[1].objectID])
                app.mergeChanges(fromContextDidSave: note)
            }
            #expect(shown[0].age == 70 && shown[0].name == "mine" && shown[1].isDeleted)
            app.processPendingChanges()
            #expect(try app.employeeNames() == ["c", "mine"])
        }
    }

    @Test(arguments: StoreKind.allCases) func batchesAreInTheHistory(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = named("batch", store)
        try context.check { () throws in
            _ = try context.execute(
                NSBatchInsertRequest(entityName: "Employee", objects: [["name": "a", "age": 1], ["name": "b"]]))
            let update = NSBatchUpdateRequest(entityName: "Employee")
            update.predicate = NSPredicate(format: "name == 'a'")
            update.propertiesToUpdate = ["age": 5]
            _ = try context.execute(update)
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
            request.predicate = NSPredicate(format: "age == 5")
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: request))
            let all = try transactions(.fetchHistory(after: Date.distantPast), context)
            #expect(all.map { $0.changes?.map(\.changeType) ?? [] } == [[.insert, .insert], [.update], [.delete]])
            #expect(all.allSatisfy { $0.author == "batch" && $0.contextName == "batch's context" })
            #expect(all[1].changes?.first?.updatedProperties?.map(\.name) == ["age"])
            #expect(all[1].changes?.first?.changedObjectID == all[2].changes?.first?.changedObjectID)
        }
    }

    /// Only marked attributes are in tombstones, which deletions alone have.
    @Test(arguments: StoreKind.allCases) func tombstonesHaveWhatIsPreserved(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        try context.check { () throws in
            let thing = insert("Thing", context)
            thing.setValue("kept", forKey: "string")
            thing.setValue(7, forKey: "int32")
            try context.save()
            context.delete(thing)
            try context.save()
            let all = try transactions(.fetchHistory(after: Date.distantPast), context)
            #expect(all.count == 2 && all[0].changes?.first?.tombstone == nil)
            let tombstone = try #require(all[1].changes?.first?.tombstone)
            #expect(tombstone["string"] as? String == "kept" && tombstone.count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases) func purgingKeepsWhatComesAfter(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = named("a", store)
        for name in ["a", "b", "c"] { try save(name, context) }
        try context.check { () throws in
            let all = try transactions(.fetchHistory(after: Date.distantPast), context)
            let purge = NSPersistentHistoryChangeRequest.deleteHistory(before: all[1])
            let result = try context.execute(purge) as? NSPersistentHistoryResult
            #expect(result?.result as? Bool == true && result?.resultType == .statusOnly)
            #expect(
                try transactions(.fetchHistory(after: Date.distantPast), context).map(\.transactionNumber)
                    == all[1...].map(\.transactionNumber))
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
            #expect(try transactions(.fetchHistory(after: Date.distantPast), context).isEmpty)
            #expect(try context.count(for: NSFetchRequest<Employee>(entityName: "Employee")) == 3)
            let after = try #require(store.coordinator.currentPersistentHistoryToken(fromStores: nil))
            try save("d", context)
            #expect(try transactions(.fetchHistory(after: after), context).count == 1)
        }
    }

    /// `affectedStores` of a history request are the stores that are asked.
    @Test func historyOfSomeStores() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.check { () throws in
            for (index, store) in stores.enumerated() {
                for _ in 0...index {
                    let employee = Employee(context: context)
                    context.assign(employee, to: store)
                    try context.save()
                }
            }
            for (index, store) in stores.enumerated() {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                request.affectedStores = [store]
                let found = try transactions(request, context)
                #expect(found.count == index + 1 && found.allSatisfy { $0.storeID == store.identifier })
            }
            #expect(try transactions(.fetchHistory(after: Date.distantPast), context).count == 3)
            let purge = NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)
            purge.affectedStores = [stores[1]]
            _ = try context.execute(purge)
            let left = try transactions(.fetchHistory(after: Date.distantPast), context)
            #expect(left.map(\.storeID) == [stores[0].identifier])
        }
    }

    @Test func entitiesOfTheHistoryAreDescribed() throws {
        let store = try TestStore(.memory)
        let context = store.context()
        let transaction = try #require(NSPersistentHistoryTransaction.entityDescription(with: context))
        let change = try #require(NSPersistentHistoryChange.entityDescription(with: context))
        let properties = ["author", "bundleID", "contextName", "processID", "timestamp", "token", "transactionNumber"]
        #expect(Set(properties).isSubset(of: transaction.propertiesByName.keys))
        #expect(Set(["changeID", "changedObjectID", "changeType"]).isSubset(of: change.propertiesByName.keys))
    }
}
