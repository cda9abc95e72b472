import CoreData
import Foundation
import Testing

@Suite struct SaveNotificationTests {
    @Test(arguments: StoreKind.allCases, [false, true])
    func aSaveTellsOfAllThreeSets(_ kind: StoreKind, inChild: Bool) throws {
        let line = try ContextLine(kind)
        let context = inChild ? line.child : line.root
        let saved = SaveRecorder(.NSManagedObjectContextDidSave, context)
        let ids = SaveRecorder(.NSManagedObjectContextDidSaveObjectIDs, context)
        try context.check {
            try context.save()
            #expect(saved.infos.count == 1 && ids.infos.isEmpty)
            let employee = Employee(context: context)
            try context.save()
            #expect(saved.infos[1][NSInsertedObjectsKey] as? Set<NSManagedObject> == [employee])
            #expect(ids.infos[0][NSInsertedObjectIDsKey] as? Set<NSManagedObjectID> == [employee.objectID])
        }
        for info in saved.infos {
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                #expect(info[key] is Set<NSManagedObject>)
            }
        }
        for key in [NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey] {
            #expect((ids.infos[0][key] as? Set<NSManagedObjectID>)?.isEmpty == true)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func aMergeNamesWhatItRefreshed(_ kind: StoreKind, isRemote: Bool) throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        try context.check {
            let employee = Employee(context: context)
            try context.save()
            let merged = SaveRecorder(.NSManagedObjectContextDidMergeChangesObjectIDs, context)
            let saved = SaveRecorder(.NSManagedObjectContextDidSave, other)
            try other.check {
                (try other.existingObject(with: employee.objectID) as? Employee)?.age = 77
                try other.save()
            }
            let note = Notification(name: .NSManagedObjectContextDidSave, object: other, userInfo: saved.infos[0])
            if isRemote {
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved.infos[0], into: [context])
            } else {
                context.mergeChanges(fromContextDidSave: note)
            }
            #expect(employee.age == 77)
            #expect(merged.infos[0][NSRefreshedObjectIDsKey] as? Set<NSManagedObjectID> == [employee.objectID])
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func historyTokensComeOnlyWithHistoryTracking(_ kind: StoreKind, isTracking: Bool) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-token-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        let store = try coordinator.addPersistentStore(
            ofType: kind == .memory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil,
            at: kind == .memory ? nil : url, options: [NSPersistentHistoryTrackingKey: isTracking])
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let saved = SaveRecorder(.NSManagedObjectContextDidSave, context)
        try context.check {
            _ = Employee(context: context)
            try context.save()
        }
        #expect((saved.infos[0]["newChangeToken"] is NSPersistentHistoryToken) == isTracking)
    }

    @Test func addingAStoreIsAnnouncedAfterwardsOnly() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        nonisolated(unsafe) var names: [Notification.Name] = []
        let all: [Notification.Name] = [
            .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
        ]
        let tokens = all.map { name in
            NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) { _ in
                names.append(name)
            }
        }
        defer { tokens.forEach(NotificationCenter.default.removeObserver) }
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(names == [.NSPersistentStoreCoordinatorStoresDidChange])
    }

    @Test(arguments: StoreKind.allCases) func batchesOfAChildAreRecordedAsItsTops(_ kind: StoreKind) throws {
        let line = try ContextLine(kind, depth: 3)
        line.root.performAndWait { (line.root.transactionAuthor, line.root.name) = ("top", "the top") }
        let context = line.contexts[2]
        try context.check {
            (context.transactionAuthor, context.name) = ("child", "a child")
            try context.execute(NSBatchInsertRequest(entityName: "Department", objects: [["title": "x"]]))
            let update = NSBatchUpdateRequest(entityName: "Department")
            update.propertiesToUpdate = ["title": "y"]
            try context.execute(update)
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Department")))
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(transactions.map(\.author) == ["top", "top", "top"])
            #expect(transactions.map(\.contextName) == ["the top", "the top", "the top"])
            #expect(transactions.map { $0.changes?.first?.changeType } == [.insert, .update, .delete])
        }
    }

    @Test(arguments: StoreKind.allCases, [2, 3]) func aChildCountsDictionaries(_ kind: StoreKind, depth: Int) throws {
        let line = try ContextLine(kind, depth: depth)
        try line.root.check {
            for number in 0..<4 { Employee(context: line.root).age = Int16(number / 2) }
            try line.root.save()
            // Dictionaries are of what is stored.
            _ = Employee(context: line.root)
        }
        let context = line.contexts[depth - 1]
        try context.check { () throws in
            _ = Employee(context: context)
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["age"]
            #expect(try context.count(for: request) == 4)
            request.fetchLimit = 3
            #expect(try context.count(for: request) == 3)
            request.fetchLimit = 0
            request.predicate = NSPredicate(format: "age == 1")
            #expect(try context.count(for: request) == 2)
            request.returnsDistinctResults = true
            #expect(try context.count(for: request) == context.fetch(request).count)
        }
    }

    /// Transient values were gone after each refresh and each merge.
    @Test(arguments: StoreKind.allCases) func refreshingKeepsTransientValues(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check {
            let employee = Employee(context: context)
            try context.save()
            employee.setValue("Addie", forKey: "nickname")
            try context.save()
            context.refresh(employee, mergeChanges: true)
            #expect(employee.value(forKey: "nickname") as? String == "Addie")
            context.refresh(employee, mergeChanges: false)
            #expect(employee.value(forKey: "nickname") == nil)
        }
    }

    @Test(arguments: StoreKind.allCases) func publishersSendBeforeSettersAndAfterRefreshes(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (context, other) = (store.context(), store.context())
        try context.check {
            let employee = Employee(context: context)
            try context.save()
            nonisolated(unsafe) let watched = employee
            nonisolated(unsafe) var ages: [Int16] = []
            let subscription = employee.objectWillChange.sink { ages.append(watched.age) }
            employee.age = 20
            #expect(ages == [18])
            try context.save()
            try other.check {
                (try other.existingObject(with: employee.objectID) as? Employee)?.age = 21
                try other.save()
            }
            context.refresh(employee, mergeChanges: true)
            #expect(ages == [18, 21])
            try other.check {
                (try other.existingObject(with: employee.objectID) as? Employee)?.age = 22
                try other.save()
            }
            context.refresh(employee, mergeChanges: false)
            #expect(ages == [18, 21, 22])
            withExtendedLifetime(subscription) {}
        }
    }

    @Test(arguments: StoreKind.allCases) func historyPredicatesCompareTokens(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check {
            var tokens: [NSPersistentHistoryToken] = []
            for _ in 0..<3 {
                _ = Employee(context: context)
                try context.save()
                let token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
                tokens.append(try #require(token))
            }
            func count(_ format: String) throws -> Int? {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
                request.fetchRequest?.predicate = NSPredicate(format: format, tokens[1])
                let result = try context.execute(request) as? NSPersistentHistoryResult
                return (result?.result as? [NSPersistentHistoryTransaction])?.count
            }
            #expect(try count("token > %@") == 1 && count("token >= %@") == 2)
            #expect(try count("token < %@") == 1 && count("token <= %@") == 2)
            #expect(try count("token == %@") == 1 && count("token != %@") == 2)
        }
    }

    /// A transformer that makes nothing of a value refused the save.
    @Test(arguments: StoreKind.allCases, [false, true])
    func whatATransformerMakesNothingOfIsNull(_ kind: StoreKind, inBatch: Bool) throws {
        ValueTransformer.setValueTransformer(NothingTransformer(), forName: .init("NothingTransformer"))
        let model = GraphModel.everything()
        model.entitiesByName["Thing"]?.attributesByName["list"]?.valueTransformerName = "NothingTransformer"
        let store = try TestStore(kind, model)
        let parent = store.context()
        let context = inBatch ? parent : ContextLine.child(of: parent)
        try context.check {
            if inBatch {
                let objects: [[String: Any]] = [["string": "a", "list": ["a"]]]
                try context.execute(NSBatchInsertRequest(entityName: "Thing", objects: objects))
                let update = NSBatchUpdateRequest(entityName: "Thing")
                update.propertiesToUpdate = ["list": ["b"]]
                try context.execute(update)
            } else {
                insert("Thing", context).setValue(["a"], forKey: "list")
                try context.save()
                try parent.check { try parent.save() }
            }
            let other = store.context()
            let things = try other.performAndWait { try fetchAll(NSManagedObject.self, "Thing", other) }
            other.performAndWait { #expect(things.count == 1 && things[0].value(forKey: "list") == nil) }
        }
    }
}

private final class NothingTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? { nil }
    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
}
