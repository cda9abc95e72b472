import CoreData
import Foundation
import Synchronization
import Testing

@Suite struct HistoryRequestTests {
    private typealias Request = NSPersistentHistoryChangeRequest
    private typealias Transaction = NSPersistentHistoryTransaction

    private func result(_ request: Request, _ context: NSManagedObjectContext) throws -> Any? {
        try #require(try context.execute(request) as? NSPersistentHistoryResult).result
    }

    private func transactions(_ request: Request, _ context: NSManagedObjectContext) throws -> [Transaction] {
        try #require(try result(request, context) as? [Transaction])
    }

    private let everything: NSPersistentHistoryToken? = nil

    /// Saves by two authors, in turn: each inserts an object, the last updates all of its own.
    private func filled(_ kind: StoreKind, saves: Int = 6) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            for index in 0..<saves {
                context.transactionAuthor = index % 2 == 0 ? "even" : "odd"
                context.name = "context"
                (insert("Department", context) as? Department)?.title = "d\(index)"
                try context.save()
            }
        }
        return (store, context)
    }

    @Test(arguments: StoreKind.allCases) func whatAFetchRequestLeavesOutIsNotDeleted(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            for author in ["a", "a", "b", "a"] {
                context.transactionAuthor = author
                (insert("Department", context) as? Department)?.title = author
                try context.save()
            }
            func delete(_ authors: [String]) throws -> [String?] {
                let request = Request.deleteHistory(before: Date.distantFuture)
                request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
                request.fetchRequest?.predicate = NSPredicate(format: "author IN %@", authors)
                #expect(try result(request, context) as? Bool == true)
                return try transactions(Request.fetchHistory(after: everything), context).map(\.author)
            }
            #expect(try delete(["b"]) == ["a", "a", "b", "a"])
            // Those after another author's stay with it.
            #expect(try delete(["a"]) == ["b", "a"])
            #expect(try delete(["a", "b"]).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func deletedHistoryStaysDeleted(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        var tokens: [NSPersistentHistoryToken] = []
        try context.performAndWait { () throws in
            tokens = try transactions(Request.fetchHistory(after: everything), context).map(\.token)
            let delete = Request.deleteHistory(before: tokens[3])
            #expect(delete.resultType == .statusOnly && delete.token == tokens[3])
            #expect(try result(delete, context) as? Bool == true)
            context.persistentStoreCoordinator?.persistentStores.first?.metadata["mine"] = "kept"
            try context.save()
        }
        try store.reopen()
        let other = store.context()
        try other.performAndWait { () throws in
            #expect(store.store.metadata["mine"] as? String == "kept")
            #expect(store.store.metadata.keys.allSatisfy { !$0.hasPrefix("_") })
            let rest = try transactions(Request.fetchHistory(after: everything), other)
            #expect(rest.map(\.token) == Array(tokens[3...]))
            // Nothing is missing after the last deleted one; before it, there is.
            #expect(try transactions(Request.fetchHistory(after: tokens[2]), other).count == 3)
            let error = #expect(throws: CocoaError.self) {
                try result(Request.fetchHistory(after: tokens[1]), other)
            }
            #expect(error?.errorCode == NSPersistentHistoryTokenExpiredError)
            #expect(try fetchAll(Department.self, "Department", other).count == 6)
            try _ = result(Request.deleteHistory(before: everything), other)
            #expect(try transactions(Request.fetchHistory(after: everything), other).isEmpty)
            (insert("Department", other) as? Department)?.title = "new"
            try other.save()
            #expect(try transactions(Request.fetchHistory(after: tokens[5]), other).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases) func timesAndTransactionsAreBounds(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait { () throws in
            let all = try transactions(Request.fetchHistory(after: everything), context)
            #expect(all.count == 6)
            #expect(try transactions(Request.fetchHistory(after: all[1]), context).count == 4)
            let later = all.filter { $0.timestamp > all[1].timestamp }
            let found = try transactions(Request.fetchHistory(after: all[1].timestamp), context)
            #expect(found.map(\.transactionNumber) == later.map(\.transactionNumber))
            _ = try result(Request.deleteHistory(before: all[2]), context)
            #expect(try transactions(Request.fetchHistory(after: Date.distantPast), context).count == 4)
            _ = try result(Request.deleteHistory(before: all[4].timestamp), context)
            let kept = try transactions(Request.fetchHistory(after: everything), context)
            #expect(kept.map(\.timestamp) == all.dropFirst(2).map(\.timestamp).filter { $0 >= all[4].timestamp })
            _ = try result(Request.deleteHistory(before: Date.distantFuture), context)
            #expect(try transactions(Request.fetchHistory(after: everything), context).isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases) func fetchRequestsNarrowDown(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            let fetch = try #require(Transaction.fetchRequest)
            #expect(fetch.entity === Transaction.entityDescription)
            #expect(Transaction.entityDescription(with: context)?.attributesByName["author"] != nil)
            fetch.predicate = NSPredicate(format: "%K != %@", "author", "odd")
            #expect(
                try transactions(Request.fetchHistory(withFetch: fetch), context).map(\.author) == [
                    "even", "even", "even",
                ])
            let all = try transactions(Request.fetchHistory(after: everything), context)
            let request = Request.fetchHistory(after: all[1].token)
            request.fetchRequest = fetch
            #expect(
                try transactions(request, context).map(\.transactionNumber)
                    == [all[2], all[4]].map(\.transactionNumber))
            fetch.predicate = NSPredicate(format: "transactionNumber > %lld", all[3].transactionNumber)
            fetch.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
            fetch.fetchLimit = 1
            #expect(try transactions(Request.fetchHistory(withFetch: fetch), context).map(\.token) == [all[5].token])

            let changes = try #require(NSPersistentHistoryChange.fetchRequest)
            let id = try #require(all[2].changes?.first?.changedObjectID)
            changes.predicate = NSPredicate(format: "changedObjectID == %@", id)
            let byChange = Request.fetchHistory(withFetch: changes)
            byChange.resultType = .changesOnly
            let found = try #require(try result(byChange, context) as? [NSPersistentHistoryChange])
            #expect(found.map(\.changedObjectID) == [id])
            byChange.resultType = .transactionsAndChanges
            #expect(try transactions(byChange, context).map(\.token) == [all[2].token])
            changes.predicate = NSPredicate(
                format: "changeType == %d", NSPersistentHistoryChangeType.insert.rawValue)
            byChange.resultType = .count
            #expect(try result(byChange, context) as? Int == 6)
            changes.predicate = NSPredicate(
                format: "changedEntity == %@", store.model.entitiesByName["Employee"])
            byChange.resultType = .objectIDs
            #expect((try result(byChange, context) as? [NSManagedObjectID])?.isEmpty == true)

            let wrong = Request.fetchHistory(withFetch: NSFetchRequest(entityName: "Department"))
            #expect(throws: CocoaError.self) { try result(wrong, context) }
        }
    }

    /// Every key of both entities, with every operator that fits its type.
    @Test(arguments: StoreKind.allCases) func everyKeyGoesWithEveryOperator(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait {
            context.name = "context"
            context.transactionAuthor = "importer"
            let department = Department(context: context)
            department.title = "a"
            try context.save()
            (context.name, context.transactionAuthor) = (nil, nil)
            department.title = "b"
            try context.save()
            context.delete(department)
            try context.save()
            let all = try transactions(Request.fetchHistory(after: .distantPast), context)
            try #require(all.count == 3)
            let (first, middle) = (all[0], all[1])
            let id = try #require(first.changes?.first?.changedObjectID)
            let title = try #require(store.model.entitiesByName["Department"]?.attributesByName["title"])

            func check(
                _ fetch: NSFetchRequest<any NSFetchRequestResult>?, _ format: String, _ arguments: [Any],
                _ expected: [Int]
            ) throws {
                let fetch = try #require(fetch)
                fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
                let found = try transactions(Request.fetchHistory(withFetch: fetch), context).map(\.transactionNumber)
                #expect(found == expected.map { all[$0].transactionNumber }, "\(format)")
            }
            let ofTransactions: [(String, [Any], [Int])] = [
                ("author == 'importer'", [], [0]), ("author != 'importer'", [], [1, 2]), ("author == nil", [], [1, 2]),
                ("author IN {'importer', 'x'}", [], [0]), ("author BEGINSWITH[c] 'IMP'", [], [0]),
                ("author ENDSWITH 'er'", [], [0]), ("author CONTAINS 'port'", [], [0]), ("author LIKE 'i*'", [], [0]),
                ("author MATCHES 'im.*'", [], [0]), ("contextName == 'context'", [], [0]),
                ("NOT (contextName == 'context')", [], [1, 2]), ("bundleID == %@", [first.bundleID], [0, 1, 2]),
                ("processID == %@", [first.processID], [0, 1, 2]), ("storeID == %@", [first.storeID], [0, 1, 2]),
                ("storeID != %@", [first.storeID], []), ("timestamp == %@", [middle.timestamp], [1]),
                ("timestamp < %@", [middle.timestamp], [0]), ("timestamp <= %@", [middle.timestamp], [0, 1]),
                ("timestamp > %@", [middle.timestamp], [2]), ("timestamp >= %@", [middle.timestamp], [1, 2]),
                ("timestamp BETWEEN %@", [[first.timestamp, middle.timestamp]], [0, 1]),
                ("timestamp IN %@", [[first.timestamp, all[2].timestamp]], [0, 2]),
                ("transactionNumber == %@", [middle.transactionNumber], [1]),
                ("transactionNumber BETWEEN %@", [[first.transactionNumber, middle.transactionNumber]], [0, 1]),
                ("transactionNumber IN %@", [[middle.transactionNumber]], [1]),
                ("token == %@", [middle.token], [1]), ("token != %@", [middle.token], [0, 2]),
                ("token < %@", [middle.token], [0]), ("token <= %@", [middle.token], [0, 1]),
                ("token > %@", [middle.token], [2]), ("token >= %@", [middle.token], [1, 2]),
                ("token BETWEEN %@", [[first.token, middle.token]], [0, 1]),
                ("token IN %@", [[first.token, all[2].token]], [0, 2]),
                ("changes.@count == 1", [], [0, 1, 2]), ("ANY changes.changeType == 2", [], [2]),
                ("ANY changes.changedObjectID == %@", [id], [0, 1, 2]),
                ("SUBQUERY(changes, $c, $c.changeType == 0).@count == 1", [], [0]),
            ]
            for (format, arguments, expected) in ofTransactions {
                try check(NSPersistentHistoryTransaction.fetchRequest, format, arguments, expected)
            }
            let changeID = try #require(middle.changes?.first?.changeID)
            let ofChanges: [(String, [Any], [Int])] = [
                ("changeID == %@", [changeID], [1]), ("changeID < %@", [changeID], [0]),
                ("changeID >= %@", [changeID], [1, 2]), ("changeID BETWEEN %@", [[changeID, changeID]], [1]),
                ("changedObjectID == %@", [id], [0, 1, 2]), ("changedObjectID != %@", [id], []),
                ("changedObjectID IN %@", [[id]], [0, 1, 2]),
                ("changedEntity == %@", [id.entity], [0, 1, 2]), ("changedEntity != %@", [id.entity], []),
                ("changedEntity IN %@", [[id.entity]], [0, 1, 2]),
                ("changedEntity.name == 'Department'", [], [0, 1, 2]),
                ("changeType == 1", [], [1]), ("changeType != 1", [], [0, 2]), ("changeType IN {0, 2}", [], [0, 2]),
                ("changeType BETWEEN {1, 2}", [], [1, 2]), ("changeType > 0", [], [1, 2]),
                ("tombstone == nil", [], [0, 1, 2]), ("tombstone != nil", [], []),
                ("updatedProperties != nil", [], [1]), ("updatedProperties CONTAINS %@", [title], [1]),
                ("%@ IN updatedProperties", [title], [1]), ("ANY updatedProperties.name == 'title'", [], [1]),
                ("ANY updatedProperties == %@", [title], [1]), ("updatedProperties.@count == 1", [], [1]),
                ("transaction.author == 'importer'", [], [0]), ("transaction.token > %@", [first.token], [1, 2]),
                ("transaction.timestamp <= %@", [middle.timestamp], [0, 1]),
                ("transaction.transactionNumber == %@", [middle.transactionNumber], [1]),
            ]
            for (format, arguments, expected) in ofChanges {
                try check(NSPersistentHistoryChange.fetchRequest, format, arguments, expected)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func resultsComeInEveryForm(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait { () throws in
            let request = Request.fetchHistory(after: everything)
            #expect(request.resultType == .transactionsAndChanges)
            request.resultType = .transactionsOnly
            #expect(try transactions(request, context).allSatisfy { $0.changes == nil })
            request.resultType = .count
            #expect(try result(request, context) as? Int == 6)
            request.resultType = .objectIDs
            #expect(Set(try #require(try result(request, context) as? [NSManagedObjectID])).count == 6)
            request.resultType = .statusOnly
            #expect(try result(request, context) as? Bool == true)
            request.resultType = .changesOnly
            let changes = try #require(try result(request, context) as? [NSPersistentHistoryChange])
            #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.changeID < $1.changeID })
            #expect(changes.map { $0.transaction?.author } == ["even", "odd", "even", "odd", "even", "odd"])
            #expect(changes.map { $0.transaction?.transactionNumber } == [1, 2, 3, 4, 5, 6])
        }
    }

    @Test(arguments: StoreKind.allCases) func tokensOfOtherStoresHaveExpired(_ kind: StoreKind) throws {
        let (first, _) = try filled(kind)
        let (store, context) = try filled(kind)
        defer { withExtendedLifetime(store) {} }
        let foreign = first.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try context.performAndWait { () throws in
            let error = #expect(throws: CocoaError.self) {
                try result(Request.fetchHistory(after: foreign), context)
            }
            #expect(error?.errorCode == NSPersistentHistoryTokenExpiredError)
        }
    }

    /// A change names its transaction also when only the changes are kept.
    @Test(arguments: StoreKind.allCases) func changesKnowTheirTransaction(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, saves: 2)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait { () throws in
            var all = try transactions(Request.fetchHistory(after: everything), context)
            let changes = all.flatMap { $0.changes ?? [] }
            #expect(zip(changes, all).allSatisfy { $0.transaction === $1 })
            let (tokens, times) = (all.map(\.token), all.map(\.timestamp))
            all = []
            #expect(changes.map { $0.transaction?.token } == tokens)
            #expect(changes.map { $0.transaction?.timestamp } == times)
            #expect(changes.map { $0.transaction?.contextName } == ["context", "context"])
            let first = try #require(changes.first)
            let held = first.transaction
            #expect(held === first.transaction && held?.changes == nil)
        }
    }

    /// The history speaks of an entity's properties: of a composite, whichever of its elements was written.
    @Test(arguments: StoreKind.allCases) func compositesAreInTheHistoryAsOne(_ kind: StoreKind) throws {
        let entity = NSEntityDescription()
        entity.name = "Place"
        let (address, inner) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
        (address.name, inner.name) = ("address", "inner")
        inner.elements = [ZooModel.attribute("floor", .integer32)]
        address.elements = [ZooModel.attribute("street", .string), ZooModel.attribute("city", .string), inner]
        address.preservesValueInHistoryOnDeletion = true
        entity.properties = [address, ZooModel.attribute("note", .string)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait { () throws in
            let place = insert("Place", context)
            place.setValue(["street": "Elm", "inner": ["floor": 3]], forKey: "address")
            try context.save()
            place.setValue(["street": "Elm", "inner": ["floor": 4]], forKey: "address")
            try context.save()
            context.delete(place)
            try context.save()
            let changes = try transactions(Request.fetchHistory(after: everything), context).map { $0.changes?.first }
            #expect(changes[1]?.updatedProperties?.map(\.name) == ["address"])
            #expect(changes[1]?.updatedProperties?.first is NSCompositeAttributeDescription)
            let tombstone = try #require(changes[2]?.tombstone)
            #expect(tombstone.count == 1)
            let value = try #require(tombstone["address"] as? [String: Any])
            #expect(value["street"] as? String == "Elm" && value["city"] == nil)
            #expect((value["inner"] as? [String: Any])?["floor"] as? Int == 4)
        }
    }

    /// Compaction moves the rows that say so.
    @Test(arguments: StoreKind.allCases) func linksOfBeforeACompactionAreFound(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            let employee = Employee(context: context)
            employee.name = "Ann"
            let project = insert("Project", context)
            try context.save()
            employee.mutableSetValue(forKey: "projects").add(project)
            try context.save()
            // So that there is something to be compacted.
            for age in 1...3 {
                employee.age = Int16(age)
                try context.save()
            }
            for persistentStore in store.coordinator.persistentStores { try store.coordinator.compact(persistentStore) }
            let changes = try transactions(Request.fetchHistory(after: everything), context)[1].changes ?? []
            #expect(Set(changes.map(\.changedObjectID)) == [employee.objectID, project.objectID])
            #expect(Set(changes.flatMap { $0.updatedProperties?.map(\.name) ?? [] }) == ["projects", "staff"])
        }
    }

    /// A relationship that is to-many at both ends is a change of both objects.
    @Test(arguments: StoreKind.allCases) func linksAreUpdatesOfBothEnds(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let context = store.context()
        let viewer = store.context()
        try context.performAndWait { () throws in
            let employee = Employee(context: context)
            employee.name = "Ann"
            let (first, second) = (insert("Project", context), insert("Project", context))
            let projects = employee.mutableSetValue(forKey: "projects")
            projects.add(first)
            try context.save()
            let id = employee.objectID
            viewer.performAndWait {
                viewer.retainsRegisteredObjects = true
                #expect(viewer.object(with: id).mutableSetValue(forKey: "projects").count == 1)
            }
            projects.add(second)
            try context.save()
            employee.age = 40
            projects.remove(first)
            try context.save()
            context.delete(second)
            try context.save()
            let all = try transactions(Request.fetchHistory(after: everything), context)
            func told(_ index: Int) -> Set<String> {
                Set(
                    (all[index].changes ?? []).map { change in
                        let properties = (change.updatedProperties ?? []).map(\.name).sorted().joined(separator: ",")
                        return "\(change.changedObjectID.entity.name ?? "") \(change.changeType.rawValue) \(properties)"
                    })
            }
            let (insertion, update, deletion) = (
                NSPersistentHistoryChangeType.insert.rawValue, NSPersistentHistoryChangeType.update.rawValue,
                NSPersistentHistoryChangeType.delete.rawValue
            )
            #expect(told(0) == ["Employee \(insertion) ", "Project \(insertion) "])
            #expect(all[0].changes?.count == 3)
            #expect(told(1) == ["Employee \(update) projects", "Project \(update) staff"])
            #expect(Set(all[1].changes?.map(\.changedObjectID) ?? []) == [employee.objectID, second.objectID])
            #expect(told(2) == ["Employee \(update) age,projects", "Project \(update) staff"])
            #expect(told(3) == ["Employee \(update) projects", "Project \(deletion) "])
            viewer.performAndWait {
                for transaction in all.dropFirst() {
                    viewer.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                }
                #expect(viewer.object(with: id).mutableSetValue(forKey: "projects").count == 0)
            }
        }
    }

    @Test(arguments: StoreKind.allCases) func transactionsSayWhoWrote(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, saves: 1)
        try context.performAndWait { () throws in
            let all = try transactions(Request.fetchHistory(after: everything), context)
            let transaction = try #require(all.first)
            #expect(transaction.processID == ProcessInfo.processInfo.processName)
            #expect(!transaction.bundleID.isEmpty)
            #expect(transaction.storeID == store.store.identifier)
            #expect(transaction.contextName == "context" && transaction.author == "even")
            let notification = transaction.objectIDNotification()
            #expect(notification.name == .NSManagedObjectContextDidSaveObjectIDs)
            let ids = notification.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>
            #expect(ids == Set(transaction.changes?.map(\.changedObjectID) ?? []))
            let viewer = store.context()
            viewer.performAndWait {
                viewer.retainsRegisteredObjects = true
                viewer.mergeChanges(fromContextDidSave: notification)
                #expect(viewer.registeredObjects.count == 1)
            }
        }
    }

    @Test func remoteChangesArePosted() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-test-\(UUID().uuidString)")
        defer { removeStore(at: url) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GraphModel.company())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true, StrataDurabilityOption: "os"])
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let tokens = Mutex<[NSPersistentHistoryToken]>([])
        let identifier = store.identifier
        let observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { notification in
            #expect(notification.userInfo?[NSStoreUUIDKey] as? String == identifier)
            #expect(notification.userInfo?[NSPersistentStoreURLKey] as? URL == url)
            if let token = notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken {
                tokens.withLock { $0.append(token) }
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.performAndWait { () throws in
            _ = insert("Department", context)
            try context.save()
            try context.execute(NSBatchInsertRequest(entityName: "Department", objects: [["title": "x"]]))
            try context.execute(
                NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Department")))
            let all = try transactions(Request.fetchHistory(after: everything), context)
            #expect(tokens.withLock { $0 } == all.map(\.token))
            #expect(all.map { $0.changes?.count } == [1, 1, 2])
        }
    }
}
