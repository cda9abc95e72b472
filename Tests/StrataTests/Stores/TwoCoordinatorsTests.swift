import CoreData
import Foundation
import Testing

/// Two coordinators of one process over one store: what went by the one that had opened it last did nothing for the
/// other.
@Suite struct TwoCoordinatorsTests {
    private final class Pair {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("strata-two-\(UUID().uuidString)")
        var coordinators: [NSPersistentStoreCoordinator] = []
        private var contexts: [NSManagedObjectContext] = []

        init() throws {
            let model = GraphModel.company()
            for _ in 0..<2 {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
                coordinators.append(coordinator)
            }
            let context = context(0)
            try context.performAndWait {
                for age in 1...10 { Employee(context: context).age = Int16(age) }
                try context.save()
            }
        }

        deinit {
            for coordinator in coordinators {
                for store in coordinator.persistentStores { try? coordinator.remove(store) }
            }
            removeStore(at: url)
        }

        func context(_ index: Int) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinators[index]
            contexts.append(context)
            return context
        }

        func store(_ index: Int) -> NSPersistentStore { coordinators[index].persistentStores[0] }
    }

    private static func request(_ format: String?) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
        request.predicate = format.map { NSPredicate(format: $0) }
        return request
    }

    @Test(arguments: [0, 1], [nil, "age > 5"])
    func batchRequestsWorkThroughEither(_ index: Int, _ format: String?) throws {
        let pair = try Pair()
        let context = pair.context(index)
        let expected = format == nil ? 10 : 5
        try context.performAndWait { () throws in
            for names in [false, true] {
                let update = NSBatchUpdateRequest(entityName: "Employee")
                update.predicate = format.map { NSPredicate(format: $0) }
                update.propertiesToUpdate = ["name": names ? "named" : "all"]
                update.resultType = .updatedObjectsCountResultType
                if names { update.affectedStores = [pair.store(index)] }
                #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == expected)
            }
            let delete = NSBatchDeleteRequest(fetchRequest: Self.request(format))
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == expected)
            #expect(try context.count(for: Self.request(nil)) == 10 - expected)
        }
    }

    @Test(arguments: [0, 1]) func storesOfTheOtherAreRefused(_ index: Int) throws {
        let pair = try Pair()
        let context = pair.context(index)
        let foreign = pair.store(1 - index)
        context.performAndWait {
            let fetch = Self.request("age > 5")
            fetch.affectedStores = [foreign]
            #expect(throws: CocoaError.self) { try context.fetch(fetch) }
            #expect(throws: CocoaError.self) { try context.count(for: fetch) }
            let update = NSBatchUpdateRequest(entityName: "Employee")
            update.propertiesToUpdate = ["age": 1]
            update.affectedStores = [foreign]
            #expect(throws: CocoaError.self) { try context.execute(update) }
            let delete = NSBatchDeleteRequest(fetchRequest: Self.request("age > 5"))
            delete.affectedStores = [foreign]
            #expect(throws: CocoaError.self) { try context.execute(delete) }
            #expect(throws: CocoaError.self) { try context.execute(NSBatchDeleteRequest(fetchRequest: fetch)) }
            let insert = NSBatchInsertRequest(entityName: "Employee", objects: [["age": 1]])
            insert.affectedStores = [foreign]
            #expect(throws: CocoaError.self) { try context.execute(insert) }
            let history = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
            history.affectedStores = [foreign]
            #expect(throws: CocoaError.self) { try context.execute(history) }
            let new = Employee(context: context)
            context.assign(new, to: foreign)
            #expect(throws: CocoaError.self) { try context.save() }
        }
    }

    /// The error names the store of the coordinator that was asked, not of the one that opened last.
    @Test(arguments: [0, 1]) func errorsNameTheOwnStore(_ index: Int) throws {
        let pair = try Pair()
        pair.store(index).isReadOnly = true
        let context = pair.context(index)
        context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Employee")
            update.propertiesToUpdate = ["age": 1]
            do {
                try context.execute(update)
                Issue.record("a read-only store was written")
            } catch {
                let stores = (error as NSError).userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore]
                #expect(stores?.count == 1 && stores?.first === pair.store(index))
            }
        }
    }

    /// An ID's store is that of the context that asks.
    @Test(arguments: [0, 1]) func anIDsStoreIsTheContexts(_ index: Int) throws {
        let pair = try Pair()
        let context = pair.context(index)
        try context.performAndWait {
            let found = try #require(try context.fetch(Self.request("age == 1")).first as? Employee)
            let store = try #require(found.objectID.persistentStore)
            #expect(store === pair.store(index))
            let fetch = Self.request("age > 5")
            fetch.affectedStores = [store]
            #expect(try context.count(for: fetch) == 5)
        }
    }

    @Test func tokensAndMergesWorkAcross() throws {
        let pair = try Pair()
        let (writer, reader) = (pair.context(0), pair.context(1))
        let token = try #require(pair.coordinators[1].currentPersistentHistoryToken(fromStores: [pair.store(1)]))
        let id = try writer.performAndWait {
            let first = try #require(try writer.fetch(Self.request("age == 1")).first as? Employee)
            first.name = "new"
            try writer.save()
            return first.objectID
        }
        try reader.performAndWait {
            let history = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try #require(try reader.execute(history) as? NSPersistentHistoryResult)
            let transactions = try #require(result.result as? [NSPersistentHistoryTransaction])
            #expect(transactions.count == 1 && transactions[0].changes?.first?.changedObjectID == id)
            let object = try #require(try reader.existingObject(with: id) as? Employee)
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [reader])
            #expect(object.name == "new")
        }
    }

    /// Whichever of them does it, through a link to the store or its own path.
    @Test(arguments: [true, false], [true, false])
    func destroyingOrReplacingTakesTheStoreFromBoth(_ isReplaced: Bool, throughLink: Bool) throws {
        let pair = try Pair()
        let link = pair.url.appendingPathExtension("link")
        defer { try? FileManager.default.removeItem(at: link) }
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: pair.url)
        let source = try TestStore(.log)
        let (here, there) = (pair.context(0), pair.context(1))
        let held = try there.performAndWait {
            let held = try #require(try there.fetch(Self.request("age == 1")).first as? Employee)
            #expect(held.age == 1)
            Employee(context: there).name = "never saved"
            return held
        }
        let url = throughLink ? link : pair.url
        if isReplaced {
            try pair.coordinators[0].replacePersistentStore(
                at: url, withPersistentStoreFrom: source.url, ofType: NSSQLiteStoreType)
        } else {
            try pair.coordinators[0].destroyPersistentStore(at: url, type: .sqlite)
        }
        #expect(pair.coordinators.allSatisfy { $0.persistentStores.isEmpty })
        there.performAndWait {
            #expect(held.age == 1)
            #expect(throws: CocoaError.self) { try there.fetch(Self.request(nil)) }
            #expect(throws: CocoaError.self) { try there.save() }
        }
        try pair.coordinators[1].addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: pair.url)
        #expect((pair.store(1).identifier == source.store.identifier) == isReplaced)
        let anew = pair.context(1)
        try anew.performAndWait {
            #expect(try anew.count(for: Self.request(nil)) == 0)
            Employee(context: anew).age = 70
            try anew.save()
        }
        #expect(throws: CocoaError.self) { try here.performAndWait { try here.count(for: Self.request(nil)) } }
    }

    @Test func aStoreThatCannotBeReplacedStaysInBoth() throws {
        let pair = try Pair()
        let missing = pair.url.appendingPathExtension("missing")
        let error = #expect(throws: CocoaError.self) {
            try pair.coordinators[0].replacePersistentStore(
                at: pair.url, withPersistentStoreFrom: missing, ofType: NSSQLiteStoreType)
        }
        #expect(error?.code == .fileReadNoSuchFile)
        for index in [0, 1] {
            let context = pair.context(index)
            try context.performAndWait {
                Employee(context: context).age = 50
                try context.save()
                #expect(try context.count(for: Self.request(nil)) == 11 + index)
            }
        }
    }

    /// Nobody loses more than the store: saves that are on their way come to an end, one or the other.
    @Test func destroyingMayComeAtAnyMoment() throws {
        for round in 1...20 {
            let pair = try Pair()
            let writers = (0..<4).map { pair.context($0 % 2) }
            let group = DispatchGroup()
            for writer in writers {
                group.enter()
                writer.perform {
                    defer { group.leave() }
                    for _ in 1...50 {
                        Employee(context: writer).age = 20
                        guard (try? writer.save()) != nil else { return }
                    }
                }
            }
            usleep(UInt32(round * 300))
            try pair.coordinators[round % 2].destroyPersistentStore(at: pair.url, type: .sqlite)
            group.wait()
            #expect(try FileManager.default.contentsOfDirectory(atPath: pair.url.path) == [])
            #expect(pair.coordinators.allSatisfy { $0.persistentStores.isEmpty })
        }
    }
}
