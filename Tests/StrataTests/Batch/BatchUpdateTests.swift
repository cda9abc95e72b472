import CoreData
import Foundation
import Testing

@Suite struct BatchUpdateTests {
    private func filled(_ kind: StoreKind) throws -> (store: TestStore, context: NSManagedObjectContext) {
        let store = try TestStore(kind)
        let context = store.context()
        try context.performAndWait { () throws in
            for index in 0..<10 {
                let employee = try #require(insert(index < 8 ? "Employee" : "Manager", context) as? Employee)
                employee.name = "e\(index)"
                employee.age = Int16(20 + index)
            }
            try context.save()
            context.reset()
        }
        return (store, context)
    }

    /// Each part but the first is checked again, since something was saved after the rows were looked up.
    @Test(arguments: StoreKind.allCases) func partsAreCheckedAsTheRowsWereLookedUp(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        defer { withExtendedLifetime(store) {} }
        try context.performAndWait { () throws in
            let old = NSPredicate { object, _ in (object as? Employee).map { $0.age >= 25 } ?? false }
            for (number, predicate) in [old, NSPredicate(format: "age >= '25'")].enumerated() {
                let update = NSBatchUpdateRequest(entityName: "Employee")
                update.predicate = predicate
                update.propertiesToUpdate = ["name": "old\(number)"]
                update.resultType = .updatedObjectsCountResultType
                update.maximumObjectsPerTransaction = 2
                #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 5)
            }
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Employee")
            fetch.predicate = old
            let delete = NSBatchDeleteRequest(fetchRequest: fetch)
            delete.resultType = .resultTypeCount
            delete.maximumObjectsPerTransaction = 2
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 5)
            context.reset()
            #expect(try fetchAll(Employee.self, "Employee", context).allSatisfy { $0.age < 25 })
        }
    }

    @Test(arguments: StoreKind.allCases) func matchingRowsChange(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            let request = NSBatchUpdateRequest(entityName: "Employee")
            request.predicate = NSPredicate(format: "age >= 25")
            request.propertiesToUpdate = ["name": "old", "age": CoreData.NSExpression(format: "age + 100")]
            request.resultType = .updatedObjectsCountResultType
            let result = try #require(try context.execute(request) as? NSBatchUpdateResult)
            #expect(result.result as? Int == 5)
            #expect(request.entity.name == "Employee" && request.requestType == .batchUpdateRequestType)
        }
        try store.reopen()
        let other = store.context()
        try other.performAndWait { () throws in
            let employees = try fetchAll(Employee.self, "Employee", other, sort: "age")
            #expect(employees.map(\.age) == [20, 21, 22, 23, 24, 125, 126, 127, 128, 129])
            #expect(employees.map(\.name) == ["e0", "e1", "e2", "e3", "e4", "old", "old", "old", "old", "old"])
            #expect(try fetchAll(Manager.self, "Manager", other).count == 2)
        }
    }

    @Test(arguments: StoreKind.allCases) func historyAndOtherContextsSeeIt(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        let viewer = store.context()
        try viewer.performAndWait { () throws in
            viewer.retainsRegisteredObjects = true
            #expect(try fetchAll(Employee.self, "Employee", viewer).allSatisfy { $0.age < 30 })
        }
        let token = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
        let ids: [NSManagedObjectID] = try context.performAndWait { () throws in
            context.transactionAuthor = "batch"
            let entity = try #require(store.model.entitiesByName["Employee"])
            let request = NSBatchUpdateRequest(entity: entity)
            let age = try #require(entity.attributesByName["age"])
            request.propertiesToUpdate = [age: 77]
            request.includesSubentities = false
            request.resultType = .updatedObjectIDsResultType
            let result = try store.coordinator.execute(request, with: context) as? NSBatchUpdateResult
            return try #require(result?.result as? [NSManagedObjectID])
        }
        #expect(ids.count == 8)
        try viewer.performAndWait { () throws in
            #expect(try fetchAll(Employee.self, "Employee", viewer).allSatisfy { $0.age < 30 })
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [viewer])
        try viewer.performAndWait { () throws in
            #expect(try fetchAll(Employee.self, "Employee", viewer).count { $0.age == 77 } == 8)
            let history = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try viewer.execute(history) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(transactions.count == 1 && transactions.first?.author == "batch")
            let changes = try #require(transactions.first?.changes)
            #expect(Set(changes.map(\.changedObjectID)) == Set(ids))
            #expect(changes.allSatisfy { $0.changeType == .update && $0.updatedProperties?.map(\.name) == ["age"] })
        }
    }

    @Test(arguments: StoreKind.allCases) func toOneRelationshipsTakeIDsAndNull(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            let department = try #require(insert("Department", context) as? Department)
            try context.save()
            let request = NSBatchUpdateRequest(entityName: "Employee")
            request.predicate = NSPredicate(format: "age < 25")
            request.propertiesToUpdate = ["department": department.objectID]
            try context.execute(request)
            context.refresh(department, mergeChanges: false)
            #expect(department.employees.count == 5)
            request.predicate = NSPredicate(format: "department == %@", department)
            request.propertiesToUpdate = ["department": NSNull()]
            request.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 5)
            context.refresh(department, mergeChanges: false)
            #expect(department.employees.isEmpty)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func faultyRequestsThrow(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            let request = NSBatchUpdateRequest(entityName: "Employee")
            for properties: [AnyHashable: Any]? in [nil, [:], ["nothing": 1], ["projects": 1], ["age": "x"]] {
                request.propertiesToUpdate = properties
                #expect(throws: CocoaError.self) { try context.execute(request) }
            }
            #expect(try fetchAll(Employee.self, "Employee", context, sort: "age").first?.age == 20)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func validationIsAnOption(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            let request = NSBatchUpdateRequest(entityName: "Employee")
            request.propertiesToUpdate = ["name": NSNull()]
            request.appliesValidation = true
            let error = #expect(throws: CocoaError.self) { try context.execute(request) }
            #expect(error?.code == .validationMissingMandatoryProperty)
            #expect(try fetchAll(Employee.self, "Employee", context).allSatisfy { $0.name.hasPrefix("e") })
            request.appliesValidation = false
            try context.execute(request)
            context.reset()
            #expect(try fetchAll(Employee.self, "Employee", context).allSatisfy { $0.name == "" })
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func savesMeanwhileAreNotLost(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        let other = store.context()
        let done = DispatchSemaphore(value: 0)
        other.perform {
            defer { done.signal() }
            guard let all = try? fetchAll(Employee.self, "Employee", other) else { return }
            other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for round in 0..<50 {
                for employee in all { employee.name = "r\(round)" }
                try? other.save()
            }
        }
        try context.performAndWait { () throws in
            let request = NSBatchUpdateRequest(entityName: "Employee")
            request.propertiesToUpdate = ["age": CoreData.NSExpression(format: "age + 1")]
            for _ in 0..<50 { try context.execute(request) }
        }
        done.wait()
        try context.performAndWait { () throws in
            context.reset()
            let all = try fetchAll(Employee.self, "Employee", context, sort: "age")
            #expect(all.map(\.age) == (70..<80).map { Int16($0) })
            #expect(all.allSatisfy { $0.name == "r49" })
        }
    }
}
