import CoreData
import Foundation
import Testing

/// What Core Data's reference says of `NSFetchRequest` and its asynchronous kin, where no other suite says it.
@Suite struct FetchReferenceTests {
    private func filled(_ kind: StoreKind) throws -> (TestStore, NSManagedObjectContext) {
        let store = try TestStore(kind)
        let context = store.context()
        try context.check { () throws in
            for index in 0..<6 {
                let employee = index < 4 ? Employee(context: context) : Manager(context: context)
                employee.name = "e\(index)"
                employee.age = Int16(20 + index / 2)
            }
            try context.save()
        }
        return (store, context)
    }

    private var request: NSFetchRequest<Employee> {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    @Test func defaults() {
        let request = NSFetchRequest<Employee>(entityName: "Employee")
        #expect(request.entityName == "Employee" && request.predicate == nil && request.sortDescriptors == nil)
        #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
        #expect(request.resultType == .managedObjectResultType && request.affectedStores == nil)
        #expect(request.includesSubentities && request.includesPropertyValues && request.returnsObjectsAsFaults)
        #expect(request.includesPendingChanges && !request.returnsDistinctResults)
        #expect(!request.shouldRefreshRefetchedObjects && request.relationshipKeyPathsForPrefetching == [])
        #expect(
            request.propertiesToFetch == nil && request.propertiesToGroupBy == nil && request.havingPredicate == nil)
        #expect(request.requestType == .fetchRequestType)
        let plain = NSFetchRequest<Employee>()
        #expect(plain.entityName == nil && plain.entity == nil)
    }

    @Test func requestsThatSayTheSameAreEqual() throws {
        let (first, second) = (request, request)
        #expect(first == second && first.hash == second.hash)
        second.fetchLimit = 3
        #expect(first != second)
        let copy = try #require(second.copy() as? NSFetchRequest<Employee>)
        #expect(copy == second && copy !== second)
        copy.predicate = NSPredicate(format: "age > 3")
        #expect(copy != second && second.predicate == nil)
    }

    @Test(arguments: StoreKind.allCases) func entitiesAreFoundByName(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let request = request
            _ = try context.fetch(request)
            #expect(request.entity === store.model.entitiesByName["Employee"])
            let byEntity = NSFetchRequest<Employee>()
            byEntity.entity = store.model.entitiesByName["Manager"]
            #expect(byEntity.entityName == "Manager" && byEntity == NSFetchRequest<Employee>(entityName: "Manager"))
            #expect(try context.count(for: byEntity) == 2)
        }
    }

    @Test(arguments: StoreKind.allCases) func windowsSubentitiesAndCounts(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let request = request
            (request.fetchOffset, request.fetchLimit) = (1, 3)
            #expect(try context.fetch(request).map(\.name) == ["e1", "e2", "e3"])
            #expect(try context.count(for: request) == 3)
            request.fetchOffset = 5
            #expect(try context.fetch(request).map(\.name) == ["e5"] && context.count(for: request) == 1)
            request.fetchOffset = 7
            #expect(try context.fetch(request).isEmpty && context.count(for: request) == 0)
            (request.fetchOffset, request.fetchLimit) = (0, 0)
            request.includesSubentities = false
            #expect(try context.count(for: request) == 4)
            let counts = NSFetchRequest<NSNumber>(entityName: "Employee")
            counts.resultType = .countResultType
            #expect(try context.fetch(counts) == [6])
            let executed = try context.performAndWait { try request.execute() }
            #expect(executed.count == 4)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func predicatesTakeObjectsIDsAndCollections(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let all = try context.fetch(request)
            let department = Department(context: context)
            department.employees = [all[0], all[1]]
            try context.save()
            func names(_ format: String, _ argument: Any) throws -> [String] {
                let request = request
                request.predicate = NSPredicate(format: format, argument)
                return try context.fetch(request).map(\.name)
            }
            #expect(try names("department == %@", department) == ["e0", "e1"])
            #expect(try names("department == %@", department.objectID) == ["e0", "e1"])
            #expect(try names("SELF == %@", all[3]) == ["e3"] && names("SELF == %@", all[3].objectID) == ["e3"])
            #expect(try names("SELF IN %@", [all[2], all[4]]) == ["e2", "e4"])
            #expect(try names("SELF IN %@", Set([all[2].objectID])) == ["e2"])
            #expect(try names("objectID == %@", all[5].objectID) == ["e5"])
            #expect(try names("SELF IN %@", department.employees) == ["e0", "e1"])
            #expect(try names("NOT (SELF IN %@)", all[1...].map(\.objectID)) == ["e0"])
            #expect(try names("department.employees CONTAINS %@", all[0]) == ["e0", "e1"])
            #expect(try names("entity == %@", store.model.entitiesByName["Manager"] as Any) == ["e4", "e5"])
        }
    }

    @Test(arguments: StoreKind.allCases) func objectsMayBringSomePropertiesOnly(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            context.reset()
            let request = request
            request.propertiesToFetch = ["name"]
            let partial = try context.fetch(request)
            #expect(partial.map(\.name) == (0..<6).map { "e\($0)" } && partial[0].age == 20)
            context.reset()
            request.returnsObjectsAsFaults = false
            #expect(try context.fetch(request).map(\.age) == [20, 20, 21, 21, 22, 22])
            request.includesPropertyValues = false
            #expect(try context.fetch(request).count == 6)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func dictionariesAreDistinctAndGrouped(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.check { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
            request.resultType = .dictionaryResultType
            #expect(try context.fetch(request).allSatisfy { $0["name"] is String && $0["age"] is NSNumber })
            request.propertiesToFetch = ["age"]
            request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
            request.returnsDistinctResults = true
            #expect(try context.fetch(request).map { $0["age"] as? Int } == [22, 21, 20])
            let count = NSExpressionDescription()
            count.name = "count"
            count.expression = NSExpression(
                forFunction: "count:", arguments: [NSExpression(forKeyPath: "name")])
            count.expressionResultType = .integer32AttributeType
            request.propertiesToFetch = ["age", count]
            request.propertiesToGroupBy = ["age"]
            request.havingPredicate = NSPredicate(format: "age > 20")
            #expect(try context.fetch(request).map { $0["count"] as? Int } == [2, 2])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func asynchronousRequestsSayHowFarTheyAre(_ kind: StoreKind) async throws {
        let (store, context) = try filled(kind)
        let fetch = request
        let (names, finished) = try await withCheckedThrowingContinuation {
            (done: CheckedContinuation<([String], Bool), any Error>) in
            let asynchronous = NSAsynchronousFetchRequest(fetchRequest: fetch) { result in
                let names = result.finalResult?.map(\.name) ?? []
                done.resume(returning: (names, result.operationError == nil && result.managedObjectContext === context))
            }
            #expect(asynchronous.estimatedResultCount == 0 && asynchronous.completionBlock != nil)
            #expect(asynchronous.fetchRequest === fetch)
            asynchronous.estimatedResultCount = 6
            context.perform {
                do {
                    let result = try context.execute(asynchronous) as? NSAsynchronousFetchResult<Employee>
                    #expect(result?.fetchRequest === asynchronous && result?.finalResult == nil)
                    #expect(result?.progress != nil)
                } catch {
                    done.resume(throwing: error)
                }
            }
        }
        #expect(names == (0..<6).map { "e\($0)" } && finished)
        withExtendedLifetime(store) {}
    }
}
