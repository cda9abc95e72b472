import CoreData
import Foundation
import Testing

@Suite struct BatchDeleteTests {
    private func request(_ entity: String, _ predicate: NSPredicate? = nil) -> NSBatchDeleteRequest {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        fetch.predicate = predicate
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = .resultTypeCount
        return request
    }

    private func result(_ request: NSBatchDeleteRequest, _ context: NSManagedObjectContext) throws -> Any? {
        try #require(try context.execute(request) as? NSBatchDeleteResult).result
    }

    private func count(_ entity: String, _ context: NSManagedObjectContext) throws -> Int {
        try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity))
    }

    /// Two departments with five employees each, each with a badge; one is a manager. Every third is on the project.
    private func filled(
        _ kind: StoreKind, rule: NSDeleteRule = .nullifyDeleteRule, mandatory: Bool = false
    ) throws -> (store: TestStore, context: NSManagedObjectContext) {
        let model = GraphModel.company(employeesRule: rule)
        if mandatory {
            model.entitiesByName["Employee"]?.relationshipsByName["department"]?.isOptional = false
        }
        let store = try TestStore(kind, model)
        let context = store.context()
        try context.performAndWait { () throws in
            let project = insert("Project", context)
            for title in ["a", "b"] {
                let department = try #require(insert("Department", context) as? Department)
                department.title = title
                for index in 0..<5 {
                    let employee = try #require(insert(index == 0 ? "Manager" : "Employee", context) as? Employee)
                    employee.name = "\(title)\(index)"
                    employee.department = department
                    let badge = insert("Badge", context)
                    badge.setValue(index, forKey: "number")
                    employee.badge = badge
                    if index % 3 == 0 { employee.setValue(Set([project]), forKey: "projects") }
                }
            }
            let tasks = (0..<4).map { index in
                let task = insert("Task", context)
                task.setValue("t\(index)", forKey: "text")
                return task
            }
            project.setValue(NSOrderedSet(array: tasks), forKey: "tasks")
            try context.save()
            context.reset()
        }
        return (store, context)
    }

    @Test(arguments: StoreKind.allCases) func idsMayComeTwiceAndInAnyOrder(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            let fetch = NSFetchRequest<NSManagedObjectID>(entityName: "Task")
            fetch.resultType = .managedObjectIDResultType
            let tasks = try context.fetch(fetch)
            let doomed = NSBatchDeleteRequest(objectIDs: [tasks[3], tasks[1], tasks[3], tasks[2]])
            doomed.resultType = .resultTypeCount
            doomed.maximumObjectsPerTransaction = 1
            #expect(try result(doomed, context) as? Int == 3)
            #expect(try context.fetch(fetch) == [tasks[0]])
            #expect(try result(doomed, context) as? Int == 0)
        }
        withExtendedLifetime(store) {}
    }

    /// The fetch request of a request for IDs can be asked for, and what the program makes of it counts.
    @Test(arguments: StoreKind.allCases) func theFetchRequestOfIDsCounts(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            let fetch = NSFetchRequest<NSManagedObjectID>(entityName: "Task")
            fetch.resultType = .managedObjectIDResultType
            let tasks = try context.fetch(fetch)
            let doomed = NSBatchDeleteRequest(objectIDs: Array(tasks[0...2]))
            doomed.resultType = .resultTypeCount
            #expect(doomed.fetchRequest.entityName == "Task")
            #expect(try context.count(for: doomed.fetchRequest) == 3)
            doomed.fetchRequest.fetchLimit = 2
            #expect(try result(doomed, context) as? Int == 2)
            #expect(try context.fetch(fetch) == Array(tasks[2...3]))
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func whatTheRequestDescribesGoes(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            let some = request("Employee", NSPredicate(format: "name BEGINSWITH 'a'"))
            #expect(some.requestType == .batchDeleteRequestType)
            #expect(try result(some, context) as? Int == 5)
            // Their badges follow by cascade.
            #expect(try count("Badge", context) == 5)
            #expect(try fetchAll(Employee.self, "Employee", context).allSatisfy { $0.name.hasPrefix("b") })
            let project = try #require(try fetchAll(NSManagedObject.self, "Project", context).first)
            #expect((project.value(forKey: "staff") as? Set<NSManagedObject>)?.count == 2)
            #expect(try result(request("Employee"), context) as? Int == 5)
            #expect(try count("Employee", context) == 0)
            #expect(try count("Department", context) == 2)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func limitAndOrderCount(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            let limited = request("Employee")
            limited.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            limited.fetchRequest.fetchLimit = 3
            limited.resultType = .resultTypeObjectIDs
            #expect((try result(limited, context) as? [NSManagedObjectID])?.count == 3)
            let rest = try fetchAll(Employee.self, "Employee", context, sort: "name").map(\.name)
            #expect(rest == ["a0", "a1", "a2", "a3", "a4", "b0", "b1"])
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func objectsAreNamedByTheirIDs(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        let viewer = store.context()
        let kept = try viewer.performAndWait { try fetchAll(Employee.self, "Employee", viewer) }
        let ids = try context.performAndWait { () throws in
            let all = try fetchAll(Employee.self, "Employee", context, sort: "name")
            let doomed = NSBatchDeleteRequest(objectIDs: [all[0], all[1], all[7]].map(\.objectID))
            doomed.resultType = .resultTypeObjectIDs
            let ids = try #require(try result(doomed, context) as? [NSManagedObjectID])
            #expect(Set(ids) == Set([all[0], all[1], all[7]].map(\.objectID)))
            #expect(try result(NSBatchDeleteRequest(objectIDs: []), context) as? Bool == true)
            return ids
        }
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [viewer, context])
        try viewer.performAndWait { () throws in
            #expect(kept.count { $0.isDeleted } == 3)
            #expect(try fetchAll(Employee.self, "Employee", viewer).count == 7)
        }
    }

    @Test(arguments: StoreKind.allCases) func referencesBecomeNull(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind)
        try context.performAndWait { () throws in
            #expect(try result(request("Department", NSPredicate(format: "title == 'a'")), context) as? Int == 1)
            let employees = try fetchAll(Employee.self, "Employee", context, sort: "name")
            #expect(employees.count == 10 && employees.map { $0.department == nil } == (0..<10).map { $0 < 5 })
            #expect(try result(request("Badge"), context) as? Int == 10)
            #expect(try result(request("Project"), context) as? Int == 1)
            context.reset()
            let again = try fetchAll(Employee.self, "Employee", context, sort: "name")
            #expect(again.allSatisfy { $0.badge == nil && $0[Employee.projectsSlot].isEmpty })
            #expect(again.map(\.name) == ["a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2", "b3", "b4"])
            #expect(try count("Task", context) == 0)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func cascadesAreFollowed(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, rule: .cascadeDeleteRule)
        try context.performAndWait { () throws in
            #expect(try result(request("Department", NSPredicate(format: "title == 'b'")), context) as? Int == 1)
            #expect(try fetchAll(Employee.self, "Employee", context, sort: "name").map(\.name).last == "a4")
            #expect(try count("Badge", context) == 5)
            #expect(try count("Manager", context) == 1)
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func mandatoryReferencesForbid(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, mandatory: true)
        try context.performAndWait { () throws in
            let error = #expect(throws: CocoaError.self) { try result(request("Department"), context) }
            #expect(error?.code == .persistentStoreOperation)
            #expect(try count("Department", context) == 2)
            #expect(try fetchAll(Employee.self, "Employee", context).allSatisfy { $0.department != nil })
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func theDenyRuleIsAnOption(_ kind: StoreKind) throws {
        let (store, context) = try filled(kind, rule: .denyDeleteRule)
        try context.performAndWait { () throws in
            let all = request("Department")
            all.appliesValidation = true
            let error = #expect(throws: CocoaError.self) { try result(all, context) }
            #expect(error?.code == .validationRelationshipDeniedDelete)
            #expect(try count("Department", context) == 2)
            all.appliesValidation = false
            #expect(try result(all, context) as? Int == 2)
            #expect(try fetchAll(Employee.self, "Employee", context).allSatisfy { $0.department == nil })
        }
        withExtendedLifetime(store) {}
    }

    @Test(arguments: StoreKind.allCases) func theHistoryHasTombstones(_ kind: StoreKind) throws {
        let store = try TestStore(kind, GraphModel.everything())
        let context = store.context()
        try context.performAndWait { () throws in
            let values = (0..<3_000).map { ["string": "s\($0)", "int64": $0] as [String: Any] }
            try context.execute(NSBatchInsertRequest(entityName: "Thing", objects: values))
            let token = store.coordinator.currentPersistentHistoryToken(fromStores: nil)
            let some = request("Thing", NSPredicate(format: "int64 >= 1000"))
            some.maximumObjectsPerTransaction = 1_500
            #expect(try result(some, context) as? Int == 2_000)
            let history = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            history.resultType = .changesOnly
            let result = try context.execute(history) as? NSPersistentHistoryResult
            let changes = try #require(result?.result as? [NSPersistentHistoryChange])
            #expect(changes.allSatisfy { $0.changeType == .delete })
            #expect(
                Set(changes.compactMap { $0.tombstone?["string"] as? String }) == Set((1_000..<3_000).map { "s\($0)" }))
        }
    }
}
