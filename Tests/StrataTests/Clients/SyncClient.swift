import CoreData
import Foundation
import Testing

// An importer that upserts records, follows notifications and the persistent history.

struct CustomerRecord: Codable, Sendable {
    var email: String
    var name: String
    var city: String?
}

final class SyncEngine: @unchecked Sendable {
    enum Failure: Error { case noStore, badURI }

    let container: NSPersistentContainer
    private var token: NSPersistentHistoryToken?
    private(set) var saves: [[String: Int]] = []
    private var observers: [any NSObjectProtocol] = []

    init(container: NSPersistentContainer) {
        self.container = container
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
        ) { [weak self, weak coordinator = container.persistentStoreCoordinator] note in
            guard let sender = note.object as? NSManagedObjectContext, sender.persistentStoreCoordinator === coordinator
            else { return }
            var counts: [String: Int] = [:]
            for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
                if let objects = note.userInfo?[key] as? Set<NSManagedObject>, !objects.isEmpty {
                    counts[key] = objects.count
                }
            }
            self?.saves.append(counts)
        }
        observers.append(observer)
    }

    deinit { observers.forEach(NotificationCenter.default.removeObserver) }

    func backgroundContext(author: String) -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        context.transactionAuthor = author
        context.undoManager = nil
        return context
    }

    func upsert(_ records: [CustomerRecord]) async throws -> [NSManagedObjectID] {
        let context = backgroundContext(author: "import")
        return try await context.perform {
            var made: [NSManagedObject] = []
            for record in records {
                let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
                customer.setValue(record.email, forKey: "email")
                customer.setValue(record.name, forKey: "name")
                if let city = record.city { customer.setValue(city, forKey: "city") }
                made.append(customer)
            }
            guard context.hasChanges else { return [] }
            try context.save()
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Customer")
            request.resultType = .managedObjectIDResultType
            request.predicate = NSPredicate(format: "email IN %@", records.map(\.email))
            request.sortDescriptors = [NSSortDescriptor(key: "email", ascending: true)]
            return try context.fetch(request)
        }
    }

    func batchInsert(_ records: [CustomerRecord], into view: NSManagedObjectContext) throws -> Int {
        let context = backgroundContext(author: "batch")
        let rows: [[String: Any]] = records.map { ["email": $0.email, "name": $0.name, "city": $0.city ?? NSNull()] }
        let ids: [NSManagedObjectID] = try context.performAndWait {
            let request = NSBatchInsertRequest(entityName: "Customer", objects: rows)
            request.resultType = .objectIDs
            let result = try context.execute(request) as? NSBatchInsertResult
            return result?.result as? [NSManagedObjectID] ?? []
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [view])
        return ids.count
    }

    func batchRename(city: String, to other: String, into view: NSManagedObjectContext) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: "Customer")
        request.predicate = NSPredicate(format: "city == %@", city)
        request.propertiesToUpdate = ["city": other]
        request.resultType = .updatedObjectIDsResultType
        guard let result = try view.execute(request) as? NSBatchUpdateResult,
            let ids = result.result as? [NSManagedObjectID]
        else { throw Failure.noStore }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [view])
        return ids.count
    }

    func batchDelete(_ predicate: NSPredicate, into view: NSManagedObjectContext) throws -> Int {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Customer")
        fetch.predicate = predicate
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeObjectIDs
        let result = try view.execute(request) as! NSBatchDeleteResult
        let ids = result.result as! [NSManagedObjectID]
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [view])
        return ids.count
    }

    /// The changes of other authors since the last call.
    func follow(except author: String) throws -> [NSPersistentHistoryTransaction] {
        let context = backgroundContext(author: "follow")
        return try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            if let fetch = NSPersistentHistoryTransaction.fetchRequest {
                fetch.predicate = NSPredicate(format: "%K != %@", "author", author)
                request.fetchRequest = fetch
            }
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            token = transactions.last?.token ?? token
            return transactions
        }
    }

    func purge() throws {
        guard let token else { return }
        let context = backgroundContext(author: "purge")
        try context.performAndWait {
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        }
    }

    func object(_ uri: URL, in context: NSManagedObjectContext) throws -> NSManagedObject {
        guard let id = container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri) else {
            throw Failure.badURI
        }
        return try context.existingObject(with: id)
    }
}

@MainActor
@Suite struct SyncClientTests {
    @Test(arguments: StoreKind.allCases)
    func upsertsByConstraint(_ kind: StoreKind) async throws {
        let engine = SyncEngine(container: try ShopModel.container(kind))
        let first = try await engine.upsert([
            CustomerRecord(email: "a@x", name: "A", city: "Oslo"), CustomerRecord(email: "b@x", name: "B", city: nil),
        ])
        let second = try await engine.upsert([
            CustomerRecord(email: "a@x", name: "A2", city: nil), CustomerRecord(email: "c@x", name: "C"),
        ])
        #expect(first.count == 2 && second.count == 2)
        #expect(first[0] == second[0])
        let view = engine.container.viewContext
        #expect(try view.count(for: NSFetchRequest<NSManagedObject>(entityName: "Customer")) == 3)
        let a = try view.existingObject(with: first[0])
        #expect(a.value(forKey: "name") as? String == "A2")
        #expect(a.value(forKey: "city") as? String == "Oslo")

        let uri = a.objectID.uriRepresentation()
        #expect(uri.scheme == "x-coredata")
        #expect(try engine.object(URL(string: uri.absoluteString)!, in: view) === a)
        #expect(throws: (any Error).self) {
            try engine.object(URL(string: "x-coredata://nothing/Customer/p1")!, in: view)
        }
        #expect(engine.saves.count == 2)
        #expect(engine.saves.first == [NSInsertedObjectsKey: 2])

        view.delete(a)
        try view.save()
        #expect(throws: (any Error).self) { try view.existingObject(with: first[0]) }
        do {
            _ = try view.existingObject(with: first[0])
        } catch let error as NSError {
            #expect(error.code == NSManagedObjectReferentialIntegrityError)
        }
    }

    @Test func constraintsWithoutPolicyFail() throws {
        let context = try ShopModel.container().viewContext
        for name in ["one", "two"] {
            let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: context)
            customer.setValue("same@x", forKey: "email")
            customer.setValue(name, forKey: "name")
        }
        do {
            try context.save()
            Issue.record("saved")
        } catch let error as NSError {
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.code == NSManagedObjectConstraintMergeError)
            #expect(error.code == 133021)
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
            #expect(conflicts?.first?.constraint == ["email"])
            #expect(conflicts?.first?.conflictingObjects.count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func batchesMergeIntoTheView(_ kind: StoreKind) throws {
        let engine = SyncEngine(container: try ShopModel.container(kind))
        let view = engine.container.viewContext
        let records = (0..<50).map {
            CustomerRecord(email: "\($0)@x", name: "N\($0)", city: $0 % 2 == 0 ? "Oslo" : nil)
        }
        #expect(try engine.batchInsert(records, into: view) == 50)
        let all = try view.fetch(NSFetchRequest<NSManagedObject>(entityName: "Customer"))
        #expect(all.count == 50)
        let oslo = all.filter { $0.value(forKey: "city") as? String == "Oslo" }
        #expect(oslo.count == 25)
        #expect(try engine.batchRename(city: "Oslo", to: "Bergen", into: view) == 25)
        #expect(oslo.allSatisfy { $0.value(forKey: "city") as? String == "Bergen" })
        #expect(try engine.batchDelete(NSPredicate(format: "city == nil"), into: view) == 25)
        #expect(try view.fetch(NSFetchRequest<NSManagedObject>(entityName: "Customer")).count == 25)
        // What was in memory is deleted here, too, until the next save.
        #expect(view.deletedObjects.count == 25 && view.insertedObjects.isEmpty && view.updatedObjects.isEmpty)
        try view.save()
        #expect(!view.hasChanges)
    }

    @Test(arguments: StoreKind.allCases)
    func historyFlowsBetweenContainers(_ kind: StoreKind) async throws {
        let source = SyncEngine(container: try ShopModel.container(kind))
        let sink = SyncEngine(container: try ShopModel.container(kind, model: ShopModel.make()))
        _ = try await source.upsert([CustomerRecord(email: "a@x", name: "A"), CustomerRecord(email: "b@x", name: "B")])
        var transactions = try source.follow(except: "sync")
        #expect(transactions.count == 1)
        #expect(transactions.first?.author == "import")
        func apply(_ transactions: [NSPersistentHistoryTransaction]) throws {
            let from = source.backgroundContext(author: "read")
            let into = sink.backgroundContext(author: "sync")
            for change in transactions.flatMap({ $0.changes ?? [] })
            where change.changedObjectID.entity.name == "Customer" {
                switch change.changeType {
                case .insert, .update:
                    let values: [String: Any]? = from.performAndWait {
                        (try? from.existingObject(with: change.changedObjectID))?.dictionaryWithValues(forKeys: [
                            "email", "name", "city",
                        ])
                    }
                    guard let values else { continue }
                    if change.changeType == .update {
                        #expect(change.updatedProperties?.contains { $0.name == "name" } == true)
                    }
                    try into.performAndWait {
                        let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: into)
                        customer.setValuesForKeys(values)
                        try into.save()
                    }
                case .delete:
                    Issue.record("nothing was deleted")
                @unknown default:
                    break
                }
            }
        }
        try apply(transactions)
        _ = try await source.upsert([CustomerRecord(email: "a@x", name: "A9")])
        transactions = try source.follow(except: "sync")
        #expect(transactions.count == 1)
        try apply(transactions)
        #expect(try source.follow(except: "sync").isEmpty)
        try source.purge()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Customer")
        request.sortDescriptors = [NSSortDescriptor(key: "email", ascending: true)]
        let names = try sink.container.viewContext.fetch(request).map { $0.value(forKey: "name") as? String }
        #expect(names == ["A9", "B"])
    }

    @Test(arguments: StoreKind.allCases)
    func contextsMergeSaves(_ kind: StoreKind) throws {
        let container = try ShopModel.container(kind)
        let view = container.viewContext
        let writer = container.newBackgroundContext()
        let merged = LockedBox<[String]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: writer, queue: nil
        ) { note in
            view.performAndWait { view.mergeChanges(fromContextDidSave: note) }
        }
        let idObserver = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: writer, queue: nil
        ) { note in
            let inserted =
                note.userInfo?[NSManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue]
                as? Set<NSManagedObjectID>
            merged.change { $0 += (inserted ?? []).map { $0.isTemporaryID ? "temporary" : "permanent" } }
        }
        defer {
            NotificationCenter.default.removeObserver(observer)
            NotificationCenter.default.removeObserver(idObserver)
        }
        let changes = LockedBox<[String]>([])
        let viewObserver = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: view, queue: nil
        ) { note in
            let keys = [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSDeletedObjectsKey]
            changes.change {
                $0 += keys.filter { ((note.userInfo?[$0] as? Set<NSManagedObject>) ?? []).isEmpty == false }
            }
        }
        defer { NotificationCenter.default.removeObserver(viewObserver) }
        let id: NSManagedObjectID = try writer.performAndWait {
            let customer = NSEntityDescription.insertNewObject(forEntityName: "Customer", into: writer)
            customer["email"] = "m@x"
            #expect(customer.objectID.isTemporaryID)
            try writer.save()
            return customer.objectID
        }
        #expect(merged.value == ["permanent"])
        #expect(changes.value == [NSInsertedObjectsKey])
        let mine = view.object(with: id)
        #expect(mine.value(forKey: "email") as? String == "m@x")
        mine.setValue("Mine", forKey: "name")
        try writer.performAndWait {
            writer.object(with: id).setValue("Rome", forKey: "city")
            try writer.save()
        }
        #expect(mine.value(forKey: "city") as? String == "Rome")
        #expect(mine.value(forKey: "name") as? String == "Mine")
        #expect(mine.changedValues().keys.sorted() == ["name"])
        view.mergePolicy = NSMergePolicy.error
        try view.save()
        // Now without merging.
        NotificationCenter.default.removeObserver(observer)
        try writer.performAndWait {
            let object = writer.object(with: id)
            writer.refresh(object, mergeChanges: false)
            object.setValue("Theirs", forKey: "name")
            try writer.save()
        }
        mine.setValue("Mine again", forKey: "name")
        do {
            try view.save()
            Issue.record("no conflict")
        } catch let error as NSError {
            #expect(error.code == NSManagedObjectMergeError)
            let list = error.userInfo["conflictList"] as? [NSMergeConflict]
            #expect(list?.first?.sourceObject === mine)
            #expect(list?.first?.objectSnapshot?["name"] as? String == "Mine")
        }
        view.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
        try view.save()
        #expect(mine.value(forKey: "name") as? String == "Theirs")
    }
}
