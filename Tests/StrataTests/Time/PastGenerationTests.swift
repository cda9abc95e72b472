import CoreData
import Foundation
import StrataTestKit
import Testing

@Suite struct PastGenerationTests {
    private func names(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait { try context.employeeNames() }
    }

    /// Three saves: "a" and "b" of one department; "a" renamed and "b" deleted; "c" added.
    private func makeHistory(_ store: TestStore) throws -> (points: [NSPersistentHistoryToken], a: NSManagedObjectID) {
        let context = store.context()
        var points: [NSPersistentHistoryToken] = []
        return try context.performAndWait {
            func save() throws {
                try context.save()
                points.append(try #require(store.coordinator.currentPersistentHistoryToken(fromStores: nil)))
            }
            let department = Department(context: context)
            let (a, b) = (Employee(context: context), Employee(context: context))
            (a.name, b.name) = ("a", "b")
            department.employees = [a, b]
            try save()
            a.name = "renamed"
            context.delete(b)
            try save()
            let c = Employee(context: context)
            c.name = "c"
            c.department = department
            try save()
            return (points, a.objectID)
        }
    }

    /// Contexts pinned to every point of a random history show what was there after that save, whole.
    @Test(arguments: StoreKind.allCases) func everyPointShowsWhatWasSaved(_ kind: StoreKind) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let store = try TestStore(kind)
        var pictures: [(NSPersistentHistoryToken, [String: String])] = []
        for round in 0..<40 {
            if round == 20 { try store.reopen() }
            let context = store.shortLivedContext()
            try context.performAndWait {
                try GraphPicture.change(context, using: &random)
                try context.save()
                let fresh = store.shortLivedContext()
                let picture = try fresh.performAndWait { try GraphPicture.of(fresh) }
                let token = try #require(store.coordinator.currentPersistentHistoryToken(fromStores: nil))
                pictures.append((token, picture))
            }
        }
        for (token, picture) in pictures.shuffled() {
            let context = store.shortLivedContext()
            try context.setQueryGenerationFrom(store.coordinator.queryGeneration(at: token))
            let shown = try context.performAndWait { try GraphPicture.of(context) }
            #expect(shown == picture, "seed \(seed) at \(token)")
        }
    }

    @Test(arguments: StoreKind.allCases) func fetchesFaultsAndCountsAnswerAsOfThen(_ kind: StoreKind) throws {
        let store = try TestStore(kind)
        let (points, a) = try makeHistory(store)
        let past = store.context()
        try past.setQueryGenerationFrom(store.coordinator.queryGeneration(at: points[0]))
        try past.performAndWait {
            #expect(try past.employeeNames() == ["a", "b"])
            #expect(try past.employeeNames(NSPredicate(format: "name == 'renamed'")).isEmpty)
            #expect(try past.employeeNames(NSPredicate(format: "department.employees.@count == 2")) == ["a", "b"])
            #expect((try past.existingObject(with: a) as? Employee)?.name == "a")
            let department = try #require(try fetchAll(Department.self, "Department", past).first)
            #expect(Set(department.employees.map(\.name)) == ["a", "b"])
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name"]
            #expect(Set(try past.fetch(request).compactMap { $0["name"] as? String }) == ["a", "b"])
        }
        try past.setQueryGenerationFrom(store.coordinator.queryGeneration(atTransaction: 0))
        #expect(try names(past).isEmpty)
        try past.setQueryGenerationFrom(nil)
        #expect(try names(past) == ["c", "renamed"])
    }

    @Test func thePastCannotBeWritten() throws {
        let store = try TestStore(.memory)
        let (points, _) = try makeHistory(store)
        let past = store.context()
        try past.setQueryGenerationFrom(store.coordinator.queryGeneration(at: points[0]))
        try past.performAndWait {
            try past.save()
            Employee(context: past).name = "new"
            let error = #expect(throws: CocoaError.self) { try past.save() }
            #expect(error?.code == .persistentStoreSave)
            past.rollback()
            #expect(throws: CocoaError.self) {
                try past.execute(
                    NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee"))
                )
            }
        }
        let child = ContextLine.child(of: past)
        try child.performAndWait {
            #expect(try child.employeeNames() == ["a", "b"])
            Employee(context: child).name = "new"
            try child.save()
        }
        #expect(throws: CocoaError.self) { try past.performAndWait { try past.save() } }
        #expect(try names(store.context()) == ["c", "renamed"])
    }

    /// Merging, resetting and refreshing leave a context where it is.
    @Test func thePastStays() throws {
        let store = try TestStore(.memory)
        let (points, a) = try makeHistory(store)
        let past = store.context()
        past.automaticallyMergesChangesFromParent = true
        let token = try store.coordinator.queryGeneration(at: points[0])
        try past.setQueryGenerationFrom(token)
        try past.performAndWait {
            #expect((try past.existingObject(with: a) as? Employee)?.name == "a")
            let writer = store.shortLivedContext()
            try writer.performAndWait {
                (try writer.existingObject(with: a) as? Employee)?.name = "again"
                try writer.save()
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectIDsKey: [a]], into: [past])
            #expect(try past.employeeNames() == ["a", "b"])
            past.refreshAllObjects()
            #expect((try past.existingObject(with: a) as? Employee)?.name == "a")
            past.reset()
            #expect(try past.employeeNames() == ["a", "b"])
            #expect(past.queryGenerationToken == token)
        }
    }

    /// A point is found by its time, by its number, and by an archived token after a restart.
    @Test func pointsHaveSeveralNames() throws {
        let store = try TestStore(.log)
        let (points, _) = try makeHistory(store)
        let context = store.context()
        let transactions = try context.performAndWait {
            let result = try context.execute(
                NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
            return try #require((result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction])
        }
        let expected = [["a", "b"], ["renamed"], ["c", "renamed"]]
        for (index, transaction) in transactions.enumerated() {
            let past = store.context()
            try past.setQueryGenerationFrom(store.coordinator.queryGeneration(at: transaction.timestamp))
            #expect(try names(past) == expected[index])
            try past.setQueryGenerationFrom(
                store.coordinator.queryGeneration(atTransaction: transaction.transactionNumber))
            #expect(try names(past) == expected[index])
        }
        let before = try store.coordinator.queryGeneration(at: transactions[0].timestamp.addingTimeInterval(-60))
        let empty = store.context()
        try empty.setQueryGenerationFrom(before)
        #expect(try names(empty).isEmpty)
        let token = try store.coordinator.queryGeneration(at: points[0])
        let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        try store.reopen()
        let restored = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data))
        #expect(restored == token)
        let past = store.context()
        try past.setQueryGenerationFrom(restored)
        #expect(try names(past) == expected[0])
        #expect(throws: CocoaError.self) {
            try past.performAndWait {
                Employee(context: past).name = "new"
                try past.save()
            }
        }
    }

    @Test func whatIsNotRetainedOrNotThereYetIsRefused() throws {
        let store = try TestStore(.memory)
        let (points, _) = try makeHistory(store)
        #expect(throws: CocoaError.self) { try store.coordinator.queryGeneration(atTransaction: 4) }
        #expect(throws: CocoaError.self) { try store.coordinator.queryGeneration(atTransaction: -1) }
        let early = try store.coordinator.queryGeneration(at: points[0])
        let context = store.context()
        try context.performAndWait {
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: points[2]))
        }
        let error = #expect(throws: CocoaError.self) { try store.coordinator.queryGeneration(at: points[0]) }
        #expect(error?.code.rawValue == NSPersistentHistoryTokenExpiredError)
        #expect(throws: CocoaError.self) { try store.coordinator.queryGeneration(atTransaction: 1) }
        let expired = #expect(throws: CocoaError.self) { try context.setQueryGenerationFrom(early) }
        #expect(expired?.code == .persistentStoreOperation)
        #expect(context.queryGenerationToken == nil)
        let foreign = try TestStore(.memory)
        #expect(throws: CocoaError.self) { try foreign.coordinator.queryGeneration(at: points[0]) }
    }
}
